"""The map of users as a table for people: written out, edited by hand, loaded again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.missed import note_arriving
from b24migrate.engine.phases.removal import note_other_links
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, GateUnmet
from b24migrate.model.records import Json, Link, Span, order_key

COLUMNS = ("source_id", "email", "name", "target_id")
AT_ONCE = 500


class Person(NamedTuple):
    source_id: str
    email: str
    name: str
    target_id: str


def list_people(context: RunContext) -> Iterator[Person]:
    """Every staged user with the target user it became, if any. Raises GateUnmet when none were read yet."""
    stream = context.streams[context.people]
    email = stream.natural.field if stream.natural else ""
    after = ""
    while records := context.store.records(stream.table, Span(after), AT_ONCE):
        links = context.store.links(stream.name, [record.row_key for record in records])
        for record in records:
            try:
                user = msgspec.json.decode(record.payload, type=dict[str, Json])
            except msgspec.DecodeError:  # a damaged row fails when it is sent
                user = {}
            name = " ".join(str(user[key]) for key in ("NAME", "LAST_NAME") if user.get(key))
            link = links.get(record.row_key)
            yield Person(record.row_key, str(user.get(email) or ""), name, link.target_id if link else "")
        after = order_key(records[-1].row_key)
    if not after:
        fix = say("field.get_first", entity=context.owner[stream.name].name)
        raise GateUnmet(f"{context.owner[stream.name].name}.read", say("users.unread", stream=stream.name), hint=fix)


def load(context: RunContext, rows: Iterable[Sequence[str]]) -> int:
    """Links the users whose row names a target user. Checks everything before it writes anything."""
    stream = context.streams[context.people]
    wanted = dict(_pairs(rows))
    known = context.store.known(stream.table, list(wanted))
    if unknown := sorted(set(wanted) - known, key=order_key):
        raise BadConfiguration(
            say("users.unknown", names=[*unknown[:5], *["…"] * (len(unknown) > 5)]),
            hint=say("users.fresh_file"),
        )
    there = context.store.links(stream.name, list(wanted))
    fresh = [
        Link(source_id, target_id, "", "loaded")
        for source_id, target_id in wanted.items()
        if source_id not in there or there[source_id].target_id != target_id
    ]
    linked = context.store.get(stream.table, [one.source_id for one in fresh])
    note_arriving(context, stream, list(linked.values()))
    note_other_links(context, stream, [one.source_id for one in fresh if one.source_id in there])
    context.store.link(stream.name, fresh, now=context.clock.now())
    return len(fresh)


def _pairs(rows: Iterable[Sequence[str]]) -> Iterator[tuple[str, str]]:
    head = next(iter(rows := iter(rows)), [])
    columns = [name.strip().lower() for name in head]
    if missing := [name for name in ("source_id", "target_id") if name not in columns]:
        raise BadConfiguration(
            say("users.lacks_column", names=missing),
            hint=say("field.columns", names=",".join(COLUMNS)),
        )
    at_source, at_target = columns.index("source_id"), columns.index("target_id")
    for number, row in enumerate(rows, 2):
        if len(row) <= max(at_source, at_target):
            if any(cell.strip() for cell in row):
                raise BadConfiguration(say("users.few_columns", number=number), hint=f"Write {','.join(COLUMNS)}.")
            continue
        source_id, target_id = row[at_source].strip(), row[at_target].strip()
        if not target_id:
            continue
        if not (source_id.isdecimal() and target_id.isdecimal()):
            raise BadConfiguration(say("users.bad_id", number=number), hint=say("users.bad_id_fix"))
        yield source_id, target_id
