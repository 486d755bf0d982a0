"""Records on Azure: what they cost, and that answers which are lost, deaths and others in the way change no number."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import azurite
from tests.contract.lossy import Life, Line, lossy
from tests.contract.shelf import (
    EVERYTHING,
    GROUPS,
    NOON,
    TABLES,
    Time,
    at,
    failed,
    hashed,
    imported,
    keys,
    retried,
    row,
    settle,
    stage,
)

from b24migrate.errors import Halted, MigrationError
from b24migrate.ports import REGISTERS
from b24migrate.records import Settled, Span, Staged, Staging, Status, children_span, order_key
from b24migrate.stores.azure import OWN_TABLES, AzureStore, beside, changing, order, tallies
from b24migrate.stores.azure import shards as shards_module
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.opening import prepare

ROOT = Path(__file__).parents[2]
NAMES = [*(table.name for table in TABLES), *(register.name for register in REGISTERS), *OWN_TABLES]


class Place(NamedTuple):
    """One store in Azurite, behind a line that counts requests and may lose answers."""

    url: str
    environ: dict[str, str]
    line: Line
    life: Life
    opened: ExitStack

    def store(self) -> AzureStore:
        """As another process would open it."""
        account = Account(Address.of(self.url), self.environ)
        prepare(account, NAMES)
        store = AzureStore(account, TABLES, Time())
        self.opened.callback(store.close)
        return store

    @contextmanager
    def asking(self, most: int, least: int = 0) -> Iterator[None]:
        before = self.line.asked.total()
        yield
        assert least <= self.line.asked.total() - before <= most


@pytest.fixture
def place() -> Iterator[Place]:
    url, ports, life = azurite.url(), azurite.start(), Life()
    with ExitStack() as stack:
        line, port = stack.enter_context(lossy(ports["Table"], life))
        opened = stack.enter_context(ExitStack())
        yield Place(url, {**os.environ, "AZURITE_TABLE_PORT": str(port)}, line, life, opened)
        life.left = None


@pytest.fixture
def store(place: Place) -> AzureStore:
    return place.store()


def rows_of(store: AzureStore) -> list[Any]:
    """As they lie there."""
    return list(store.account.table("Groups").list_entities())


def audit(store: AzureStore) -> Counter[str]:
    """Every number is what the rows say, every row is found in order. Returns how many have each status."""
    rows = [one for one in rows_of(store) if not one["RowKey"].startswith("!")]
    counted = Counter(one["Status"] for one in rows)
    assert store.counts(GROUPS) == {status: counted[status] for status in Status}
    pulled = [one for one in rows if one.get("PulledThrough") and one["Status"] in ("NEW", "ERROR_RETRY")]
    assert store.pulled_pending(GROUPS) == len(pulled)
    errors = Counter(
        (one["Status"], one["LastErrorCode"])
        for one in rows
        if one.get("LastErrorCode") and one["Status"] != "IMPORT_OK"
    )
    assert store.error_counts(GROUPS) == errors
    seen = Counter(f"seen:Groups:{one['Pass']}" for one in rows)
    assert all(store.counters("seen:")[name] >= count for name, count in seen.items())
    found = keys(store.records(GROUPS, EVERYTHING, len(rows) + 10))
    assert found == sorted((one.get("Key", one["RowKey"]) for one in rows), key=order_key)
    sent = [one.get("Key", one["RowKey"]) for one in rows if one["Status"] == "IMPORT_OK"]
    assert store.links("groups", sent).keys() >= {one for one in sent if not one.startswith("unlinked")}
    return counted


def segments(store: AzureStore) -> list[Any]:
    return [one for one in rows_of(store) if one["RowKey"].startswith("!keys")]


def shards(store: AzureStore) -> list[Any]:
    return [one for one in rows_of(store) if one["RowKey"].startswith("!count:")]


def page(first: int, count: int, **more: Any) -> list[Staged]:
    return [row(number, "x" * 300, **more) for number in range(first, first + count)]


# ---------------------------------------------------------------- what it costs


def test_a_first_get_costs_one_request_for_a_hundred_records(place: Place, store: AzureStore) -> None:
    with place.asking(most=27):  # 1.08 for 100; 1.3 is allowed
        assert stage(store, *page(10_000, 2500)).added == 2500
    with place.asking(most=27):
        stage(store, *(one._replace(natural=f"{one.row_key}@x.example") for one in page(20_000, 2500)))
    with place.asking(most=3):
        assert len(store.pending(GROUPS, EVERYTHING, 50, now=NOON)) == 50
    with place.asking(most=2):  # what was read of the order is remembered
        assert len(store.records(GROUPS, Span(order_key("12000")), 200)) == 200
    with place.asking(most=1):
        assert store.counts(GROUPS)[Status.NEW] == 5000
    with place.asking(most=4):
        assert store.holder(GROUPS, "20007@x.example") == "20007"


def test_getting_anew_looks_first_and_writes_only_what_changed(place: Place, store: AzureStore) -> None:
    stage(store, *page(1000, 400))
    assert stage(store, row(1000, "x" * 300), pass_no=2).same == 1
    with place.asking(most=1 + 5):
        assert stage(store, *page(1000, 400), pass_no=2) == Staging(same=400, seen=399)
    with place.asking(most=1):
        assert stage(store, *page(1000, 400), pass_no=2) == Staging(same=400)
    with place.asking(most=2):
        assert stage(store, *page(1000, 399), row(1399, "other"), pass_no=2) == Staging(same=399, changed=1)
    with place.asking(most=1 + 1):
        assert stage(store, *page(2000, 90)).added == 90
    with place.asking(most=1):  # nobody was known on the page before
        assert stage(store, *page(2100, 90)).added == 90
    audit(store)


def test_settling_a_batch_costs_three_requests(place: Place, store: AzureStore) -> None:
    stage(store, *page(1000, 90))
    with place.asking(most=3):  # links, what is there, and the change
        settle(store, *(imported(number) for number in range(1000, 1050)))
    with place.asking(most=2):
        settle(store, *(failed(number) for number in range(1050, 1060)))
    audit(store)


def test_what_nobody_needs_is_not_searched_for(place: Place, store: AzureStore) -> None:
    stage(store, *page(1000, 60))
    settle(store, *(imported(number) for number in range(1000, 1060)))
    for question in (
        lambda: store.pending(GROUPS, EVERYTHING, 10, now=NOON),
        lambda: store.waiting(GROUPS, EVERYTHING, now=NOON),
        lambda: store.failed(GROUPS, 10),
        lambda: list(store.error_counts(GROUPS)),
        lambda: store.cuts(GROUPS, EVERYTHING, 10, whole_parents=False, pending=True),
        lambda: [True] * store.renew(GROUPS),
    ):
        with place.asking(most=1):
            assert question() == []


def test_pending_records_behind_many_others_cost_few_requests(place: Place, store: AzureStore) -> None:
    stage(store, *page(10_000, 1500))
    settle(store, *(imported(number)._replace(link=None) for number in range(10_000, 11_499)))
    with place.asking(most=7):
        assert keys(store.pending(GROUPS, EVERYTHING, 20, now=NOON)) == ["11499"]


def test_children_of_a_held_parent_are_passed_over(place: Place, store: AzureStore) -> None:
    stage(store, *(row(f"7:{number}") for number in range(1000, 1600)), *(row(f"8:{number}") for number in (1, 2, 30)))
    with place.asking(most=3):
        assert keys(store.pending(GROUPS, EVERYTHING, 9, now=NOON, hold=["7"])) == ["8:1", "8:2", "8:30"]


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
    settle(store, *(failed(number, attempts=3, losses={"dropped": 1}) for number in range(1, 21)))
    settle(store, *(imported(number) for number in range(21, 31)))
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
    looked = beside.row_beside

    def fold_first(account: Account, table: Any, key: str) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tallies, "row_beside", looked)
            other.tallies._add_up(GROUPS, {one["RowKey"] for one in shards(other)})
            return looked(account, table, key)

    for turn in range(2, 5):
        place.line.lose("POST")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tallies, "row_beside", fold_first)
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
    monkeypatch.setattr(tallies, "_MANY", 6)
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
    monkeypatch.setattr(tallies, "_SOME", 3)
    monkeypatch.setattr(tallies, "_IDLE", timedelta())
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
    monkeypatch.setattr(changing, "_TRIES", 4)
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
    place.store()
    said = subprocess.run(
        [sys.executable, "-m", "tests.contract.mortal", place.url, "10"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        timeout=300,
    ).stdout.splitlines()
    staged, linked = set[str](), set[str]()
    for what, *ids in map(str.split, said):
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


# ---------------------------------------------------------------- the order


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a table with millions of records looks, with some hundred."""
    monkeypatch.setattr(tallies, "_WORTH_A_SEGMENT", 20)
    monkeypatch.setattr(order, "LARGEST", 100)
    monkeypatch.setattr(order, "_MANY", 6)


