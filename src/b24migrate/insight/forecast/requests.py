"""Questions to the source that a sample asks: patient with limits, and spread over the whole of a listing."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec

from b24migrate.model.answers import open_list
from b24migrate.model.errors import Limited, MigrationError, Transient
from b24migrate.model.records import Json, Row
from b24migrate.model.streams import Keyset, Listing
from b24migrate.ports import Answer, Clock, Command, Source

PAGE = 50  # records in a call
TRIES = 3
LIMITS_WAITED = 60
PAUSE_S = 2.0
Said = TypeVar("Said")


def patiently(clock: Clock, ask: Callable[[], Said]) -> Said:
    """A limit is waited for, a failure tried again."""
    limits = failures = 0
    while True:
        try:
            return ask()
        except Limited as limit:
            limits += 1
            if limits > LIMITS_WAITED:
                raise
            clock.sleep(max(1.0, limit.wait_s))
        except Transient:
            failures += 1
            if failures == TRIES:
                raise
            clock.sleep(PAUSE_S * failures)


def answered(source: Source, clock: Clock, commands: Sequence[Command]) -> list[Answer]:
    """One answer for each. A limit that only some of them met is waited for as well."""

    def ask() -> list[Answer]:
        answers = source.batch(commands)
        for answer in answers:
            if isinstance(answer.error, Limited | Transient):
                raise answer.error
        return answers

    return patiently(clock, ask)


def spread_pages(
    source: Source, clock: Clock, reading: Listing, *, pages: int, ids: tuple[int, int], chance: random.Random
) -> Iterator[Row]:
    """Rows of so many pages, one from each of as many equal stretches of these ids; each row once. Where in a stretch
    is left to chance: what returns at even distances would be met always, or never."""
    oldest, newest = ids
    step = (newest - oldest + 1) / max(1, pages)
    room = max(0.0, step - PAGE) / step
    places = [oldest - 1 + math.floor(step * (place + room * chance.random())) for place in range(pages)]
    commands = [page_after(reading, place) for place in places]
    met: set[str] = set()
    for start in range(0, len(commands), PAGE):
        for answer in answered(source, clock, commands[start : start + PAGE]):
            if isinstance(answer.error, MigrationError):
                raise answer.error
            for row in rows_in(answer, reading):
                if row.source_id not in met:
                    met.add(row.source_id)
                    yield row


def page_after(reading: Listing, last: int) -> Command:
    params, paging = dict(reading.params), by_id(reading)
    wanted = {**params.get(paging.filter, {}), f">{paging.id}": last}
    return Command(reading.method, {**params, paging.filter: wanted, **paging.ascending, "start": -1})


def first_and_last(source: Source, clock: Clock, reading: Listing) -> tuple[int, int]:
    """The lowest and the highest id there is; 0 and 0 where there is none."""
    params, paging = dict(reading.params), by_id(reading)
    wanted = {**params.get(paging.filter, {}), f">{paging.id}": 0}
    last = Command(reading.method, {**params, paging.filter: wanted, **paging.descending, "start": -1})
    ids: list[int] = []
    for answer in answered(source, clock, [page_after(reading, 0), last]):
        if isinstance(answer.error, MigrationError):
            raise answer.error
        ids += [int(row.source_id) for row in rows_in(answer, reading)]
    return (min(ids), max(ids)) if ids else (0, 0)


def by_id(reading: Listing) -> Keyset:
    assert isinstance(reading.paging, Keyset)  # noqa: S101 (others are read in their own way)
    return reading.paging


def rows_in(answer: Answer, reading: Listing) -> list[Row]:
    raws = open_list(answer.result, reading.items, reading.method).items
    return [Row(id_of(msgspec.json.decode(raw), reading.id), bytes(raw)) for raw in raws]


def id_of(item: Mapping[str, Json], field: str) -> str:
    return ":".join(str(item.get(name, "")) for name in field.split(":"))
