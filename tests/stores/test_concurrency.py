"""Many at once on one store: threads, processes, and a process that is killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from tests import azurite
from tests.stores.queue_worker import OPEN, PAGE, REST, SCOPE, raise_number, work
from tests.stores.samples import EVERYTHING, GROUPS, NOON, TABLES, Time, row

from b24migrate.model.records import Job, Staged, Status
from b24migrate.ports import RUNS, Queue, RegisterRow, Store
from b24migrate.stores import Opened, open_store

ROOT = Path(__file__).parents[2]


class Place(NamedTuple):
    """Of a new store, and how many jobs are worth doing there: Azurite takes milliseconds where SQLite takes none."""

    url: str
    jobs: int


@pytest.fixture(params=["sqlite", "azure"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "azure":
        return Place(azurite.url(), 20)
    return Place(f"sqlite:///{tmp_path}/store.db", 60)


def test_threads_lose_no_update(store: Store, many: int) -> None:
    turns = many // 300

    def work(number: int) -> None:
        for turn in range(turns):
            store.stage(GROUPS, [row(turn * 4 + number), row(f"shared{turn}")], run="r", pass_no=1)
            store.add({"work": 1})
            raise_number(store)
            assert sum(store.counts(GROUPS).values()) > turn

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert store.counts(GROUPS)[Status.NEW] == 5 * turns
    assert store.counters() == {"seen:Groups:1": 5 * turns, "work": 4 * turns}
    assert number_of(store) == 4 * turns


def test_threads_share_jobs_without_doubling_one(queue: Queue, many: int) -> None:
    jobs = many // 20
    queue.put([Job("s", "k", {"n": number}) for number in range(jobs)])
    done: list[int] = []

    def work(owner: int) -> None:
        while lease := queue.claim(f"h:{owner}:0", now=NOON, lease_s=60):
            done.append(lease.job.args["n"])
            queue.finish(lease, [])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert sorted(done) == list(range(jobs))
    assert queue.open("s") == 0


def test_a_store_may_be_closed_twice_and_by_another_thread(opened: Opened) -> None:
    with ThreadPoolExecutor(2) as threads:
        assert threads.submit(opened.store.counts, GROUPS).result()[Status.NEW] == 0
    opened.store.close()
    opened.store.close()


@contextmanager
def started(url: str, count: int) -> Iterator[list[subprocess.Popen[str]]]:
    command = [sys.executable, "-W", "error", "-m", "tests.stores.queue_worker", url]
    ports = {name: value for name, value in os.environ.items() if name.startswith("AZURITE_")}
    processes = [
        subprocess.Popen(
            [*command, f"host{one}"],
            cwd=ROOT,
            env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **ports},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for one in range(count)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    print(file=process.stdin, flush=True)


def exit_code(process: subprocess.Popen[str], end: str) -> int:
    """How many jobs it did, until it said so or died. Its errors are seen with the failed test."""
    assert process.stdout is not None
    lines = []
    while (line := process.stdout.readline().strip()) not in (end, ""):
        lines.append(line)
    assert line == end or process.wait() == -signal.SIGKILL
    return len(lines)


def put(opened: Opened, first: int, count: int) -> None:
    """Every other job is put by the one before it."""
    opened.queue.put([Job(SCOPE, "read", {"n": number}) for number in range(first, first + count, 2)])


def check_nothing_lost_or_doubled(opened: Opened, jobs: int) -> None:
    store = opened.store
    records = (jobs + 1) * PAGE // 2
    expected = {Status.NEW: records - jobs, Status.IMPORT_OK: jobs}
    assert opened.queue.open(SCOPE) == 0
    assert store.counts(GROUPS) == dict.fromkeys(Status, 0) | expected
    assert store.counters("seen:") == {"seen:Groups:1": records}
    assert all(opened.files.size(f"disk:{number}") for number in range(jobs))
    found = store.records(GROUPS, EVERYTHING, 2 * records)
    assert Counter(one.status for one in found) == expected
    assert len({one.row_key for one in found}) == records


def check_soundness(place: Place) -> None:
    if place.url.startswith("sqlite"):
        with closing(sqlite3.connect(place.url.removeprefix("sqlite:///"))) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def number_of(store: Store) -> int:
    row = store.read(RUNS, "number")
    return int(row.values["ExitCode"]) if row else 0


def test_processes_open_a_new_store_at_once_share_it_and_lose_nothing_when_one_is_killed(place: Place) -> None:
    with started(place.url, 4) as processes:
        assert [exit_code(process, OPEN) for process in processes] == [0] * 4
        opened = open_store(place.url, TABLES, Time())
        with closing(opened.store):
            share_jobs(opened, place.jobs, processes)
            kill_one(opened, place.jobs, processes)
    check_soundness(place)


def share_jobs(opened: Opened, jobs: int, processes: list[subprocess.Popen[str]]) -> None:
    put(opened, 0, jobs)
    for process in processes:
        begin(process)
    done = sum(exit_code(process, REST) for process in processes)
    # A worker pauses when it finds nothing to claim; later jobs are left to this process.
    work(opened, "host")
    assert done <= jobs
    assert opened.store.counters("work") == {"work": jobs}
    assert number_of(opened.store) == jobs
    check_nothing_lost_or_doubled(opened, jobs)


def kill_one(opened: Opened, jobs: int, processes: list[subprocess.Popen[str]]) -> None:
    put(opened, jobs, jobs)
    victim, *others = processes
    begin(victim)
    assert victim.stdout is not None
    for _ in range(3):
        assert victim.stdout.readline().strip().isdigit()
    for process in others:
        begin(process)
    victim.kill()
    done = 3 + exit_code(victim, "") + sum(exit_code(process, REST) for process in others)
    assert opened.queue.release(f"host0:{victim.pid}:", alive=lambda _: False) <= 1
    before = opened.store.counters("work")["work"] - jobs
    assert before - done in (0, 1)  # it may have died between adding and saying so
    assert number_of(opened.store) - jobs - done in (0, 1)
    work(opened, "host")
    check_nothing_lost_or_doubled(opened, 2 * jobs)


def test_readers_are_not_kept_waiting_by_a_writer(tmp_path: Path) -> None:
    opened = open_store("sqlite:///store.db", TABLES, Time(), base=tmp_path)
    with closing(opened.store) as store, closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as other:
        store.stage(GROUPS, [row(1)], run="r", pass_no=1)
        opened.queue.put([Job("s", "k")])
        other.execute("BEGIN IMMEDIATE")
        assert store.counts(GROUPS)[Status.NEW] == 1
        assert opened.queue.open("s") == 1
        other.execute("ROLLBACK")


def test_reading_goes_on_while_others_write(store: Store) -> None:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            store.write(RUNS, [RegisterRow(f"r{number % 50}", {"State": "x"})])
            store.stage(GROUPS, [Staged(str(number), b"{}")], run="r", pass_no=1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            assert list(store.all_links("users")) == []
            assert len(store.rows(RUNS)) <= 50
    finally:
        stop.set()
        thread.join()
