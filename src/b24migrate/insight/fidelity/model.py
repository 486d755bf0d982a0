"""The fidelity list as values, for terminal, dashboard and report; and who accepted it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.messages import Message, say
from b24migrate.model.errors import GateUnmet
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.records import digest
from b24migrate.model.values import utc_text
from b24migrate.ports import FIDELITY, RegisterRow

WORST_FIRST = (Keeping.LOST, Keeping.APPROXIMATED, Keeping.TRANSFORMED)
GATE = "fidelity.accepted"


class Basis(StrEnum):
    """The basis of a number of records."""

    COUNTED = "counted"  # every record was read and counted
    SO_FAR = "so_far"  # so were those that are read by now
    AT_MOST = "at_most"  # so many there are in all
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Line:
    """The loss of a field; an empty field means the whole record."""

    entity: str
    stream: str
    field: str
    keeping: str
    reason: str
    records: int | None
    basis: Basis
    accepted: bool


@dataclass(frozen=True, slots=True)
class Accepted:
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Fields that are not in the list are kept. `needs_acceptance`: a rule is not accepted yet. `accepted`: the last
    acceptance. `now`: the target has just answered; otherwise it did at `asked_at`."""

    hash: str
    lines: tuple[Line, ...]
    needs_acceptance: bool
    accepted: Accepted | None
    asked_at: str = ""
    now: bool = False

    @property
    def all_kept(self) -> bool:
        return not self.lines

    @property
    def amounts(self) -> tuple[tuple[Keeping, int], ...]:
        return count_amounts(self.lines)


def count_amounts(entries: Iterable[Rule | Line]) -> tuple[tuple[Keeping, int], ...]:
    """How many fields are kept how badly, the worst first."""
    counted = Counter(keeping for keeping, *_ in {(str(one.keeping), one.stream, one.field) for one in entries})
    return tuple((keeping, counted[keeping]) for keeping in WORST_FIRST if counted[keeping])


def hash_rules(rules: Iterable[Rule]) -> str:
    return digest(sorted(rule.digest for rule in rules))


# ---------------------------------------------------------------- acceptance
# A new rule must be accepted, and so must every rule of another box.


class Acceptance(NamedTuple):
    rules: frozenset[str]  # their digests
    last: Accepted | None


def load_accepted(context: RunContext) -> Acceptance:
    """All acceptances for the configured target."""
    rows = context.store.rows(FIDELITY, prefix=_prefix(context))
    last = max(rows, key=lambda row: str(row.values["AtUtc"]), default=None)
    rules = frozenset(str(name) for row in rows for name in row.values["Data"])
    return Acceptance(rules, Accepted(last.values["By"], str(last.values["AtUtc"])) if last else None)


def accept(context: RunContext, rules: Sequence[Rule], by: str) -> None:
    """All of these, under the hash of the list."""
    if not rules:
        return
    name, now = hash_rules(rules), utc_text(context.clock.now().replace(microsecond=0))
    about = {"Hash": name, "Data": sorted(rule.digest for rule in rules), "By": by, "AtUtc": now}
    context.store.write(FIDELITY, [RegisterRow(_prefix(context) + name, about)])


def keep_accepted(context: RunContext, before: Sequence[Rule], now: Sequence[Rule]) -> None:
    """Stores of earlier versions know a reason by its English text. An acceptance of that text counts for
    the same rule in other words."""
    known = load_accepted(context)
    worded = {_loss(rule) for rule in before if not isinstance(rule.reason, Message) and rule.digest in known.rules}
    same = [rule for rule in now if isinstance(rule.reason, Message) and _loss(rule) in worded]
    fresh = [rule for rule in same if rule.digest not in known.rules]
    if fresh and known.last is not None:
        accept(context, same, known.last.by)


def _loss(rule: Rule) -> tuple[str, str, str]:
    return rule.stream, rule.field, rule.keeping.value


def _prefix(context: RunContext) -> str:
    """Without a target (only the store is read): what was accepted for any target."""
    return "accepted:" if "target" in context.options.absent else f"accepted:{digest(context.options.target_url)[:16]}:"


def acceptance_required(found: Fidelity) -> GateUnmet:
    """The error that stops a run whose list is not accepted."""
    amounts = ", ".join(f"{keeping} {number}" for keeping, number in found.amounts)
    return GateUnmet(
        GATE,
        say("gate.fidelity", amounts=amounts),
        code=GATE,
        hint=say("gate.fidelity_fix"),
    )
