"""The store forgets what is not on the target any more."""

from __future__ import annotations

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.removal import forget
from b24migrate.engine.undo.model import Tally, delete_keys
from b24migrate.engine.undo.records import find_imported
from b24migrate.engine.undo.scope import Scope
from b24migrate.engine.undo_lock import Stretch


def settle(context: RunContext, stretch: Stretch) -> None:
    """Forgets links of records that are gone on the target, after a kill between the target and the store. Records that
    are still there stay, changed or not."""
    stream = context.streams.get(stretch.stream)
    if stream is None:
        return
    found = find_imported(context, Scope(()), stream, stretch.span, Tally(stream.name, ""), unsure=False)
    keys = {stream.key_of(one.row_key): one.row_key for one in found}
    answers = delete_keys(context, stream.name, list(keys), dry_run=True)
    gone = [one.key for one in answers if one.status == "absent"]
    delete_keys(context, stream.name, gone, dry_run=False)  # a target that remembers for itself forgets them as well
    forget(context, stream, [keys[key] for key in gone])
