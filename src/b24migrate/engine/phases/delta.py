"""get: how each stream is read in this pass, and where the next delta pass begins.

A full pass reads everything. A delta pass reads less of a stream that has words for it: `Listing.changes` asks for what
may have changed since its mark, the portal's time before the first request of its last complete pass; `Listing.sweep`
compares a few fields of all records; `PerParent.again` asks some of the parents. Whatever makes that unsure makes the
stream be read whole, and the run says why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext, decode_record, walk, walk_rows
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list, row_in
from b24migrate.model.readings import Each, Gather, Keyset, Listing, PerParent, Reading
from b24migrate.model.records import Json, Span, Status, children_span, digest, order_key
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import CHECKPOINTS, CUSTOM_FIELDS, DELETIONS, PASSES, SET_ASIDE, Answer, Command, RegisterRow

OVERLAP = timedelta(minutes=10)  # a request may take a minute between setting a time and showing it; imports longer
TRIES = 3  # of a calibration, because records may change in between
KEYS_AT_ONCE = 10_000
NOW, MARK = "now", "mark"  # of PASSES: the latest pass of a stream; its latest complete one
# Of a job's args: which question a delta pass asks. New ids are mostly of new records, which the time shows too: then
# only those with an old time are requested. `BOTH` is only counted.
TIME, IDS, OLD, BOTH = "time", "ids", "old", "both"
# How a delta pass reads a stream: what it is asked for, what differs, children of some parents; the beginnings of
# lists; all, but asked about in less detail.
ASKED, SWEPT, CHILDREN, NEWEST, LISTED = "asked", "swept", "children", "newest", "listed"
_WHOLE, _PARTLY, _LISTED = 0, 1, 2  # of PASSES


class StreamPass(NamedTuple):
    """How a pass reads a stream. `highest`: the highest ID known before, by prefix of the IDs. `listed`: all of it, but
    with fewer details (`Gather.again`, `PerParent.shown`)."""

    delta: bool = False
    since: str = ""
    highest: Mapping[str, int] = {}
    why: str = ""
    listed: bool = False


class Part(NamedTuple):
    """A listing of a stream, the prefix of its IDs, and the record of another stream that it belongs to."""

    listing: Listing
    prefix: str = ""
    of: str = ""

    def row_key(self, number: int) -> str:
        return f"{self.prefix}:{number}" if self.prefix else str(number)

    def span(self, lo: int = 0, hi: int | None = None) -> Span:
        """Of the ids after `lo`, up to and including `hi`."""
        last = order_key(self.row_key(hi)) if hi is not None else children_span(self.prefix).hi if self.prefix else ""
        return Span(order_key(self.row_key(lo)), last)


def this_pass(context: RunContext, stream: Stream, pass_no: int) -> StreamPass:
    row = context.store.read(PASSES, f"{NOW}:{stream.name}")
    if row is None or row.values["Pass"] != pass_no:
        return StreamPass()
    said = row.values
    kind = int(said["Delta"])
    return StreamPass(kind == _PARTLY, said["Since"] or "", said["Highest"] or {}, said["Why"] or "", kind == _LISTED)


def is_delta(context: RunContext, stream: Stream, pass_no: int) -> bool:
    """Whether this pass reads only what may have changed: what it does not show counts as seen."""
    return this_pass(context, stream, pass_no).delta


def complete_pass(context: RunContext, stream: Stream) -> int:
    """The number of its last complete pass, as long as this one is not; 0: none."""
    row = context.store.read(PASSES, f"{MARK}:{stream.name}")
    return int(row.values["Pass"]) if row else 0


# ---------------------------------------------------------------- the listings of a stream


def find_parts(context: RunContext, stream: Stream) -> list[Part]:
    """The listings that a stream is read by; none where it is read otherwise."""
    reading = context.reading(stream)
    if isinstance(reading, Listing):
        return [Part(reading)]
    if not isinstance(reading, Each):
        return []
    of = context.streams[reading.of]
    owners = [decode_record(one, of) for one in walk(context, of.table) if not one.deleted_utc]
    return [Part(reading.listing(one), reading.prefix(one), one.id) for one in owners]


def find_part(context: RunContext, stream: Stream, of: str) -> Part:
    return next(one for one in find_parts(context, stream) if one.of == of)


def find_way(context: RunContext, stream: Stream) -> str:
    """How a delta pass reads it by the words that it has; none where it is read whole."""
    reading = context.reading(stream)
    if isinstance(reading, PerParent) and reading.shown:
        return LISTED
    if isinstance(reading, PerParent):
        if all(isinstance(one, PerParent) and one.is_newest_first for one in find_readings(context, stream)):
            return NEWEST
        return CHILDREN if all(_is_asked_again(context, stream, one) for one in find_readings(context, stream)) else ""
    if isinstance(reading, Gather) and reading.again:
        return LISTED
    if stream.more or not isinstance(reading, Listing | Each):
        return ""
    listings = [one.listing for one in find_parts(context, stream)]
    if not all(isinstance(one.paging, Keyset) for one in listings):
        return ""
    return ASKED if all(one.changes for one in listings) else SWEPT if all(one.sweep for one in listings) else ""


def find_readings(context: RunContext, stream: Stream) -> list[Reading]:
    return [context.reading(stream), *(one for one in stream.more if context.suits(one))]


def _is_asked_again(context: RunContext, stream: Stream, reading: Reading) -> bool:
    """Passes are counted by entity, so they do not distinguish parents of another entity."""
    if not isinstance(reading, PerParent) or reading.again is None:
        return False
    return context.owner[reading.of] is context.owner[stream.name]


def narrow(part: Part, which: str, chosen: StreamPass) -> Listing:
    """The listing that shows only what may have changed, or what is new."""
    listing = part.listing
    assert isinstance(listing.paging, Keyset)  # noqa: S101 (what `choose` looked at)
    new = {} if which == TIME else {f">={listing.paging.id}": str(chosen.highest.get(part.prefix, 0) + 1)}
    time = listing.changes.time if listing.changes else ""
    sign = {TIME: ">=", BOTH: ">=", OLD: "<"}.get(which)
    return add_filter(listing, listing.paging, {**new, **({f"{sign}{time}": chosen.since} if sign else {})})


def add_filter(listing: Listing, paging: Keyset, conditions: Mapping[str, Json]) -> Listing:
    asked = {**listing.params.get(paging.filter, {}), **conditions}
    return replace(listing, params={**listing.params, paging.filter: asked})


class Explained(NamedTuple):
    """How a delta pass finds changes and deletions of a stream, in sentences."""

    changes: str
    deletions: str


def explain(context: RunContext, stream: Stream) -> Explained:
    way = find_way(context, stream)
    if way == ASKED:
        fields = {one.listing.changes.time for one in find_parts(context, stream) if one.listing.changes}
        return Explained(say("delta.how.asked", field=sorted(fields)), say("delta.gone.counted"))
    if way == SWEPT:
        swept = {name for one in find_parts(context, stream) if one.listing.sweep for name in one.listing.sweep.fields}
        return Explained(say("delta.how.swept", fields=sorted(swept)), say("delta.gone.swept"))
    never = say("delta.gone.never") if stream.deletions.unprovable else ""
    if way == CHILDREN:
        readings = [one for one in find_readings(context, stream) if isinstance(one, PerParent) and one.again]
        names = {name for one in readings if one.again for name in one.again.fields}
        how = say("delta.how.children", of=stream.parent, fields=sorted(names))
        return Explained(how, never or say("delta.gone.children"))
    shown = isinstance(reading := context.reading(stream), PerParent) and reading.shown
    how = say("delta.how.shown" if shown else "delta.how.listed" if way == LISTED else "delta.how.whole")
    return Explained(how, never or say("delta.gone.whole"))


# ---------------------------------------------------------------- the beginning of a pass


def choose(context: RunContext, entity: Entity, pass_no: int) -> dict[str, StreamPass]:
    """Decides once for each stream how this pass reads it. Before its first request: the time is its mark."""
    streams = [*entity.aids, *entity.streams]
    known = {one.name: context.store.read(PASSES, f"{NOW}:{one.name}") for one in streams}
    if any(row is None or row.values["Pass"] != pass_no for row in known.values()):
        mark = context.clock.now() + timedelta(seconds=context.facts.ahead_s)
        basis = describe_basis(context, entity)
        rows = [choose_one(context, stream, pass_no, mark, basis) for stream in streams]
        context.store.write(PASSES, rows)
    chosen = {stream.name: this_pass(context, stream, pass_no) for stream in streams}
    for name, one in chosen.items():
        if one.why:
            context.note(entity.name, say("note.read_whole", stream=name, why=one.why), "info")
        elif one.delta:
            way = find_way(context, context.streams[name])
            context.note(entity.name, say(f"note.read_{way}", stream=name, since=one.since), "info")
    return chosen


def choose_one(
    context: RunContext, stream: Stream, pass_no: int, mark: datetime, basis: Mapping[str, Json]
) -> RegisterRow:
    row = context.store.read(PASSES, f"{MARK}:{stream.name}")
    before = row.values if row else {}
    why = reason_to_read_whole(context, stream, before, basis, mark) if context.options.delta else ""
    if context.options.delta and not why and find_way(context, stream) == ASKED:
        why = "" if count_nets(context, stream, before, pass_no) else say("delta.zone")
    kind = _WHOLE if why or not context.options.delta else _PARTLY
    kind = _LISTED if kind and find_way(context, stream) == LISTED else kind
    now = {
        "Pass": pass_no,
        "Delta": kind,
        "MarkUtc": mark.isoformat(),
        "FullUtc": before["FullUtc"] if kind else mark.isoformat(),
        "Since": begin_of_delta(context, stream, before) if kind == _PARTLY else None,
        "Highest": before["Highest"] if kind == _PARTLY else None,
        "Basis": basis,
        "Why": why or None,
    }
    return RegisterRow(f"{NOW}:{stream.name}", now)


def describe_basis(context: RunContext, entity: Entity) -> dict[str, Json]:
    """The values that a mark depends on. If one changes, everything is read again."""
    fields = {row.key: row.values["Payload"] for row in context.store.rows(CUSTOM_FIELDS, partition=entity.name)}
    scopes = context.facts.scopes
    return {
        "owners": list(context.source.owners),
        "scopes": None if scopes is None else sorted(scopes),
        "fields": digest(msgspec.json.encode(fields, order="sorted").decode()),
        "methods": [one.method for stream in entity.streams for one in (context.reading(stream), *stream.more)],
    }


def reason_to_read_whole(
    context: RunContext,
    stream: Stream,
    before: Mapping[str, Json],
    basis: Mapping[str, Json],
    now: datetime,
) -> str:
    """Nothing where a delta can be trusted."""
    if not before:
        return say("delta.first")
    if context.options.test_limit:
        return say("delta.limited")
    way = find_way(context, stream)
    if not way:
        return say("delta.no_words")
    if context.options.deep and isinstance(context.reading(stream), PerParent) and way in (NEWEST, LISTED):
        return say("delta.deep")
    if way == SWEPT and before["Highest"] is None:  # of a version that read it whole
        return say("delta.first")
    known = before["Basis"] or {}
    if known.get("owners") != basis["owners"] or known.get("scopes") != basis["scopes"]:
        return say("delta.rights")
    if known.get("methods") != basis["methods"]:
        return say("delta.method")
    if known.get("fields") != basis["fields"] and way != CHILDREN:
        return say("delta.fields")
    if way != ASKED and is_full_pass_unfinished(context, stream, before):
        return say("delta.unfinished")
    days = context.options.full_pass_days
    if now - datetime.fromisoformat(before["FullUtc"]) > timedelta(days=days):
        return say("delta.old", days=days)
    return ""


def count_nets(context: RunContext, stream: Stream, before: Mapping[str, Json], pass_no: int) -> bool:
    """Notes how many records each question of this pass would return: questions without a result are omitted, and later
    records are left to the next pass. False if the filter by time is wrong."""
    chosen = StreamPass(True, begin_of_delta(context, stream, before), before["Highest"] or {})
    parts = find_parts(context, stream)
    nets = [(part, net) for part in parts for net in (TIME, IDS, OLD, BOTH)]
    commands = [total_command(narrow(part, net, chosen)) for part, net in nets]
    totals = calibrate(context, [part.listing for part in parts], commands)
    if totals is None:
        return False
    rows = [
        RegisterRow(_net_key(stream, part, net), {"Pass": pass_no, "Reported": total})
        for (part, net), total in zip(nets, totals, strict=True)
    ]
    context.store.write(CHECKPOINTS, rows)
    return True


def _net_key(stream: Stream, part: Part, net: str) -> str:
    return f"net:{stream.name}:{part.of}:{net}"


def find_nets(context: RunContext, stream: Stream, pass_no: int) -> list[tuple[Part, str, int | None]]:
    """The questions of a delta pass that bring something, and how many records."""
    if find_way(context, stream) == SWEPT:
        return [(part, IDS, None) for part in find_parts(context, stream)]
    found: list[tuple[Part, str, int | None]] = []
    for part in find_parts(context, stream):
        keys = {_net_key(stream, part, net): net for net in (TIME, IDS, OLD, BOTH)}
        known = context.store.rows_of(CHECKPOINTS, list(keys))
        told = {keys[key]: int(row.values["Reported"]) for key, row in known.items() if row.values["Pass"] == pass_no}
        divided = len(told) == len(keys) and told[IDS] == told[OLD] + told[BOTH]
        found += [(part, net, told.get(net)) for net in (TIME, OLD if divided else IDS) if told.get(net) != 0]
    return found


def is_full_pass_unfinished(context: RunContext, stream: Stream, before: Mapping[str, Json]) -> bool:
    """Whether a full pass began after the last complete one and did not come to its end. It may have staged what is
    new of some records and not have read their children; and what it has staged, a sweep does not find."""
    row = context.store.read(PASSES, f"{NOW}:{stream.name}")
    return row is not None and row.values["Pass"] != before["Pass"] and not row.values["Delta"]


def begin_of_delta(context: RunContext, stream: Stream, before: Mapping[str, Json]) -> str:
    """With an overlap; and earlier still where the owner's zone is west of the server's and shifts the filter."""
    shifted = any(one.listing.changes and one.listing.changes.shifted for one in find_parts(context, stream))
    west = timedelta(seconds=max(0, -(context.facts.zone_s or 0)) if shifted else 0)
    return (datetime.fromisoformat(before["MarkUtc"]) - OVERLAP - west).replace(microsecond=0).isoformat()


# ---------------------------------------------------------------- calibration


def calibrate(context: RunContext, listings: Sequence[Listing], beside: Sequence[Command]) -> list[int] | None:
    """The totals of the commands `beside`; None if a filter by time does not find the latest change, or finds records
    after it, both unshifted and shifted by the owner's zone. A filter that the portal cannot parse matches nothing,
    without an error. Without any change there is nothing to check."""
    left, totals = list(listings), list[int]()
    for attempt in range(TRIES):
        times, counted = find_newest(context, left, () if attempt else beside)
        totals = totals or counted
        newest = [(one, at) for one, at in zip(left, times, strict=True) if at is not None]
        shifts = [[0, *_zone_shift(context, one)] for one, _ in newest]
        commands = [
            count_command(one, at, shift, later)
            for (one, at), tried in zip(newest, shifts, strict=True)
            for shift in tried
            for later in (0, 1)
        ]
        counts = map(count_of, context.source.batch(commands) if commands else ())
        found = [[(next(counts), next(counts)) for _ in tried] for tried in shifts]
        right = [any(at and not after for at, after in several) for several in found]
        left = [one for (one, _), is_right in zip(newest, right, strict=True) if not is_right]
        if not left:
            return totals
    return None


def _zone_shift(context: RunContext, listing: Listing) -> list[int]:
    return [context.facts.zone_s] if listing.changes and listing.changes.shifted and context.facts.zone_s else []


def find_newest(
    context: RunContext, listings: Sequence[Listing], beside: Sequence[Command]
) -> tuple[list[datetime | None], list[int]]:
    """The time of the latest change in each, and the totals of the other commands."""
    commands = [
        Command(one.method, {**one.params, **one.changes.narrow, **one.changes.newest, "start": -1})
        for one in listings
        if one.changes
    ]
    answers = context.source.batch([*commands, *beside])
    times = [time_of_first(one, answer) for one, answer in zip(listings, answers[: len(commands)], strict=True)]
    return times, list(map(count_of, answers[len(commands) :]))


def time_of_first(listing: Listing, answer: Answer) -> datetime | None:
    for raw in open_list(answer.require(), listing.items, listing.method).items:
        row = row_in(raw, listing.method)
        try:
            return datetime.fromisoformat(str(row[listing.changes.time if listing.changes else ""]))
        except (KeyError, ValueError):
            return None
    return None


def count_command(listing: Listing, newest: datetime, shift: int, later: int) -> Command:
    assert isinstance(listing.paging, Keyset)  # noqa: S101
    assert listing.changes is not None  # noqa: S101 (what has no words is not calibrated)
    bound = (newest + timedelta(seconds=shift + later)).isoformat()
    asked = add_filter(listing, listing.paging, {f"{'>' if later else '>='}{listing.changes.time}": bound})
    return total_command(asked)


def total_command(listing: Listing) -> Command:
    """Requests only the number of records."""
    words = listing.changes or listing.sweep
    return Command(listing.method, {**listing.params, **(words.narrow if words else {}), "start": 0})


def number_of(raw: msgspec.Raw, listing: Listing) -> int:
    """The id of a listed row. Raises the error of an answer that makes no sense."""
    return int(id_of(raw, listing.id, listing.method))


def count_of(answer: Answer) -> int:
    """An empty listing has no total."""
    if answer.error is not None:
        raise answer.error
    return answer.total or 0


# ---------------------------------------------------------------- the end of a pass


def note_highest(context: RunContext, entity: Entity, pass_no: int) -> None:
    """Before anything is sent: what sending pulls in may leave gaps below it."""
    for stream in entity.streams:
        row = context.store.read(PASSES, f"{NOW}:{stream.name}")
        if row is not None and row.values["Pass"] == pass_no and find_way(context, stream) in (ASKED, SWEPT):
            highest = {one.prefix: find_highest(context, stream, one) for one in find_parts(context, stream)}
            context.store.write(PASSES, [row._replace(values={**row.values, "Highest": highest})])


def find_highest(context: RunContext, stream: Stream, part: Part) -> int:
    return max(chain(excluded_ids(context, stream, part), staged_ids(context, stream, part.span())), default=0)


def staged_ids(context: RunContext, stream: Stream, span: Span) -> Iterator[int]:
    """Of the records of a span, in order, whatever became of them."""
    while True:
        keys = context.store.keys(stream.table, span, KEYS_AT_ONCE)
        yield from (int(tail) for key in keys if (tail := key.rpartition(":")[2]).isdecimal())
        if len(keys) < KEYS_AT_ONCE:
            return
        span = span._replace(lo=order_key(keys[-1]))


def excluded_ids(context: RunContext, stream: Stream, part: Part) -> Iterator[int]:
    """Of the records that a rule left out: as many as there are records, in some portals."""
    prefix = f"excluded:{stream.name}:{part.prefix + ':' if part.prefix else ''}"
    keys = (row.key.removeprefix(prefix) for row in walk_rows(context, SET_ASIDE, prefix))
    return (int(key) for key in keys if key.isdecimal())


def write_marks(context: RunContext, entities: Collection[Entity], passes: Mapping[str, int]) -> None:
    """Together, when all of the run have ended: a pass that was cut off leaves the old ones."""
    rows = [
        RegisterRow(f"{MARK}:{stream.name}", row.values)
        for entity in entities
        for stream in (*entity.aids, *entity.streams)
        if (row := context.store.read(PASSES, f"{NOW}:{stream.name}")) and row.values["Pass"] == passes[entity.name]
    ]
    if rows and not context.options.test_limit:
        context.store.write(PASSES, rows)


# ---------------------------------------------------------------- what a pass found


def count_changes(context: RunContext, stream: Stream) -> tuple[int, int]:
    """How many records wait to be sent, and how many the latest pass found deleted."""
    counts = context.store.counts(stream.table)
    gone = context.store.count(DELETIONS, f"gone:{stream.name}:")
    return counts[Status.NEW] + counts[Status.ERROR_RETRY], gone


def list_changes(context: RunContext, stream: Stream, limit: int) -> list[str]:
    """The ids of the first of them."""
    waiting = [key for key, _ in context.store.moments(stream.table, Span(), limit)]
    prefix = f"gone:{stream.name}:"
    gone = context.store.some_rows(DELETIONS, prefix, "", limit)
    return [*waiting, *(row.key.removeprefix(prefix) for row in gone)][:limit]
