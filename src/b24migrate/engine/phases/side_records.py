"""What is read beside records and never sent by itself: it may be told only when a record is on the target already."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases.context import RunContext
from b24migrate.model.records import Staged, Status, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import INCOMPLETE, RegisterRow


def mark_holders(context: RunContext, aid: Stream, staged: Sequence[Staged]) -> None:
    """Before they are staged: the imported records that they tell something new of are looked at by the second pass.
    Nothing else would, since the records themselves are as they were."""
    holders = [one for one in context.owner[aid.name].streams if any(spec.beside == aid.name for spec in one.fields)]
    keys = [one.row_key for one in staged] if holders else []
    new = set(keys) - context.store.known(aid.table, keys) if keys else set()
    parents = sorted({key.partition(":")[0] for key in new})
    for holder in holders if parents else ():
        there = context.store.get(holder.table, parents).values()
        ends = [order_key(one.row_key) for one in there if one.status is Status.IMPORT_OK]
        rows = [RegisterRow(f"{holder.name}:{end}-{end}", {"First": end, "Last": end}) for end in ends]
        if rows:
            context.store.write(INCOMPLETE, rows)
