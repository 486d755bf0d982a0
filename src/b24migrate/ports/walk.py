"""Walks over whole tables with constant memory, and reports the progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from b24migrate.model.records import Json, Span, Table, order_key
from b24migrate.ports import Clock, Store

EVERY_S = 2.0
MOST_ROWS = 1000
ABOUT_BYTES = 8 << 20  # of payload in one stretch, whatever the size of its rows


class Progress:
    """Says how far it is, now and then."""

    def __init__(self, say: Callable[[str], None], clock: Clock) -> None:
        self._say = say
        self._clock = clock
        self._due_s = clock.monotonic() + EVERY_S

    def done(self, verb: str, what: str, rows: int) -> None:
        self._say(f"{verb} {what}: {rows:,}")

    def progress(self, verb: str, what: str, rows: int, total: int | None = None) -> None:
        if self._clock.monotonic() >= self._due_s:
            self._say(f"{verb} {what}: {rows:,}" + ("" if total is None else f" of {max(rows, total):,}"))
            self._due_s = self._clock.monotonic() + EVERY_S


def walk_table(store: Store, table: Table) -> Iterator[list[Mapping[str, Json]]]:
    """All rows of a table in order; as many at once as fit into little memory, judged by those before them."""
    lo, limit = "", MOST_ROWS // 10
    while rows := store.export(table, Span(lo), limit):
        yield rows
        lo = order_key(rows[-1]["RowKey"])
        mean = sum(len(row["Payload"]) + len(row["Extras"] or b"") for row in rows) // len(rows) + 1
        limit = max(1, min(MOST_ROWS, ABOUT_BYTES // mean))
