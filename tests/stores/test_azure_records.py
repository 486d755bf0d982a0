"""What only the records on Azure have to prove: what they cost, and what a row can hold."""

from __future__ import annotations

import pytest
from tests.stores.azure_place import Place, audit, page
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    NOON,
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

from b24migrate.model.records import Settled, Span, Staged, Staging, Status, order_key
from b24migrate.stores.azure import AzureStore
from b24migrate.stores.azure import shards as shards_module


@pytest.fixture
def store(place: Place) -> AzureStore:
    return place.store()


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