@pytest.mark.usefixtures("small_segments")
def test_segments_are_merged_and_nothing_is_missing(store: AzureStore) -> None:
    numbers = [(7 * one) % 400 for one in range(400)]
    for start in range(0, 400, 16):
        stage(store, *(row(one, natural=f"n{one % 50}") for one in numbers[start : start + 16]))
        assert len(store.records(GROUPS, EVERYTHING, 999)) == start + 16
    assert len(segments(store)) < 20
    assert store.holder(GROUPS, "n49") == "49"
    assert len(store.cuts(GROUPS, EVERYTHING, 50, whole_parents=False, pending=False)) == 8
    assert audit(store) == {"NEW": 400}


def test_more_tiny_segments_than_a_transaction_takes_are_merged_all_the_same(store: AzureStore) -> None:
    """Every process that ends leaves one."""
    stage(store, *map(row, range(110)))
    for number in range(110):
        made = order.segments_of(GROUPS, shards_module.Added((order_key(str(number)),)))
        store.account.submit(GROUPS.name, made)
    assert len(store.records(GROUPS, EVERYTHING, 999)) == 110
    assert len(segments(store)) < 64


@pytest.mark.usefixtures("small_segments")
def test_whoever_walks_a_table_does_not_miss_what_is_merged_meanwhile(place: Place, store: AzureStore) -> None:
    for start in range(0, 120, 15):
        stage(store, *map(row, range(start, start + 15)))
    walk = place.store().order.keys(GROUPS, EVERYTHING, place.store().order.look(GROUPS))
    met = [*next(walk)]
    for start in range(200, 320, 15):
        stage(store, *map(row, range(start, start + 15)))
        store.order.look(GROUPS)
    met += [key for stretch in walk for key in stretch]
    assert met == sorted(set(met))
    assert set(met) >= {order_key(str(number)) for number in range(120)}


