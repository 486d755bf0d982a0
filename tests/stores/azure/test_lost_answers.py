"""An answer that is lost on the way makes nothing happen twice, and nothing that happened go unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from tests import azurite
from tests.stores.azure import lossy_service
from tests.stores.queue_worker import PAGE, SCOPE, raise_number, work
from tests.stores.samples import GROUPS, TABLES, Time

from b24migrate.model.records import Job, Status
from b24migrate.ports import RUNS, RegisterRow
from b24migrate.stores import Opened, open_store


@pytest.fixture
def opened() -> Iterator[Opened]:
    url = azurite.url()
    open_store(url, TABLES, Time()).store.close()
    with (
        lossy_service.answers("TABLE", lossy_service.every(3, "POST")),
        lossy_service.answers("BLOB", lossy_service.every(3, "PUT")),
    ):
        opened = open_store(url, TABLES, Time())
        with closing(opened.store):
            yield opened


def test_a_number_is_raised_exactly_as_often_as_told(opened: Opened) -> None:
    for _ in range(12):
        raise_number(opened.store)
    row = opened.store.read(RUNS, "number")
    assert row is not None
    assert row.values["ExitCode"] == 12


def test_a_number_is_raised_exactly_by_several(opened: Opened) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: raise_number(opened.store), range(12)))
    row = opened.store.read(RUNS, "number")
    assert row is not None
    assert row.values["ExitCode"] == 12


def test_counters_count_everything_once(opened: Opened) -> None:
    for _ in range(12):
        opened.store.add({"work": 1, "wait": 0.5})
    assert opened.store.counters() == {"work": 12, "wait": 6}


def test_counters_count_everything_once_while_others_add_them_up(opened: Opened) -> None:
    url = str(opened.store.describe()["place"])

    def come_and_go(_: int) -> None:
        with closing(open_store(url, TABLES, Time()).store) as store:
            store.add({"work": 1})
            opened.store.add({"work": 1})

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(come_and_go, range(12)))
    assert opened.store.counters() == {"work": 24}
    assert opened.store.counters("wo") == {"work": 24}


def test_what_is_erased_stays_erased(opened: Opened) -> None:
    opened.store.write(RUNS, [RegisterRow(str(number), {}) for number in range(450)])
    opened.store.erase(RUNS, "1")
    assert len(opened.store.rows(RUNS)) == 450 - 1 - 10 - 100
    assert opened.store.rows(RUNS, "1") == []


def test_a_file_is_whole(opened: Opened) -> None:
    content = bytes(range(256)) * 60_000
    with opened.files.writer("disk:1") as out:
        out.write(content)
    with opened.files.open("disk:1") as back:
        assert back.read() == content


def test_jobs_are_done_once_and_records_counted_once() -> None:
    url = azurite.url()
    with closing(open_store(url, TABLES, Time()).store) as store:
        with (
            lossy_service.answers("TABLE", lossy_service.every(4, "POST", "PATCH", "PUT")),
            lossy_service.answers("QUEUE", lossy_service.every(4, "DELETE")),
        ):
            opened = open_store(url, TABLES, Time())
            opened.queue.put([Job(SCOPE, "read", {"n": number}) for number in range(0, 8, 2)])
            work(opened, "host")
            opened.store.close()
        assert store.counts(GROUPS) == dict.fromkeys(Status, 0) | {Status.NEW: 9 * PAGE // 2 - 8, Status.IMPORT_OK: 8}
        assert store.counters() == {"seen:Groups:1": 9 * PAGE // 2, "work": 8}
        row = store.read(RUNS, "number")
        assert row is not None
        assert row.values["ExitCode"] == 8


def test_a_store_is_made() -> None:
    url = azurite.url()
    with (
        lossy_service.answers("TABLE", lossy_service.every(9, "POST")),
        closing(open_store(url, TABLES, Time()).store) as store,
    ):
        store.add({"work": 1})
        assert store.counters() == {"work": 1}
