"""The store forgets what is not on the target any more."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.target_codes import code_stream
from b24migrate.engine.undo.model import Tally, delete_keys
from b24migrate.engine.undo.records import find_imported
from b24migrate.engine.undo.scope import Scope
from b24migrate.engine.undo_lock import Stretch
from b24migrate.model.streams import Kind, Stream
from b24migrate.ports import UNRESOLVED


def forget(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """The record first: were it the link, and nothing after it, the record would count as imported for ever."""
    store = context.store
    store.take_back(stream.name, stream.table, row_keys)
    store.unlink(stream.name, row_keys)
    if stream.code:
        store.unlink(code_stream(stream.name, stream.code), row_keys)
    if any(one.kind is Kind.TREE and one.code for one in stream.fields):
        for row_key in row_keys:
            store.erase(UNRESOLVED, f"{stream.name}:{row_key}:")


def settle(context: RunContext, stretch: Stretch) -> None:
    """Somebody was killed between the target and the store: what is gone there is forgotten here. What is still there
    stays, whoever changed it."""
    stream = context.streams.get(stretch.stream)
    if stream is None:
        return
    found = find_imported(context, Scope(()), stream, stretch.span, Tally(stream.name, ""), unsure=False)
    keys = {stream.key_of(one.row_key): one.row_key for one in found}
    answers = delete_keys(context, stream.name, list(keys), dry_run=True)
    gone = [one.key for one in answers if one.status == "absent"]
    delete_keys(context, stream.name, gone, dry_run=False)  # a target that remembers for itself forgets them as well
    forget(context, stream, [keys[key] for key in gone])