@pytest.mark.usefixtures("small_segments")
def test_several_may_merge_at_once(place: Place) -> None:
    def work(number: int) -> None:
        own = place.store()
        for turn in range(6):
            stage(own, *map(row, range(100 * number + 15 * turn, 100 * number + 15 * turn + 15)))
            own.records(GROUPS, EVERYTHING, 5)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    assert audit(place.store()) == {"NEW": 270}


def test_ids_of_every_kind_come_in_order_and_by_name(store: AzureStore) -> None:
    ids = [
        "0",
        "007",
        "9",
        "10",
        "1000",
        "",
        "/a",
        "a/b",
        "Ж:1",
        "\U0001f600",
        "!x",
        "a'b",
        "5:1",
        "5:m3",
        "5:20",
        "x" * 600,
    ]
    ids += ["9" * 25, "9" * 26, "disk:5", "disk:10", "$", "%41", "a:b:c", "5:", ",", ",a", "a\u2028b"]
    stage(store, *map(row, ids))
    ordered = sorted(ids, key=order_key)
    assert keys(store.records(GROUPS, EVERYTHING, 99)) == ordered
    assert [one for key in ordered for one in keys(store.records(GROUPS, Span(hi=order_key(key)), 99))[-1:]] == ordered
    assert keys(store.records(GROUPS, children_span("5"), 9)) == ["5:1", "5:20", "5:", "5:m3"]
    assert store.get(GROUPS, ids).keys() == set(ids)
    assert store.known(GROUPS, [*ids, "nobody"]) == set(ids)
    audit(store)


