"""The records of a stream that an undo is about, the latest first, some hundred in memory at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.verify import count_linked, count_on_target
from b24migrate.engine.undo.model import AT_ONCE, Tally, wait_out_limits
from b24migrate.engine.undo.scope import Scope
from b24migrate.model.records import Json, Link, Span, Status
from b24migrate.model.streams import Stream

IMPORTED = "import"


class ImportedRecord(NamedTuple):
    """A record that we sent, or may have sent: then it has no link, because the answer was lost."""

    row: Mapping[str, Json]
    link: Link | None

    @property
    def row_key(self) -> str:
        return str(self.row["RowKey"])

    @property
    def target_id(self) -> str:
        return self.link.target_id if self.link else ""

    @property
    def counts_as_imported(self) -> bool:
        return self.link is not None or self.row["Status"] == Status.IMPORT_OK


def spans_from_end(context: RunContext, stream: Stream) -> list[Span]:
    """From the end: most children have higher ids than their parents."""
    return context.store.cuts(stream.table, Span(), AT_ONCE, whole_parents=False, pending=False)[::-1]


def find_imported(
    context: RunContext, scope: Scope, stream: Stream, span: Span, tally: Tally, *, unsure: bool
) -> list[ImportedRecord]:
    """Counts in the tally what b24migrate did not import. With `unsure` also those that may not be there."""
    rows = list(context.store.export(stream.table, span, 2 * AT_ONCE))[::-1]
    links = context.store.links(stream.name, [row["RowKey"] for row in rows])
    found = []
    for row in rows:
        link = links.get(row["RowKey"])
        if link is not None and link.origin != IMPORTED:
            tally.not_ours += 1
        elif link is not None and not scope.holds(row):
            tally.other_runs += 1
        elif (one := ImportedRecord(row, link)).counts_as_imported or unsure:
            found.append(one)
    return found


def may_have_more(context: RunContext, scope: Scope, stream: Stream) -> bool:
    """Whether target and store count differently, because a process was killed before it noted an import or a deletion.
    Then records without a link are requested, too; their run is unknown."""
    if scope.window is not None or not any(context.store.counts(stream.table).values()):
        return False
    there, _ = wait_out_limits(context, lambda: count_on_target(context, stream))
    return there != context.store.counts(stream.table).get(Status.IMPORT_OK, 0) - count_linked(context, stream)
