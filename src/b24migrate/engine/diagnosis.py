"""The result of `doctor`: checks for users and gates, facts for the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import msgspec

from b24migrate.model.errors import GateUnmet, Halted, Stop
from b24migrate.model.fidelity import Rule
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Json


def alike_gate(entity: str) -> str:
    """The gate of an entity for which both portals must say the same."""
    return f"target.alike.{entity}"


@dataclass(frozen=True, slots=True)
class Check:
    """One question and its answer. A fatal one stops what needs it: everything, or its entity."""

    name: str
    ok: bool
    message: str
    fix: str = ""
    gate: str = ""
    entity: str = ""
    fatal: bool = False
    code: str = ""

    @property
    def level(self) -> str:
        return "ok" if self.ok else "failed" if self.fatal else "warning"

    @property
    def exit_code(self) -> int:
        """3 for a gate, 4 for an end that does not answer; 0 when nothing stops."""
        return 0 if self.level != "failed" else 3 if self.gate else 4


@prepared
@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the source and the target."""

    scopes: tuple[str, ...] | None = None  # None: the portal does not report it
    admin: bool | None = None
    methods: Mapping[str, bool] = field(default_factory=dict)  # whether those exist that readings depend on
    owners: tuple[str, ...] = ()
    unfit: Mapping[str, str] = field(default_factory=dict)  # entity -> what a further webhook lacks for it
    served: tuple[str, ...] = ()
    server: str = ""
    at: str = ""
    lacks: Mapping[str, str] = field(default_factory=dict)  # why the target does not accept an entity, by its wire name
    ahead_s: float = 0.0  # the source's clock minus ours
    zone_s: int | None = (
        None  # the zone of the first webhook's owner minus the server's; None: the portal does not report it
    )
    streams: tuple[str, ...] = ()  # that the target announces
    left_out: Mapping[str, str] = field(default_factory=dict)  # optional entity -> why a plan skips it
    unlike: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # entity -> what the portals differ in, the fix
    called: bool = False  # the methods were called; stores of earlier versions have the answer of `method.get`

    def as_json(self) -> Json:
        return asdict(self)  # which leaves messages what they are

    @staticmethod
    def from_json(data: Json) -> Facts:
        return msgspec.convert(data, Facts)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    checks: tuple[Check, ...]
    facts: Facts
    rules: tuple[Rule, ...] = ()  # what the target does not keep

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.level == "failed")

    @property
    def warnings(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.level == "warning")

    @property
    def exit_code(self) -> int:
        """The first thing that stops everything decides; then the first that stops an entity."""
        failed = sorted(self.failed, key=lambda check: bool(check.entity))
        return failed[0].exit_code if failed else 0


def refusal(check: Check) -> Stop:
    if check.gate:
        return GateUnmet(check.gate, check.message, code=check.code, hint=check.fix)
    return Halted(check.message, code=check.code, hint=check.fix)
