"""Which process runs an undo, and which range of records it is deleting.

During an undo no run and no other undo starts. If the process is killed, the range stays in the store: it is not
known yet which of its records are deleted, and the next undo or run finds out (`engine/undo/forget.py`).
"""

from __future__ import annotations

import os
import secrets
from datetime import datetime
from typing import NamedTuple

from b24migrate.engine import job_owner
from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import Span
from b24migrate.ports import ANALYSIS, Clock, RegisterRow, Store

FRESH_S = 90.0  # a process without a heartbeat for longer is dead
UNDER_WAY = "UNDO_UNDER_WAY"
_KEY = "undo"


class Stretch(NamedTuple):
    stream: str
    span: Span


class _LockRow(NamedTuple):
    row: RegisterRow
    owner: str
    at: datetime | None
    stretch: Stretch | None

    def is_fresh(self, now: datetime) -> bool:
        if self.owner.startswith(f"{job_owner.host_id()}:") and not job_owner.is_alive(self.owner):
            return False  # killed here: no need to wait
        return self.at is not None and (now - self.at).total_seconds() < FRESH_S


class UndoLock:
    """Held by one undo. Every step is a compare-and-set: a process taken for dead notices before it deletes."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._owner = f"{job_owner.host_id()}:{os.getpid()}:{secrets.token_hex(4)}"

    def begin(self) -> Stretch | None:
        """The records that an earlier undo left unsettled. Raises Halted if another undo is running."""
        refuse_during_undo(self._store, self._clock)
        left = _read(self._store)
        if not self._write(left.row, left.stretch):
            raise _under_way_error()
        return left.stretch

    def at(self, stream: str, span: Span) -> None:
        """Before anything of this stretch is deleted. Raises Halted when another process came meanwhile."""
        held = _read(self._store)
        if held.owner != self._owner or not self._write(held.row, Stretch(stream, span)):
            raise _under_way_error()

    def leave(self, *, settled: bool) -> None:
        """`settled`: nothing is left to find out."""
        held = _read(self._store)
        if held.owner == self._owner:
            _swap(self._store, held.row, "", None, None if settled else held.stretch)

    def _write(self, row: RegisterRow, stretch: Stretch | None) -> bool:
        return _swap(self._store, row, self._owner, self._clock.now(), stretch)


def refuse_during_undo(store: Store, clock: Clock) -> None:
    """Raises Halted while an undo runs."""
    if _read(store).is_fresh(clock.now()):
        raise _under_way_error()


def find_unsettled(store: Store) -> Stretch | None:
    """The records whose deletion a process started and did not complete."""
    return _read(store).stretch


def mark_settled(store: Store, stretch: Stretch) -> None:
    held = _read(store)
    if held.stretch == stretch:
        _swap(store, held.row, "", None, None)


def _under_way_error() -> Halted:
    return Halted(
        say("undo.running"),
        code=UNDER_WAY,
        hint=say("undo.running_fix"),
    )


def _read(store: Store) -> _LockRow:
    row = store.read(ANALYSIS, _KEY) or RegisterRow(_KEY, {})
    data = row.values.get("Data") or {}
    at = datetime.fromisoformat(data["at"]) if data.get("at") else None
    left = data.get("stretch")
    return _LockRow(row, str(data.get("owner") or ""), at, Stretch(left[0], Span(left[1], left[2])) if left else None)


def _swap(store: Store, row: RegisterRow, owner: str, at: datetime | None, stretch: Stretch | None) -> bool:
    left = [stretch.stream, stretch.span.lo, stretch.span.hi] if stretch else None
    data = {"owner": owner, "at": at.isoformat() if at else "", "stretch": left}
    return store.swap(ANALYSIS, row._replace(values={"Data": data}))
