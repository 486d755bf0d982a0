"""When nearly all records of a portal changed, what is noted of them is read a stretch at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from tests.engine.world import small, world

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.count_ranges import compact, known_range
from b24migrate.engine.phases.deferred import seed_marked
from b24migrate.engine.phases.delta import Part
from b24migrate.engine.phases.moved import find_gone, forget_moved
from b24migrate.engine.phases.sweep import seed_reading
from b24migrate.model.readings import Listing
from b24migrate.model.records import Staged, order_key
from b24migrate.ports import CHANGES, INCOMPLETE, RegisterRow

MANY = 30_000
KEYS = [str(number) for number in range(1, MANY + 1)]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunContext]:
    with world(tmp_path_factory.mktemp("many"), small(messages=0, chats=0)) as made, made.app() as app:
        store, deals = app.context.store, app.context.streams["crm_deals"]
        store.stage(deals.table, [Staged(key, b"{}") for key in KEYS], run="r", pass_no=1)
        store.write(CHANGES, [RegisterRow(f"gone:crm_deals:1:{key}", {}) for key in KEYS])
        store.write(CHANGES, [RegisterRow(f"differs:tasks:{key}", {}) for key in KEYS])
        ends = [order_key(key) for key in KEYS]
        store.write(INCOMPLETE, [RegisterRow(f"crm_deals:{end}-{end}", {"First": end, "Last": end}) for end in ends])
        yield app.context


def read_gone(context: RunContext) -> None:
    assert len(find_gone(context, context.streams["crm_deals"])) == MANY


def forget(context: RunContext) -> None:
    forget_moved(context, context.streams["crm_deals"])


def read_differing(context: RunContext) -> None:
    jobs = seed_reading(context, "tasks-get", context.streams["tasks"], 2)
    assert [key for job in jobs for key in job.args["ids"]] == sorted(KEYS)


def complete_marked(context: RunContext) -> None:
    jobs = seed_marked(context, "crm_deals-set", context.streams["crm_deals"])
    assert sum(len(job.args["spans"]) for job in jobs) == MANY


def count_known(context: RunContext) -> None:
    stream = context.streams["crm_deals"]
    listing = stream.read[0]
    assert isinstance(listing, Listing)
    known = known_range(context, stream, Part(listing, "", ""), (0, MANY + 9, 0), [MANY + 1, MANY + 5])
    assert len(known.ids) == MANY + 2


@pytest.mark.parametrize(
    ("read", "bytes_each"),
    [(read_gone, 250), (forget, 60), (read_differing, 200), (complete_marked, 500), (count_known, 60)],
)
def test_memory_is_that_of_the_ids(context: RunContext, read: Callable[[RunContext], None], bytes_each: int) -> None:
    read(context)
    tracemalloc.start()
    read(context)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MANY * bytes_each, peak / MANY


def test_ids_that_come_twice_or_out_of_order_are_put_in_order() -> None:
    assert list(compact(iter([3, 5, 9]))) == [3, 5, 9]
    assert list(compact(iter([3, 9, 9, 5, 2**80]))) == [3, 5, 9]
