"""The stored facts about each source ID, in order of stream and ID, a few hundred at a time."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from b24migrate.engine.phases.context import WALKED_AT_ONCE, RunContext
from b24migrate.messages import pack, plain, unpack
from b24migrate.model.records import Fate, Json, Link, Record, Span, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import COMPARED, FINDINGS, FORESEEN, PAGE_LOG, SET_ASIDE

RECORD, ASIDE, EQUAL, FOUND, FORESEEN_FIELD, PAGE = "record", "aside", "equal", "found", "foreseen", "page"
WHOLE_STREAM = "*"  # the id of a finding that concerns no single record


class Aside(NamedTuple):
    why: str
    reason: str


class Known(NamedTuple):
    """All about one source id."""

    stream: Stream
    id: str
    record: Record | None
    link: Link | None
    aside: Sequence[Aside]
    equal: frozenset[str]  # the wire digests with which verify found it equal to what the source says
    fates: Sequence[tuple[Fate, str]]  # differences that verify found, with their fields
    foreseen: Sequence[str] = ()  # fields that differ as the target had announced; an empty one is the whole record


def read_known_ids(context: RunContext, streams: Sequence[Stream], folder: Path) -> Iterator[Known]:
    places = {stream.name: number for number, stream in enumerate(streams)}
    facts = heapq.merge(
        _records(context, streams),
        sort_facts(_aside(context, places), folder),
        sort_facts(_equal(context, places), folder),
        sort_facts(_found(context, places), folder),
        sort_facts(_expected(context, places), folder),
        key=by_place,
    )
    for (number, _), about in groupby(facts, key=by_place):
        yield _combine(streams[number], list(about))


def read_pages(
    context: RunContext, streams: Sequence[Stream], folder: Path
) -> Iterator[tuple[Stream, str, Mapping[str, Json]]]:
    """Every page that was read of them: its stream, its number and what the log says."""
    places = {stream.name: number for number, stream in enumerate(streams)}

    def logged() -> Iterator[Fact]:
        for row in context.store.all_rows(PAGE_LOG):
            stream, _, number = row.key.partition(":")
            if stream in places:
                yield _place(places[stream], number), PAGE, number, dict(row.values)

    for (place, _), _, number, values in sort_facts(logged(), folder):
        yield streams[place], number, values


def _place(stream: int, source_id: str) -> Place:
    return stream, order_key(source_id)


def _records(context: RunContext, streams: Sequence[Stream]) -> Iterator[Fact]:
    for number, stream in enumerate(streams):
        span = Span()
        while records := context.store.records(stream.table, span, WALKED_AT_ONCE):
            links = context.store.links(stream.name, [one.row_key for one in records])
            for one in records:
                yield _place(number, one.row_key), RECORD, one.row_key, (one, links.get(one.row_key))
            span = Span(order_key(records[-1].row_key))


def _aside(context: RunContext, places: Mapping[str, int]) -> Iterator[Fact]:
    for row in context.store.all_rows(SET_ASIDE):
        why, stream, source_id = row.key.split(":", 2)
        if stream in places:
            yield _place(places[stream], source_id), ASIDE, source_id, [why, str(row.values.get("Reason") or "")]


def _equal(context: RunContext, places: Mapping[str, int]) -> Iterator[Fact]:
    for row in context.store.all_rows(COMPARED):
        stream = str(row.values["Stream"])
        for source_id, digest in (row.values["Ids"] or ()) if stream in places else ():
            yield _place(places[stream], source_id), EQUAL, source_id, digest


def _found(context: RunContext, places: Mapping[str, int]) -> Iterator[Fact]:
    for row in context.store.all_rows(FINDINGS):
        stream, source_id = str(row.values["Stream"]), str(row.values["SourceId"])
        if stream in places:
            values = [row.values["Fate"], str(row.values.get("Field") or "")]
            yield _place(places[stream], source_id), FOUND, source_id, values


def _expected(context: RunContext, places: Mapping[str, int]) -> Iterator[Fact]:
    """Without entries for whole streams: their missing records show them."""
    for row in context.store.all_rows(FORESEEN):
        stream, source_id = str(row.values["Stream"]), str(row.values["SourceId"])
        if stream in places and source_id != WHOLE_STREAM:
            yield _place(places[stream], source_id), FORESEEN_FIELD, source_id, str(row.values.get("Field") or "")


def _combine(stream: Stream, facts: Sequence[Fact]) -> Known:
    by_kind: dict[str, list[Json]] = {RECORD: [], ASIDE: [], EQUAL: [], FOUND: [], FORESEEN_FIELD: []}
    for _, kind, _, one in facts:
        by_kind[kind].append(one)
    record, link = by_kind[RECORD][0] if by_kind[RECORD] else (None, None)
    aside = [Aside(*one) for one in by_kind[ASIDE]]
    fates = sorted((Fate(fate), field) for fate, field in by_kind[FOUND])
    foreseen = sorted(set(by_kind[FORESEEN_FIELD]))
    return Known(stream, facts[0][2], record, link, aside, frozenset(by_kind[EQUAL]), fates, foreseen)


AT_ONCE = 20_000

Place = tuple[int, str]  # of an id: its stream's, and its own within it
Fact = tuple[Place, str, str, Json]  # where, of what kind, the id, what is known
by_place: Callable[[Fact], Place] = itemgetter(0)


def sort_facts(facts: Iterable[Fact], folder: Path) -> Iterator[Fact]:
    rest = iter(facts)
    with ExitStack() as stack:
        laid_aside: list[Iterator[Fact]] = []
        while some := sorted(islice(rest, AT_ONCE), key=by_place):
            if len(some) < AT_ONCE and not laid_aside:
                yield from some
                return
            file = stack.enter_context(tempfile.TemporaryFile(dir=folder))
            file.writelines(msgspec.json.encode((*one, pack(one[3])), enc_hook=plain) + b"\n" for one in some)
            file.seek(0)
            laid_aside.append(_read(file))
        yield from heapq.merge(*laid_aside, key=by_place)


def _read(file: BinaryIO) -> Iterator[Fact]:
    for line in file:
        *fact, packed = msgspec.json.decode(line, type=tuple[Place, str, str, Json, str | None])
        place, kind, key, known = fact
        yield place, kind, key, unpack(known, packed)
