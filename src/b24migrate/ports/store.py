"""The store: staged records, links, registers and counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from b24migrate.model.records import Json, Span, Table
from b24migrate.ports.links import Links
from b24migrate.ports.records import Records
from b24migrate.ports.registers import Registers


class Rows(Protocol):
    """Whole rows, for a copy of the store."""

    def export(self, table: Table, span: Span, limit: int) -> list[Mapping[str, Json]]:
        """The first `limit` rows of the span in order, whole: every one of `records.COLUMNS`, null where there is
        nothing. What `restore` wants."""
        ...

    def restore(self, table: Table, rows: Sequence[Mapping[str, Json]]) -> None:
        """Upserts whole rows as they are, whatever was there. `counts` and `pulled_pending` stay right, the counters
        stay as they are. It may be repeated. No other process works on the table meanwhile."""
        ...

    def set_counters(self, counters: Mapping[str, float]) -> None:
        """Makes the counters exactly these, `seen:` and the like included; all others become 0 or go. It may be
        repeated. No other process works on the store meanwhile."""
        ...


class Store(Records, Links, Registers, Rows, Protocol):
    """The staging tables, the id map, the registers and the counters.

    Every failure is one of ours: Halted when the disk is full or the store unreachable, BadConfiguration when it is of
    another version. All methods may be called from any thread, and from several processes on one store.
    """

    def describe(self) -> Mapping[str, Json]:
        """For people and for doctor: kind, place, size in bytes, free bytes where known."""
        ...

    def close(self) -> None: ...
