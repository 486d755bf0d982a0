"""set: removes from the target what is deleted at the source, as long as no user changed or uses it there.

Always the target first and the store after it, so that after a kill in between the target answers `absent`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from b24migrate.engine.phases.context import WALKED_AT_ONCE, Follow, RunContext, decode_readable
from b24migrate.engine.phases.inventory import count_deleted
from b24migrate.engine.phases.missed import NUMBER, note_arriving, note_unlinked
from b24migrate.engine.phases.pull_through import current_pass, links_of_field
from b24migrate.engine.phases.stage import mark_for_second_pass
from b24migrate.engine.phases.target_codes import forget_codes
from b24migrate.messages import say
from b24migrate.model.fields import Kind
from b24migrate.model.records import Item, Job, Json, Link, Record, Settled, Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import CONFLICTS, DELETIONS, UNRESOLVED, Deleted, RegisterRow

AT_ONCE = 100
REMOVABLE_AT_ONCE = 20_000
KEPT, NEEDED, UNSURE, REMOVED = "kept", "needed", "unsure", "removed"
ID_IN_VALUE = re.compile(rb'[_|"](\d+)"')  # of `"D_12"`, of `"DEAL|12"` and of `"12"`
NAMING = (Kind.RICH, Kind.TREE, Kind.CODED)
REASON, HIDDEN = say("keep.needed"), say("keep.hidden")


def note_uncovered(context: RunContext, stream: Stream, records: Sequence[Record]) -> None:
    """Before these are sent. They waited or failed: the pass did not meet them, and verify would not look at them."""
    if not (stream.covered and records):
        return
    met = current_pass(context, stream)
    rows = [RegisterRow(f"{uncovered(stream)}{one.row_key}", {}) for one in records if one.pass_no < met]
    if rows:
        context.store.write(DELETIONS, rows)


def uncovered(stream: Stream) -> str:
    return f"uncovered:{stream.name}:"


def count_removable(context: RunContext, stream: Stream) -> int:
    """How many of its records are deleted at the source and on the target."""
    return count_deleted(context, stream) - context.store.counts(stream.table).get(Status.DELETED, 0)


def seed(context: RunContext, scope: str, stream: Stream, round_no: int = 0) -> list[Job]:
    """Nothing where it is to be kept. Lost access is always removed."""
    wanted = stream.deletions.access or context.options.deletions == "delete"
    args = {"stream": stream.name, "after": "", "round": round_no}
    return [Job(scope, "remove", args)] if wanted and count_removable(context, stream) > 0 else []


def remove(context: RunContext, job: Job) -> Follow:
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    if not after:
        context.store.erase(DELETIONS, f"{KEPT}:{stream.name}:")
    while records := context.store.deleted(stream.table, Span(after), AT_ONCE):
        remove_some(context, stream, [one for one in records if one.status is Status.IMPORT_OK])
        after = order_key(records[-1].row_key)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    note_kept(context, stream)
    return []


def remove_some(context: RunContext, stream: Stream, records: Sequence[Record]) -> None:
    """The latest first, because most children have higher IDs than their parents. Records that were only linked are not
    ours."""
    links = context.store.links(stream.name, [one.row_key for one in records])
    ours = {
        stream.key_of(one.row_key): one
        for one in reversed(records)
        if one.row_key in links and links[one.row_key].origin == "import"
    }
    answers = ask_target(context, stream, ours)
    if stream.deletions.access:
        answers = insist(context, stream, answers)
    kept = {ours[one.key].row_key: one for one in answers if one.status == "kept"}
    kept_rows = [RegisterRow(f"{KEPT}:{stream.name}:{key}", {"Reason": one.reason}) for key, one in kept.items()]
    context.store.write(DELETIONS, kept_rows)
    if not context.target.sees_dependants:
        for one in records:
            if (answer := kept.get(one.row_key)) and not answer.part:
                hold(context, named_records(context, stream, [one], only_its_own=answer.for_good))
    forget(context, stream, [ours[one.key].row_key for one in answers if one.status != "kept"])


def ask_target(context: RunContext, stream: Stream, records: dict[str, Record]) -> list[Deleted]:
    """Records that the source may only hide are not deleted, nor are those that others need on a target that does not
    see dependents."""
    unsure = find_unsure(context, stream, list(records.values()))
    if hidden := [key for key, one in records.items() if one.row_key in unsure]:
        rest = {key: one for key, one in records.items() if one.row_key not in unsure}
        kept_ones = [Deleted(key, "kept", HIDDEN, needed=True) for key in hidden]
        return [*kept_ones, *(ask_target(context, stream, rest) if rest else ())]
    needed = {f"{NEEDED}:{stream.name}:{one.row_key}": key for key, one in records.items()}
    held = [] if context.target.sees_dependants else list(context.store.rows_of(DELETIONS, needed))
    kept = {needed[one]: Deleted(needed[one], "kept", REASON, needed=True) for one in held}
    asked = [key for key in records if key not in kept]
    if not asked:
        return list(kept.values())
    return [*kept.values(), *context.target.delete(context.owner[stream.name].wire, stream.name, asked, dry_run=False)]


def find_unsure(context: RunContext, stream: Stream, records: Sequence[Record]) -> set[str]:
    """Those that the source may only hide (`DeletionRules.certain`), and those that are part of such a record."""
    owners, rules = context.source.owners, stream.deletions
    known = decode_readable(list(records), stream)
    found = {one.id for one in known if rules.certain and not rules.certain(one, owners)}
    for part_of in (one for one in context.owner[stream.name].streams if one.deletions.certain and one is not stream):
        named: dict[str, list[str]] = {}
        for one in known:
            for key in (key for name, key in links_of(stream, one) if name == part_of.name):
                named.setdefault(key, []).append(one.id)
        wholes = [one for one in context.store.get(part_of.table, list(named)).values() if one.deleted_utc]
        unsure = find_unsure(context, part_of, wholes) if wholes else set()
        found.update(one for key in unsure for one in named[key])
    return found


def insist(context: RunContext, stream: Stream, answers: Sequence[Deleted]) -> list[Deleted]:
    """Access ends also where it was changed on the target, by a user or because another record of ours was sent: it is
    sent as it is there now, and is then deleted as unchanged."""
    wire = context.owner[stream.name].wire
    changed = [one.key for one in answers if one.status == "kept" and not (one.needed or one.for_good)]
    there = context.target.read(wire, stream.name, changed) if changed else {}
    if not there:
        return list(answers)
    context.target.send(wire, stream.name, [Item.make(one.key, one.fields) for one in there.values()], run=context.run)
    again = {one.key: one for one in context.target.delete(wire, stream.name, list(there), dry_run=False)}
    return [again.get(one.key, one) for one in answers]


def note_kept(context: RunContext, stream: Stream) -> None:
    kept = context.store.count(DELETIONS, f"{KEPT}:{stream.name}:")
    if kept:
        level = "warning" if stream.deletions.access else "info"
        message = say("note.deleted_kept", stream=stream.name, count=kept)
        context.note(context.owner[stream.name].name, message, level)


def forget(context: RunContext, stream: Stream, row_keys: Sequence[str], *, alone: bool = False) -> None:
    """Forgets records that are no longer on the target. The record first: if a kill left the record without its link,
    it would count as imported forever. `alone`: no run is under way, and links to the stream were noted to go."""
    store = context.store
    _note_removed(context, stream, row_keys)
    if row_keys and not alone:
        note_unlinked(context, stream)
    store.take_back(stream.name, stream.table, row_keys)
    store.unlink(stream.name, row_keys)
    if row_keys and not alone:  # a second pass that is under way may have looked before they were unlinked
        note_unlinked(context, stream)
    forget_codes(context, stream, row_keys)
    if any(one.kind is Kind.TREE and one.code for one in stream.fields):
        for row_key in row_keys:
            store.erase(UNRESOLVED, f"{stream.name}:{row_key}:")
    conflicts = store.rows_of(CONFLICTS, [f"{stream.name}:{key}" for key in row_keys]).values() if row_keys else ()
    over = {"Decision": "none", "Open": 0, "Waiting": 0}
    store.write(CONFLICTS, [RegisterRow(row.key, {**row.values, **over}) for row in conflicts])
    if row_keys:
        context.memory.links.forget()


def note_other_links(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    """Before the links of these become others."""
    _note_removed(context, stream, row_keys)
    if row_keys:
        note_unlinked(context, stream)


def _note_removed(context: RunContext, stream: Stream, row_keys: Sequence[str]) -> None:
    if row_keys and not stream.deletions.access and (stream.mentions or streams_with_codes(context.entities)):
        context.store.write(DELETIONS, [RegisterRow(f"{REMOVED}:{stream.name}:{key}", {}) for key in row_keys])


# ---------------------------------------------------------------- texts and custom fields that name what was removed


def streams_with_codes(entities: Iterable[Entity]) -> list[Stream]:
    """Those whose custom fields may name records."""
    return [stream for one in entities if one.custom_fields and one.custom_fields.codes for stream in one.streams]


def streams_with_names(context: RunContext, entities: Iterable[Entity]) -> list[Stream]:
    """Those whose texts or custom fields may name records, and that the target changes."""
    known = list(entities)
    coded = {one.name for one in streams_with_codes(known)}
    return [
        stream
        for entity in known
        for stream in entity.streams
        if stream.name in coded or any(one.kind in NAMING for one in stream.fields)
        if stream.name not in context.target.unchangeable
    ]


def seed_relink(context: RunContext, scope: str) -> list[Job]:
    if not has_removed(context):
        return []
    streams = streams_with_names(context, context.entities)
    return [Job(scope, "relink", {"stream": one.name, "after": "", "start": ""}) for one in streams]


def has_removed(context: RunContext) -> bool:
    return bool(context.store.some_rows(DELETIONS, f"{REMOVED}:", "", 1))


def relink(context: RunContext, job: Job) -> Follow:
    """The second pass looks at those that may name a removed record: the source keeps its link in their texts and its
    code in their custom fields, so they are as they were, and nothing else would send them without it. All are walked
    once for every `REMOVABLE_AT_ONCE` of those that were removed."""
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    rows = context.store.some_rows(DELETIONS, f"{REMOVED}:", str(job.args.get("start", "")), REMOVABLE_AT_ONCE)
    removed = Removed(context, stream, [row.key for row in rows])
    while rows and (records := context.store.records(stream.table, Span(after), WALKED_AT_ONCE)):
        imported = [one for one in records if one.status is Status.IMPORT_OK and not one.deleted_utc]
        ends = [order_key(one.row_key) for one in imported if removed.may_be_named_by(one)]
        mark_for_second_pass(context, stream, ends)
        after = order_key(records[-1].row_key)
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    if len(rows) < REMOVABLE_AT_ONCE:
        return []
    return [Job(job.scope, job.kind, {**job.args, "after": "", "start": rows[-1].key})]


class Removed:
    """Some records that were removed, and whether records of one stream may name them."""

    def __init__(self, context: RunContext, stream: Stream, keys: Iterable[str]) -> None:
        self._texts = context.memory.texts
        self._is_tree = any(one.kind is Kind.TREE for one in stream.fields)
        self._names = {(name, row_key) for _, name, row_key in (key.split(":", 2) for key in keys)}
        coded = {name for one in stream.fields if one.kind is Kind.CODED for name in one.names}
        self._has_codes = not coded.isdisjoint(name for name, _ in self._names)
        self._has_codes = self._has_codes or stream in streams_with_codes(context.entities)
        self._numbers = {row_key.rpartition(":")[2].encode() for _, row_key in self._names}

    def may_be_named_by(self, record: Record) -> bool:
        if self._numbers.isdisjoint(NUMBER.findall(record.payload)):
            return False
        if self._is_tree or (self._has_codes and not self._numbers.isdisjoint(ID_IN_VALUE.findall(record.payload))):
            return True
        try:
            payload = msgspec.json.decode(record.payload)
        except msgspec.DecodeError:
            return False
        return any(not self._names.isdisjoint(self._texts.mentioned(text)) for text in find_texts(payload))


def find_texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from find_texts(one)


def end_relink(context: RunContext, _: Job) -> Follow:
    context.store.erase(DELETIONS, f"{REMOVED}:")
    return []


# ---------------------------------------------------------------- what arrived without a link


def recall(context: RunContext, job: Job) -> Follow:
    """Links deleted records that the target has although no answer confirmed it."""
    stream, after = context.streams[job.args["stream"]], str(job.args["after"])
    prefix = f"{UNSURE}:{stream.name}:"
    while rows := context.store.some_rows(DELETIONS, prefix, after, AT_ONCE):
        found = list(context.store.get(stream.table, [row.key.removeprefix(prefix) for row in rows]).values())
        keys = {stream.key_of(one.row_key): one.row_key for one in found if one.status is Status.DELETED}
        there = context.target.read(context.owner[stream.name].wire, stream.name, list(keys)) if keys else {}
        links = [Link(keys[one.key], one.target_id, one.digest) for one in there.values()]
        settled = [Settled(link.source_id, Status.IMPORT_OK, link=link) for link in links]
        note_arriving(context, stream, [one for one in found if stream.key_of(one.row_key) in there])
        context.store.settle(stream.name, stream.table, settled, now=context.clock.now())
        after = rows[-1].key
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "after": after})]
    context.store.erase(DELETIONS, prefix)
    return []


def seed_recall(context: RunContext, scope: str, stream: Stream) -> list[Job]:
    unsure = context.store.some_rows(DELETIONS, f"{UNSURE}:{stream.name}:", "", 1)
    return [Job(scope, "recall", {"stream": stream.name, "after": ""})] if unsure else []


# ---------------------------------------------------------------- what others need


def protect(context: RunContext, job: Job) -> Follow:
    """For a target that deletes a record although others depend on it: holds the records that remaining ones name.
    It walks the remaining ones once for every `REMOVABLE_AT_ONCE` of those that are to be removed."""
    names = [str(name) for name in job.args["streams"]]
    after, start = str(job.args["after"]), str(job.args["start"])
    if job.args.get("first"):
        context.store.erase(DELETIONS, f"{NEEDED}:")
    gone, following = find_removable(context, start)
    while names:
        stream = context.streams[names[0]]
        records = context.store.records(stream.table, Span(after), WALKED_AT_ONCE)
        staying = [one for one in records if one.status is Status.IMPORT_OK and not one.deleted_utc]
        hold(context, (named for named in named_records(context, stream, staying) if named in gone))
        after = order_key(records[-1].row_key) if len(records) == WALKED_AT_ONCE else ""
        names = names if after else names[1:]
        if names and context.time_is_up():
            return [Job(job.scope, job.kind, {"streams": names, "after": after, "start": start})]
    return [protection(context, job.scope, following)] if following else []


def seed_protection(context: RunContext, scope: str) -> list[Job]:
    """Of the streams that refer to one with something to remove."""
    if context.target.sees_dependants or context.options.deletions != "delete":
        return []
    wanted = [one for one in streams_of(context) if count_removable(context, one) > 0]
    return [protection(context, scope, "", first=True)] if wanted else []


def protection(context: RunContext, scope: str, start: str, *, first: bool = False) -> Job:
    wanted = {one.name for one in streams_of(context) if count_removable(context, one) > 0}
    names = [one.name for one in streams_of(context) if any(wanted.intersection(ref.streams) for ref in one.refs)]
    return Job(scope, "protect", {"streams": names, "after": "", "start": start, "first": first})


def streams_of(context: RunContext) -> list[Stream]:
    return [one for entity in context.entities for one in entity.streams]


def find_removable(context: RunContext, start: str) -> tuple[set[tuple[str, str]], str]:
    """Stream and row key of as many as may be in memory, from `start` on (a stream and what it was read up to), and
    where the next ones start: empty after the last."""
    found: set[tuple[str, str]] = set()
    first, _, after = start.partition(" ")
    streams = streams_of(context)
    names = [one.name for one in streams]
    for stream in streams[names.index(first) if first in names else 0 :]:
        left = count_removable(context, stream) > 0
        while left and (records := context.store.deleted(stream.table, Span(after), WALKED_AT_ONCE)):
            found |= {(stream.name, one.row_key) for one in records if one.status is Status.IMPORT_OK}
            after = order_key(records[-1].row_key)
            if len(found) >= REMOVABLE_AT_ONCE:
                return found, f"{stream.name} {after}"
        after = ""
    return found, ""


def hold(context: RunContext, named: Iterable[tuple[str, str]]) -> None:
    keys = sorted({f"{NEEDED}:{name}:{row_key}" for name, row_key in named})
    if keys:
        context.store.write(DELETIONS, [RegisterRow(key, {}) for key in keys])


def named_records(
    context: RunContext, stream: Stream, records: Sequence[Record], *, only_its_own: bool = False
) -> Iterator[tuple[str, str]]:
    """Stream and row key of what they name. With `only_its_own` what belongs to the same entity: what cannot be deleted
    holds back only what it is part of."""
    for one in decode_readable(records, stream):
        for name, source_id in links_of(stream, one):
            if not only_its_own or context.owner.get(name) is context.owner[stream.name]:
                yield name, row_key_of(context, name, source_id)


def links_of(stream: Stream, one: SourceRecord) -> Iterator[tuple[str, str]]:
    for field in stream.refs:
        if field.when is None or field.when(one):
            yield from links_of_field(field, one)


def row_key_of(context: RunContext, name: str, source_id: str) -> str:
    stream = context.streams.get(name)
    if stream is None or not stream.by_natural:
        return source_id
    return context.store.holder(stream.table, source_id) or source_id
