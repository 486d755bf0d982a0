"""Circles: a department has a head, who works in it, so that neither can go before the other.

What closes them is what a second pass wrote, and what records of one stream say of one another. It is taken off again
where it still is what was sent, and written again should the record stay after all. In between its link has no digest,
so that after a kill the next run does it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from b24migrate.engine import plan
from b24migrate.engine.phases.comparison import EMPTY, is_same
from b24migrate.engine.phases.compose import Composer
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.undo.model import wait_out_limits
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT, Kind
from b24migrate.model.records import Item, Json, Link
from b24migrate.model.streams import Stream
from b24migrate.ports import TargetRecord


def may_be_in_circle(stream: Stream) -> bool:
    """Whether records of this stream can be in a circle."""
    return stream.late or any(one.waits for one in stream.fields)


def clear_circles(context: RunContext, stream: Stream, links: Sequence[Link]) -> int:
    """How many of these records let go of something."""
    closing = _closing_fields(context, stream, links)
    if not closing:
        return 0
    wire = context.owner[stream.name].wire
    there = wait_out_limits(context, lambda: context.target.read(wire, stream.name, list(closing)))
    unordered = {one.name for one in stream.fields if one.kind is Kind.REFS}
    items = [
        Item.make(key, {name: found.fields.get(name) for name in fields} | dict.fromkeys(loose))
        for key, (fields, late) in closing.items()
        if (found := there.get(key)) and (loose := _unchanged_fields(late, found, unordered))
    ]
    if not items:
        return 0
    touched = {item.key for item in items}
    forgotten = [link._replace(digest="") for link in links if stream.key_of(link.source_id) in touched]
    context.store.link(stream.name, forgotten, now=context.clock.now())
    return len(_send(context, wire, stream, items))


def restore_circles(context: RunContext, stream: Stream, links: Sequence[Link]) -> None:
    """Those of these records that let go of something have it again, as far as it is still there."""
    loose = {stream.key_of(link.source_id): link for link in links if not link.digest}
    found = context.store.get(stream.table, [link.source_id for link in loose.values()])
    second = Composer(context, stream, late=True)
    composed = [second.compose(record) for record in found.values()]
    items = [one.item(stream) for one in composed if one.problem is None]
    done = set(_send(context, context.owner[stream.name].wire, stream, items))
    tight = [loose[item.key]._replace(digest=item.digest) for item in items if item.key in done]
    context.store.link(stream.name, tight, now=context.clock.now())


Closing = dict[str, tuple[Mapping[str, Json], Mapping[str, Json]]]


def _closing_fields(context: RunContext, stream: Stream, links: Sequence[Link]) -> Closing:
    """By key what was sent of each, and of it what may close a circle."""
    first, second = Composer(context, stream), Composer(context, stream, late=True)
    found: Closing = {}
    for record in context.store.get(stream.table, [link.source_id for link in links]).values():
        before, after = first.compose(record).fields, second.compose(record).fields
        late = {
            name: value
            for name, value in after.items()
            if value not in EMPTY and (before.get(name, ABSENT) != value or _waits(stream, name))
        }
        if late:
            found[stream.key_of(record.row_key)] = after, late
    return found


def _waits(stream: Stream, name: str) -> bool:
    waiting = [one for one in stream.fields if one.waits]
    return any(name == one.name or (one.kind is Kind.FAMILY and name.startswith(one.name)) for one in waiting)


def _unchanged_fields(late: Mapping[str, Json], found: TargetRecord, unordered: set[str]) -> list[str]:
    """Of these the ones that no user has changed since."""
    return [name for name, value in late.items() if is_same(value, found.fields.get(name), name in unordered)]


def _send(context: RunContext, wire: str, stream: Stream, items: Sequence[Item]) -> list[str]:
    """The keys of the accepted updates. Refused records stay unchanged."""
    done: list[str] = []
    rest = list(items)
    while rest:
        count = max(1, context.target.fits(rest[: context.batch_size(stream)]))
        some, rest = rest[:count], rest[count:]
        done += _call(context, wire, stream, some)
    return done


def _run(context: RunContext) -> str:
    run = plan.current(context.store)
    return run.id if run else ""


def _call(context: RunContext, wire: str, stream: Stream, items: Sequence[Item]) -> list[str]:
    try:
        outcomes = wait_out_limits(context, lambda: context.target.send(wire, stream.name, items, run=_run(context)))
    except Permanent:
        return []
    return [one.key for one in outcomes if one.status != "failed"]
