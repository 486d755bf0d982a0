"""The order of ids beside the rows on Azure: segments, and those who merge them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.stores.azure_place import Place, audit, segments
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    keys,
    row,
    stage,
)

from b24migrate.model.records import Span, children_span, order_key
from b24migrate.stores.azure import AzureStore, counts, order
from b24migrate.stores.azure import shards as shards_module


@pytest.fixture
def store(place: Place) -> AzureStore:
    return place.store()


# ---------------------------------------------------------------- the order


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a table with millions of records looks, with some hundred."""
    monkeypatch.setattr(counts, "_WORTH_A_SEGMENT", 20)
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
