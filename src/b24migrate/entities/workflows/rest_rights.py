"""Checks whether this box accepts our workflow templates, and what its application lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.entities.workflows.rest_rules import Standing
from b24migrate.messages import join, say
from b24migrate.model.errors import GateUnmet, MigrationError, TokenServerAway
from b24migrate.ports import TargetCheck
from b24migrate.targets.rest.box import Box, ask_as_application

KEPT_S = 60.0
SCOPE = "bizproc"
METHOD = "bizproc.workflow.template.add"
NAME = say("doctor.name.application")
MAKE = say("check.workflow_app_fix")
ADVICE = {
    Standing.ALONE: (say("check.workflow_app"), MAKE),
    Standing.NARROW: (
        say("check.workflow_scope", scope=SCOPE),
        say("check.workflow_scope_fix", scope=SCOPE),
    ),
    Standing.POWERLESS: (
        say("check.workflow_admin"),
        say("check.workflow_admin_fix"),
    ),
    Standing.OLD: (
        say("check.workflow_method", method=METHOD),
        say("check.workflow_method_fix"),
    ),
}


class Rights(NamedTuple):
    standing: Standing
    owner: str = ""  # the user who installed the application
    error: MigrationError | None = None  # the application exists but does not answer


def rights(box: Box) -> Rights:
    """A refused application has the rules of a granted one, and `check_rights` reports the fix. If the box does not
    answer, the error is raised and the call repeated."""
    if box.application is None:
        return Rights(Standing.ALONE)
    try:
        return box.kept("rights of the application", lambda: _ask_rights(box), KEPT_S)
    except (GateUnmet, TokenServerAway) as error:
        return Rights(Standing.READY, error=error)


def may_write(box: Box) -> bool:
    """Raises the error if the application does not answer."""
    found = rights(box)
    if found.error is not None:
        raise found.error
    return found.standing is Standing.READY


def check_rights(box: Box) -> TargetCheck:
    """One line for people."""
    found = rights(box)
    if found.error is not None:
        return TargetCheck(NAME, False, join((found.error.bare, found.error.hint), " "), fatal=True)
    if found.standing in ADVICE:
        return TargetCheck(NAME, False, *ADVICE[found.standing])
    return TargetCheck(NAME, True, say("check.workflow_kept"))


def _ask_rights(box: Box) -> Rights:
    profile, scopes, method = (
        ask_as_application(box, name, params)
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
