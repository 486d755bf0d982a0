"""The order in which the records of a serial stream go, on every store: whole, kept, and found again after a kill."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.stores.samples import BACKENDS, EVERYTHING, GROUPS, MESSAGES, Time, imported, row, settle, stage

from b24migrate.engine.phases import order
from b24migrate.engine.phases.context import RunContext
from b24migrate.entities import catalog
from b24migrate.model.records import Job, Staged, Table
from b24migrate.model.streams import Stream
from b24migrate.ports import TURNS, Store

HOUR = "2024-01-01T{:02d}:00:00Z"


@pytest.fixture(autouse=True)
def few_at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "test_memory" not in request.node.name:
        for name, size in (("STRETCH", 7), ("SLICE", 3), ("LOOKED_AT", 2)):
            monkeypatch.setattr(order, name, size)


def context_on(store: Store, table: Table = GROUPS) -> RunContext:
    """All that sorting needs."""
    stream = replace(catalog().streams["groups"], table=table)
    return cast("RunContext", SimpleNamespace(store=store, streams={"groups": stream}))


def stream_of(context: RunContext) -> Stream:
    return context.streams["groups"]


def sorted_out(context: RunContext) -> Job:
    """The job behind the last stretch."""
    (job,) = order.seed("groups-set", stream_of(context))
    while job.kind == "order":
        (job,) = cast("list[Job]", order.order(context, job))
    return job


def walked(context: RunContext, job: Job, count: int = 4) -> list[str]:
    met: list[str] = []
    while coming := order.next_in_order(context, stream_of(context), job, count):
        met += [one.row_key for one in coming]
        job = order.next_job(job, coming)
    return met


def shuffled(count: int) -> list[Staged]:
    hours = [place // 2 for place in range(count)]
    random.Random(1).shuffle(hours)
    return [row(number, source_utc=HOUR.format(hour)) for number, hour in enumerate(hours, 1)]


def in_order(rows: list[Staged]) -> list[str]:
    return [one.row_key for one in sorted(rows, key=lambda one: (one.source_utc or "~", int(one.row_key)))]


def test_the_oldest_goes_first_and_those_of_one_second_by_their_ids(store: Store) -> None:
    rows = [*shuffled(20), row(30), row(21, source_utc="2023-01-01T00:00:00.7Z"), row(22, source_utc=None)]
    rows += [row(23, source_utc="2023-01-01T00:00:00Z")]  # the same second as that of 21
    stage(store, *rows)
    settle(store, imported(4), imported(9))
    context = context_on(store)
    expected = ["21", "23", *(key for key in in_order(rows) if key not in {"4", "9", "21", "23"})]
    assert expected[-2:] == ["22", "30"]  # to the target they are of today
    assert walked(context, sorted_out(context)) == expected


def test_every_family_is_in_an_order_of_its_own(store: Store) -> None:
    times = {"10:1": 5, "10:2": 3, "9:7": 4, "9:10": 2, "9:2": 2, "10:30": 1}
    stage(store, *(row(key, source_utc=HOUR.format(hour)) for key, hour in times.items()), table=MESSAGES)
    context = context_on(store, MESSAGES)
    assert walked(context, sorted_out(context)) == ["9:2", "9:10", "9:7", "10:30", "10:2", "10:1"]


def test_whoever_is_killed_while_sorting_begins_anew_and_leaves_nothing_behind(store: Store) -> None:
    rows = shuffled(20)
    stage(store, *rows)
    context = context_on(store)
    (job,) = order.seed("groups-set", stream_of(context))
    order.order(context, job)
    job = sorted_out(context)
    assert store.count(TURNS, "groups:") == 3 + 3 + 2
    assert walked(context, job) == in_order(rows)
    order.erase_order(context, stream_of(context), job)
    assert store.count(TURNS, "groups:") == 0


def test_a_job_that_is_repeated_finds_the_same_records(store: Store) -> None:
    stage(store, *shuffled(20))
    context = context_on(store)
    job = sorted_out(context)
    job = order.next_job(job, order.next_in_order(context, stream_of(context), job, 5))
    first = order.next_in_order(context, stream_of(context), job, 5)
    settle(store, *(imported(one.row_key) for one in first))
    assert order.next_in_order(context, stream_of(context), order.repeat_job(job), 5) == first


def test_a_new_order_ends_the_file_of_the_last_one(store: Store) -> None:
    rows = shuffled(20)
    stage(store, *rows)
    context = context_on(store)
    before, after = sorted_out(context), sorted_out(context)
    assert order.next_in_order(context, stream_of(context), before, 5) == []
    order.erase_order(context, stream_of(context), before)
    assert walked(context, after) == in_order(rows)


def test_where_nothing_is_pending_the_file_is_over_at_once(store: Store) -> None:
    context = context_on(store)
    assert order.next_in_order(context, stream_of(context), sorted_out(context), 5) == []


def test_memory_holds_one_stretch_however_long_the_table_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "STRETCH", 2_000)
    store = BACKENDS["sqlite-file"](tmp_path, Time()).store
    luck = random.Random(1)
    for at in range(1, 20_000, 2_000):
        hours = luck.choices(range(10, 24), k=2_000)
        stage(store, *(row(at + place, source_utc=HOUR.format(hour)) for place, hour in enumerate(hours)))
    context = context_on(store)
    tracemalloc.start()
    job = sorted_out(context)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 2**20  # 20,000 keys with their times are some 5 MiB
    assert len(job.args["at"]) == 11
    expected = sorted(store.moments(GROUPS, EVERYTHING, 300_000), key=lambda one: (one[1], int(one[0])))
    assert walked(context, job, 5_000) == [row_key for row_key, _ in expected]
    store.close()
