"""Whether this box takes workflow templates from us: the application is asked, and what it may not is said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.errors import GateUnmet, MigrationError, Transient
from b24migrate.ports import TargetCheck
from b24migrate.target.rest.applications import asked_as_application
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.rules_workflows import Standing

KEPT_S = 60.0
SCOPE = "bizproc"
METHOD = "bizproc.workflow.template.add"
NAME = "application"
MAKE = "Make a local application on the box, as docs/rest-target.md says, or accept that they stay behind."
MEND = {
    Standing.ALONE: ("workflow templates stay behind: target.application is not set", MAKE),
    Standing.NARROW: (
        f"workflow templates stay behind: the target's application lacks the scope `{SCOPE}`",
        f"Tick `{SCOPE}` on the application's page on the box, or accept it.",
    ),
    Standing.POWERLESS: (
        "workflow templates stay behind: the target's application acts for somebody who is no administrator",
        "Let an administrator install it, and write his tokens into target.application, or accept it.",
    ),
    Standing.OLD: (
        f"workflow templates stay behind: the box does not have the method {METHOD}",
        "Install the module for business processes on the box, or accept it.",
    ),
}


class Rights(NamedTuple):
    standing: Standing
    owner: str = ""  # whoever installed the application
    error: MigrationError | None = None  # the application is there, and could not be asked


def rights(box: Box) -> Rights:
    """An application that is refused is no reason to leave anything behind: it has to be mended, and `examined` says
    so. What would be kept is told as if it were."""
    if box.application is None:
        return Rights(Standing.ALONE)
    try:
        return box.kept("rights of the application", lambda: _asked(box), KEPT_S)
    except (GateUnmet, Transient) as error:
        return Rights(Standing.READY, error=error)


def may_write(box: Box) -> bool:
    """Raises what the application could not be asked for."""
    found = rights(box)
    if found.error is not None:
        raise found.error
    return found.standing is Standing.READY


def examined(box: Box) -> TargetCheck:
    """One line for people."""
    found = rights(box)
    if found.error is not None:
        message = found.error.message.removeprefix("auth.target: ")
        return TargetCheck(NAME, False, f"{message} {found.error.hint}".strip(), fatal=True)
    if found.standing in MEND:
        return TargetCheck(NAME, False, *MEND[found.standing])
    return TargetCheck(NAME, True, "the target's application may write workflow templates")


def _asked(box: Box) -> Rights:
    profile, scopes, method = (
        asked_as_application(box, name, params)
        for name, params in (("profile", {}), ("scope", {}), ("method.get", {"name": METHOD}))
    )
    owner = str(profile.get("ID") or "") if isinstance(profile, Mapping) else ""
    if isinstance(scopes, list) and SCOPE not in scopes:
        return Rights(Standing.NARROW, owner)
    if isinstance(profile, Mapping) and profile.get("ADMIN") is False:
        return Rights(Standing.POWERLESS, owner)
    if isinstance(method, Mapping) and method.get("isExisting") is False:
        return Rights(Standing.OLD, owner)
    return Rights(Standing.READY, owner)
