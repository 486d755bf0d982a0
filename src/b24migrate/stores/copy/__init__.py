"""Moves a store: everything that one holds into another, of whatever kind, and the proof that it arrived.

Every write is an upsert, and the order is: mark the copy as begun, carry, compare, mark it as done. So a copy that was
interrupted at any point is begun again, which changes nothing that had arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from b24migrate.model.records import Table
from b24migrate.ports import Clock
from b24migrate.ports.walk import Progress
from b24migrate.stores.copy.marks import begin, finish, refuse_half, refuse_unready
from b24migrate.stores.copy.model import Line, Moved, Side
from b24migrate.stores.copy.proof import compare
from b24migrate.stores.copy.rows import carry, carry_files

__all__ = ["Line", "Moved", "Side", "move", "refuse_half", "refuse_unready"]


def move(
    origin: Side, to: Side, tables: Sequence[Table], *, files: Table, clock: Clock, say: Callable[[str], None]
) -> Moved:
    """`origin` is only read. Raises BadConfiguration or Halted when it may not begin, before anything is written."""
    tables = tuple(dict.fromkeys(tables))
    teller = Progress(say, clock)
    begin(origin, to, tables, clock)
    carry(origin, to, tables, clock, teller)
    of_files = carry_files(origin, to, files, teller)
    moved = Moved(origin.address, to.address, (*compare(origin, to, tables, clock, teller), of_files))
    if moved.equal:
        finish(to, clock)
    return moved
