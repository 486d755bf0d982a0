"""Asks both portals about one record. That they cannot be had is a sentence, never an exception."""

from __future__ import annotations

import msgspec

from b24migrate.engine.phases.comparison import ask_source_again
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.lookup.model import Side, SideState
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.records import Link, Record, Row
from b24migrate.model.streams import Stream
from b24migrate.ports import TargetRecord

# what code that reads a portal's answer runs into when the answer is none of those that it knows
STRANGE = (msgspec.MsgspecError, KeyError, ValueError, TypeError, AttributeError)
SOURCE, TARGET = "source", "target"


def ask_source(context: RunContext, stream: Stream, record: Record, *, ask: bool) -> tuple[Side, Row | None]:
    """Read-only, by the same question as verify's."""
    if (side := _not_asked(context, SOURCE, ask=ask)) is not None:
        return side, None
    if stream.fetch is None:
        return Side(SideState.CANNOT), None
    try:
        row = ask_source_again(context, stream, [record]).get(record.row_key)
    except MigrationError as error:
        return _failed(error), None
    except STRANGE:
        return _unexpected(SOURCE), None
    return Side(SideState.GONE if row is None else SideState.NOW), row


def ask_target(
    context: RunContext, stream: Stream, record: Record, link: Link | None, *, ask: bool
) -> tuple[Side, TargetRecord | None]:
    """By the key under which we sent it; what the target had before has none."""
    if (side := _not_asked(context, TARGET, ask=ask)) is not None:
        return side, None
    entity = context.owner.get(stream.name)
    if entity is None or stream not in entity.streams or (link is not None and link.origin != "import"):
        return Side(SideState.CANNOT), None
    key = stream.key_of(record.row_key)
    try:
        found = context.target.read(entity.wire, stream.name, [key]).get(key)
    except MigrationError as error:
        return _failed(error), None
    except STRANGE:
        return _unexpected(TARGET), None
    return Side(SideState.GONE if found is None else SideState.NOW), found


def _not_asked(context: RunContext, name: str, *, ask: bool) -> Side | None:
    if not ask:
        return Side(SideState.NOT_ASKED)
    if name in context.options.absent:
        return Side(SideState.ABSENT, say(f"lookup.absent.{name}"), say("lookup.staged"))
    return None


def _failed(error: MigrationError) -> Side:
    return Side(SideState.FAILED, error.message, error.hint)


def _unexpected(name: str) -> Side:
    return Side(SideState.FAILED, say(f"lookup.strange.{name}"))
