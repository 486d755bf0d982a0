"""Whether the source still has a record that another one names."""

from __future__ import annotations

from enum import Enum

from b24migrate.engine.phases.context import RunContext
from b24migrate.model.records import Span, children_span, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import INVENTORY


class Whereabouts(Enum):
    STAGED = "staged"
    GONE = "gone"  # the source has it no longer
    NEWER = "newer"  # it may have come to the source after its stream was read
    UNKNOWN = "unknown"  # its stream was never read, so nobody knows


def whereabouts(context: RunContext, stream_name: str, source_id: str) -> Whereabouts:
    """Streams are read by ascending id and to the end. So what is missing below the highest id was deleted, and only
    what lies above it may have been created since."""
    stream = context.streams.get(stream_name)
    if stream is None:
        return Whereabouts.GONE  # nothing of its kind is migrated
    if stream.by_natural:
        return Whereabouts.STAGED if context.store.holder(stream.table, source_id) else Whereabouts.GONE
    if context.store.known(stream.table, (source_id,)):
        return Whereabouts.STAGED
    if not context.store.count(INVENTORY, f"{stream.name}:"):
        return Whereabouts.UNKNOWN
    if stream.fetch is None or _has_later(context, stream, source_id):
        return Whereabouts.GONE
    return Whereabouts.GONE if context.memory.gone.knows(stream_name, source_id) else Whereabouts.NEWER


def _has_later(context: RunContext, stream: Stream, source_id: str) -> bool:
    parent, _, child = source_id.rpartition(":")
    hi = children_span(parent).hi if child and parent else ""
    return bool(context.store.records(stream.table, Span(order_key(source_id), hi), 1))
