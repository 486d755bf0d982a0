"""Records on Azure where answers are lost, others are in the way, and processes die: every number stays right."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests import azurite
from tests.stores.azure_place import Place, audit, page, shards
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    at,
    failed,
    imported,
    keys,
    retried,
    row,
    settle,
    stage,
)

from b24migrate.model.errors import Halted, MigrationError
from b24migrate.model.records import Settled, Staging, Status
from b24migrate.stores.azure import AzureStore, changes, counts
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.shards import row_beside

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(place: Place) -> AzureStore:
    return place.store()


# ---------------------------------------------------------------- answers that are lost


def test_a_page_whose_answers_are_lost_is_staged_once(place: Place, store: AzureStore) -> None:
    place.line.lose("POST", "POST", "POST")
    assert stage(store, *page(1, 250)) == Staging(added=250, seen=250)
    assert place.line.lost_all
    place.line.lose("POST")
    assert stage(store, *page(1, 50, payload_hash="h"), row("new")) == Staging(added=1, same=50, seen=1)
    assert audit(store) == {"NEW": 251}
    assert store.counters("seen:") == {"seen:Groups:1": 251}


def test_what_is_settled_without_an_answer_is_settled_once(place: Place, store: AzureStore) -> None:
    stage(store, *page(1, 40))
    place.line.lose("POST", "POST")
    settle(store, *(failed(number, attempts=3) for number in range(1, 21)))
    settle(store, *(imported(number, losses={"dropped": 2}) for number in range(21, 31)))
    place.line.lose("POST")
    assert store.renew(GROUPS, row_keys=["1", "2"]) == 2
    assert place.line.lost_all
    assert audit(store) == {"NEW": 12, "IMPORT_ERR": 18, "IMPORT_OK": 10}
    assert store.counters("retries:") == {"retries:groups": 40}
    assert store.counters("dropped:") == {"dropped:groups": 20}


def test_a_lost_answer_is_remembered_by_whoever_added_the_shard_up(place: Place, store: AzureStore) -> None:
    """Between the write and the look for it, another process folds the shard away."""
    other = place.store()
    stage(store, row(1))
    looked = row_beside

    def fold_first(account: Account, table: Any, key: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counts, "row_beside", looked)
            other.tallies._add_up(GROUPS, {one["RowKey"] for one in shards(other)})
            return looked(account, table, key)

    for turn in range(2, 5):
        place.line.lose("POST")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counts, "row_beside", fold_first)
            assert stage(store, row(turn)) == Staging(added=1, seen=1)
        assert shards(store) == []
    assert audit(store) == {"NEW": 4}


def test_a_service_that_stays_silent_halts_us(place: Place, store: AzureStore) -> None:
    stage(store, row(1))
    place.life.left = 0
    with pytest.raises(MigrationError):
        stage(store, row(2))
    place.life.left = None
    assert stage(store, row(2)).added == 1
    assert audit(store) == {"NEW": 2}


# ---------------------------------------------------------------- others in the way


def test_a_shard_that_was_added_up_is_followed_by_another(place: Place, store: AzureStore) -> None:
    other = place.store()
    for turn in range(3):
        stage(store, *page(10 * turn, 10))
        settle(store, failed(10 * turn))
        assert other.tallies._add_up(GROUPS, {one["RowKey"] for one in shards(other)})
    assert shards(store) == []
    assert audit(store) == {"NEW": 27, "IMPORT_ERR": 3}


def test_processes_that_come_and_go_leave_no_shard(place: Place) -> None:
    for turn in range(3):
        store = place.store()
        stage(store, *page(turn * 5, 7))
        store.close()
    assert shards(place.store()) == []
    assert audit(place.store()) == {"NEW": 17}


def test_shards_of_the_dead_are_added_up_when_they_are_many(
    place: Place, store: AzureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "_MANY", 6)
    for turn in range(9):
        stage(place.store(), row(turn), row(f"x{turn}", natural=str(turn)))
    assert len(shards(store)) == 9
    assert store.counts(GROUPS)[Status.NEW] == 18
    assert len(shards(store)) == 6
    assert store.holder(GROUPS, "0") == "x0"
    assert audit(store) == {"NEW": 18}


def test_shards_that_nobody_wrote_for_long_are_added_up(
    place: Place, store: AzureStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "_SOME", 3)
    monkeypatch.setattr(counts, "_IDLE", timedelta())
    dead = [place.store() for _ in range(4)]
    for number, one in enumerate(dead):
        stage(one, row(number))
        assert len(shards(store)) == number + 1
        assert store.counts(GROUPS)[Status.NEW] == number + 1
    assert len(shards(store)) == 1
    assert stage(dead[0], row("again")).added == 1
    assert audit(store) == {"NEW": 5}


def test_two_who_stage_the_same_page_count_it_once(place: Place) -> None:
    def work(number: int) -> Staging:
        store = place.store()
        done = [stage(store, *page(50 * turn, 150), pass_no=1 + number % 2) for turn in range(4)]
        return Staging(*map(sum, zip(*done, strict=True)))

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(work, range(4)))
    store = place.store()
    assert audit(store) == {"NEW": 300}
    assert sum(one.added for one in done) == 300
    assert store.counters("seen:").get("seen:Groups:2") == 300


def test_two_who_lost_and_took_a_lease_settle_the_same_records(place: Place, store: AzureStore) -> None:
    stage(store, *page(0, 60))
    outcomes: list[Callable[[int], Settled]] = [
        imported,
        failed,
        lambda number: retried(number, at(60)),
        lambda number: imported(number, 3),
    ]

    def work(number: int) -> None:
        own = place.store()
        for turn in range(4):
            settle(own, *(outcomes[(number + turn) % 4](one) for one in range(15 * turn, 15 * turn + 30)))
            own.renew(GROUPS, row_keys=[str(one) for one in range(10 * number, 10 * number + 20)])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert audit(store).total() == 60


def test_too_many_in_the_way_halt_us(place: Place, store: AzureStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_TRIES", 4)
    stage(store, row(1))
    other = place.store()
    commit = store.tallies.commit

    def overtaken(*args: Any, **more: Any) -> bool:
        settle(other, failed(1))
        return commit(*args, **more)

    monkeypatch.setattr(store.tallies, "commit", overtaken)
    with pytest.raises(Halted, match="at once"):
        settle(store, imported(1))
    assert audit(other) == {"IMPORT_ERR": 1}


# ---------------------------------------------------------------- deaths


def test_a_death_at_any_write_leaves_every_number_right(place: Place) -> None:
    records = [*page(1, 130, payload_hash="a"), row("x:1", natural="n")]

    def work(store: AzureStore, base: int) -> None:
        moved = [one._replace(row_key=f"{base}{one.row_key}") for one in records]
        stage(store, *moved)
        settle(store, *(imported(one.row_key) for one in moved[:110]))
        settle(store, *(failed(one.row_key) for one in moved[110:120]))
        store.renew(GROUPS, row_keys=[one.row_key for one in moved[110:115]])
        stage(store, *(one._replace(payload_hash="b") for one in moved[:5]), pass_no=2)

    after = place.store()
    for writes in (0, 1, 2, 4, 7):
        dying = place.store()
        place.life.left = writes
        with pytest.raises(MigrationError):
            work(dying, writes + 1)
        place.life.left = None
        audit(after)
        work(after, writes + 1)
    assert audit(after).total() == 5 * len(records)


def test_processes_that_are_killed_at_any_moment_leave_every_number_right(place: Place) -> None:
    place = place._replace(url=azurite.url())  # one that nobody empties, since others write to it
    place.store()
    output = subprocess.run(
        [sys.executable, "-m", "tests.stores.killed_writer", place.url, "9"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        timeout=300,
    ).stdout.splitlines()
    staged, linked = set[str](), set[str]()
    for what, *ids in map(str.split, output):
        if what == "staged":
            staged |= set(map(str, range(int(ids[0]), int(ids[0]) + int(ids[1]))))
        else:
            linked |= set(ids)
    assert staged
    assert linked
    store = place.store()
    counted = audit(store)
    found = keys(store.records(GROUPS, EVERYTHING, 9999))
    assert set(found) >= staged
    assert store.links("groups", list(linked)).keys() == linked
    assert store.counts(GROUPS) == {status: counted[status] for status in Status}
    assert all(store.holder(GROUPS, f"n{key}") == key for key in found[::100])
