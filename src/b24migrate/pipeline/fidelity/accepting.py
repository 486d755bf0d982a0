"""Who has accepted what the target does not keep. A rule that nobody has seen yet is asked about, and so is every rule
of another box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from b24migrate.errors import GateUnmet
from b24migrate.fidelity import Rule
from b24migrate.phases.values import utc_text
from b24migrate.phases.work import Work
from b24migrate.pipeline.fidelity.model import Accepted, Fidelity, hash_of
from b24migrate.ports import FIDELITY, RegisterRow
from b24migrate.records import digest

GATE = "fidelity.accepted"


class Acceptance(NamedTuple):
    rules: frozenset[str]  # their digests
    last: Accepted | None


def accepted(work: Work) -> Acceptance:
    """By anybody, for the target that is configured."""
    rows = work.store.rows(FIDELITY, prefix=_prefix(work))
    last = max(rows, key=lambda row: str(row.values["AtUtc"]), default=None)
    rules = frozenset(str(name) for row in rows for name in row.values["Data"])
    return Acceptance(rules, Accepted(str(last.values["By"]), str(last.values["AtUtc"])) if last else None)


def accept(work: Work, rules: Sequence[Rule], by: str) -> None:
    """All of these, under the hash of the list."""
    if not rules:
        return
    name, now = hash_of(rules), utc_text(work.clock.now().replace(microsecond=0))
    about = {"Hash": name, "Data": sorted(rule.digest for rule in rules), "By": by, "AtUtc": now}
    work.store.write(FIDELITY, [RegisterRow(_prefix(work) + name, about)])


def _prefix(work: Work) -> str:
    """Whoever has no target, and only looks at the store, is told what was accepted for any."""
    return "accepted:" if "target" in work.options.absent else f"accepted:{digest(work.options.target_url)[:16]}:"


def required(found: Fidelity) -> GateUnmet:
    """What stops a run that nobody has accepted the list for."""
    amounts = ", ".join(f"{keeping} {number}" for keeping, number in found.amounts)
    return GateUnmet(
        GATE,
        f"nobody has accepted what this target does not keep (fields {amounts}).",
        code=GATE,
        hint="See `b24migrate fidelity`; accept it with `b24migrate fidelity --accept`, on the dashboard, or with"
        " `run --accept-fidelity`.",
    )
