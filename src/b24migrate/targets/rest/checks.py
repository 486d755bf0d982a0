"""What this box can do: asked before anything is written, so that what it cannot is said in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from b24migrate.bitrix.fault_table import scope_of
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet
from b24migrate.model.records import Json
from b24migrate.ports import Command, TargetCheck, TargetInfo, TargetLimits
from b24migrate.targets.rest.box import Box
from b24migrate.targets.rest.writer import Writer

CONTRACT = 1  # the words of the port are those of the contract's first version
SERVER = "Bitrix24 REST"
# The settings of the box's server limit the size of a file, and no method returns them
# (api-reference/files/index.md); the vendor's own machine for boxes allows 1 GB.
LIMITS = TargetLimits(items=20, body_bytes=8_000_000, file_bytes=1 << 30, chunk_bytes=1 << 30)


def inspect_box(box: Box, writers: Iterable[Writer]) -> TargetInfo:
    """Raises GateUnmet when the webhook is no administrator's: nothing could be written as others wrote it."""
    writers = list(writers)
    profile, scopes, now = box.questions([Command("profile", {}), Command("scope", {}), Command("server.time", {})])
    if isinstance(profile, Mapping) and profile.get("ADMIN") is False:
        raise GateUnmet(
            "auth.target",
            say("check.not_admin"),
            code="ACCESS_DENIED",
            hint=say("check.not_admin_fix"),
        )
    methods = existing_methods(box, {need.lower() for writer in writers for need in writer.needs})
    lacks: dict[str, str] = {}
    checks: dict[str, TargetCheck] = {}
    entities: dict[str, None] = {}
    for writer in writers:
        entities[writer.entity] = None
        lacking = describe_missing(writer.needs, scopes, methods)
        if lacking and not writer.optional:
            lacks.setdefault(writer.entity, lacking)
        check = writer.check(box) if writer.check else None
        if check is not None and check.fatal:
            lacks.setdefault(writer.entity, check.message)
        elif check is not None:
            checks[writer.entity] = check
    zone = str(now)[19:] if isinstance(now, str) else ""
    served = tuple(name for name in entities if name not in lacks)
    return TargetInfo(CONTRACT, SERVER, zone, served, LIMITS, lacks, checks)


def existing_methods(box: Box, names: Collection[str]) -> list[str]:
    """Those that the box has. Each is asked for: the list that `methods` gives leaves out what controllers serve, such
    as crm.item.* and tasks.task.* (api-reference/common/system/methods)."""
    asked = sorted(names)
    told = box.questions([Command("method.get", {"name": name}) for name in asked])
    lacking = {
        name
        for name, one in zip(asked, told, strict=True)
        if isinstance(one, Mapping) and not one.get("isExisting", True)
    }
    return [name for name in asked if name not in lacking]


def describe_missing(needs: Iterable[str], scopes: Json, methods: Json) -> str:
    """What keeps a stream from being written, in a sentence; empty when nothing does."""
    granted = parse_names(scopes)
    served = parse_names(methods)
    for method in needs:
        scope = scope_of(method)
        if granted is not None and scope and scope not in granted:
            return say("check.no_scope", scope=scope, method=method)
        if served is not None and method.lower() not in served:
            return say("check.no_method", method=method)
    return ""


def parse_names(said: Json) -> Collection[str] | None:
    """None: the box does not tell."""
    return {str(one).lower() for one in said} if isinstance(said, list) else None
