"""The values of an undo, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from b24migrate.engine.phases.context import ATTEMPTS, RunContext
from b24migrate.messages import say
from b24migrate.model.errors import Halted, Limited, Transient
from b24migrate.model.records import Json
from b24migrate.ports import KEPT, Deleted, RegisterRow, Store

AT_ONCE = 500  # what `import.<entity>.delete` takes
COLUMNS = ("stream", "source_id", "target_id", "reason")
_KINDS = 10  # reasons are listed individually
_OTHERS = say("keep.others")

T = TypeVar("T")


class KeptRecord(NamedTuple):
    """A record that stays on the target, and why."""

    stream: str
    source_id: str
    target_id: str
    reason: str

    def row(self) -> RegisterRow:
        values = {
            "Stream": self.stream,
            "SourceId": self.source_id,
            "TargetId": self.target_id,
            "Reason": self.reason,
        }
        return RegisterRow(f"{self.stream}:{self.source_id}", values)


class KeptReason(NamedTuple):
    """Reasons that differ only in numbers are one. The first one is shown, with its record."""

    reason: str
    records: int
    example: str


@dataclass(slots=True)
class Tally:
    """The numbers of an undo, or of its dry run, for one stream."""

    stream: str
    entity: str
    deleted: int = 0
    later: int = 0  # kept as long as others depend on it: so they go first
    absent: int = 0  # ours, and not on the target any more
    kept: int = 0
    not_ours: int = 0  # only linked: the target had it, or a user linked it
    other_runs: int = 0
    adopted: int = 0  # of the deleted those that the target may have had before; then only its key is forgotten
    _reasons: dict[str, KeptReason] = field(default_factory=dict)

    @property
    def ours(self) -> int:
        return self.deleted + self.later + self.absent + self.kept

    @property
    def reasons(self) -> list[KeptReason]:
        return sorted(self._reasons.values(), key=lambda one: -one.records)

    def keep(self, source_id: str, reason: str) -> None:
        self.kept += 1
        kind = re.sub(r"\d+", "#", reason)
        if kind not in self._reasons and len(self._reasons) >= _KINDS:
            kind, reason = _OTHERS, _OTHERS
        before = self._reasons.get(kind, KeptReason(reason or say("target.no_reason"), 0, source_id))
        self._reasons[kind] = before._replace(records=before.records + 1)

    def forget_kept(self) -> None:
        """Before they are checked again."""
        self.kept = 0
        self._reasons.clear()

    def to_json(self) -> dict[str, Json]:
        names = ("stream", "entity", "deleted", "later", "absent", "kept", "not_ours", "other_runs", "adopted")
        return {name: getattr(self, name) for name in names} | {"reasons": [why._asdict() for why in self.reasons]}


def kept_rows(store: Store) -> Iterator[KeptRecord]:
    """Of the last undo of each stream."""
    for row in store.all_rows(KEPT):
        yield KeptRecord(*(str(row.values.get(name) or "") for name in KEPT.columns))


def delete_keys(
    context: RunContext, stream: str, keys: list[str], *, dry_run: bool, still: Callable[[], None] = lambda: None
) -> list[Deleted]:
    """One answer for each key, in order. Waits for limits and outages as long as it takes."""
    if not keys:
        return []
    wire = context.owner[stream].wire
    return wait_out_limits(context, lambda: context.target.delete(wire, stream, keys, dry_run=dry_run), still)


def wait_out_limits(context: RunContext, ask: Callable[[], T], still: Callable[[], None] = lambda: None) -> T:
    """Waits in place, because an undo has no queue to return a job to. `still` raises if the call must not be made
    after the wait."""
    failures = 0
    while True:
        try:
            return ask()
        except Limited as error:
            context.clock.sleep(error.wait_s)
            still()
        except Transient as error:
            failures += 1
            if error.own and failures >= ATTEMPTS:
                hint = say("undo.saved")
                raise Halted(error.message, code=error.code, hint=hint) from None
            context.clock.sleep(min(30.0, 0.5 * 2**failures))
            still()