# ---------------------------------------------------------------- what a row can hold


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff\xfe not a text",
        b'{"raw": "\x00\x01"}',
        "я".encode() * 32_768,
        "я".encode() * 32_769,
        "\U0001f600".encode() * 16_385,
        b"x" * 3_000_000,
        b"\r\n\t ",
        "\ufffe\uffff".encode(),
    ],
)
def test_every_payload_comes_back_as_it_was(store: AzureStore, payload: bytes) -> None:
    stage(store, Staged("1", payload, "h", extras=payload), Staged("2", payload))
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert (one.payload, one.extras, two.payload, two.extras) == (payload, payload, payload, None)
    assert stage(store, Staged("1", payload, "h", extras=payload), Staged("2", payload)) == Staging(same=2)
    settle(store, imported(1), failed(2))
    assert store.get(GROUPS, ["1"])["1"].payload == payload
    stage(store, Staged("1", b"small", "i"), Staged("2", b"small"))
    assert [one.payload for one in store.records(GROUPS, EVERYTHING, 9)] == [b"small", b"small"]
    assert store.get(GROUPS, ["1"])["1"].extras is None


def test_large_records_are_divided_among_transactions(place: Place, store: AzureStore) -> None:
    with place.asking(most=3):
        stage(store, *(Staged(str(number), b"y" * 32_000, extras=b"z" * 32_000) for number in range(98)))
    assert audit(store) == {"NEW": 98}


def test_an_error_may_be_as_long_as_it_likes_or_nothing_but_spaces(store: AzureStore) -> None:
    stage(store, *map(row, range(4)))
    settle(
        store,
        Settled("0", Status.IMPORT_ERR, 1, "", "ж" * 40_000),
        *(Settled(str(n), Status.IMPORT_ERR, 1, " " * n, "") for n in (1, 2)),
    )
    settle(store, Settled("3", Status.IMPORT_ERR, 1, None, "only a text"))
    long, one, two, three = store.failed(GROUPS, 9)
    assert long.last_error is not None
    assert len(long.last_error) == 10_000
    assert [(found.last_error_code, found.last_error) for found in (one, two)] == [(" ", ""), ("  ", "")]
    assert (three.last_error_code, three.last_error) == ("", "only a text")
    assert store.error_counts(GROUPS) == {("IMPORT_ERR", code): 1 + (code == "") for code in ("", " ", "  ")}
    examples = [store.one_failed(GROUPS, Status.IMPORT_ERR, code) for code in ("", " ", "  ")]
    assert [one and one.row_key for one in examples] == ["0", "1", "2"]


def test_more_error_codes_than_are_counted_are_looked_up(store: AzureStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "_CODES", 5)
    stage(store, *map(row, range(20)))
    settle(store, *(failed(number, f"C{number % 9}") for number in range(18)))
    assert store.error_counts(GROUPS) == {("IMPORT_ERR", f"C{number}"): 2 for number in range(9)}
    settle(store, *(imported(number) for number in range(0, 18, 9)), retried(1, at(5), code="x" * 200))
    found = store.error_counts(GROUPS)
    assert ("IMPORT_ERR", "C0") not in found
    assert found["ERROR_RETRY", "x" * 200] == 1
    audit(store)


def test_a_changed_hash_finds_its_record_under_both_names(store: AzureStore) -> None:
    stage(store, hashed(1, "a", natural="old"), hashed(2, "a", natural="old"))
    stage(store, hashed(1, "b", natural="new"))
    assert (store.holder(GROUPS, "old"), store.holder(GROUPS, "new")) == ("2", "1")
    stage(store, hashed(1, "c", natural="old"))
    assert (store.holder(GROUPS, "old"), store.holder(GROUPS, "new")) == ("1", None)
    audit(store)
