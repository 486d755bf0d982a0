"""Places inside a record's trees that stay as they were on the source, kept for people to look at."""

from __future__ import annotations

from b24migrate.engine.phases.compose import Composed
from b24migrate.engine.phases.context import RunContext
from b24migrate.model.streams import Kind, Stream
from b24migrate.ports import UNRESOLVED, RegisterRow


def remember(context: RunContext, stream: Stream, composed: Composed) -> None:
    """The places of a record that was sent, instead of those of an earlier time."""
    if not any(one.kind is Kind.TREE and one.code for one in stream.fields):
        return
    row_key = composed.record.row_key
    context.store.erase(UNRESOLVED, f"{stream.name}:{row_key}:")
    rows = [
        RegisterRow(
            f"{stream.name}:{row_key}:{number}",
            {"Stream": stream.name, "SourceId": row_key, "Place": place, "What": what},
        )
        for number, (place, what) in enumerate(dict.fromkeys(composed.places), 1)
    ]
    if rows:
        context.store.write(UNRESOLVED, rows)
