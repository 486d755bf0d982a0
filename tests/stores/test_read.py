"""Reading staged records back."""

from __future__ import annotations

import pytest
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    MESSAGES,
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

from b24migrate.model.records import Span, Status, children_span, order_key
from b24migrate.ports import Store


def upto(*ends: str) -> list[Span]:
    return [Span(a and order_key(a), b and order_key(b)) for a, b in zip(["", *ends], [*ends, ""], strict=True)]


def test_records_come_in_order_of_id_whatever_their_status(store: Store) -> None:
    stage(store, *map(row, ["10", "9", "100", "2:30", "11:4", "b", "a:7", "2"]))
    settle(store, imported(9), failed(100))
    assert keys(store.records(GROUPS, EVERYTHING, 99)) == ["2", "2:30", "9", "10", "11:4", "100", "a:7", "b"]
    assert keys(store.records(GROUPS, EVERYTHING, 3)) == ["2", "2:30", "9"]


def test_a_span_is_after_its_beginning_up_to_and_with_its_end(store: Store) -> None:
    stage(store, *map(row, range(1, 8)))
    assert keys(store.records(GROUPS, Span(order_key("2"), order_key("5")), 99)) == ["3", "4", "5"]
    assert keys(store.records(GROUPS, Span(hi=order_key("2")), 99)) == ["1", "2"]
    assert keys(store.records(GROUPS, Span(order_key("6")), 99)) == ["7"]


def test_the_children_of_a_parent_are_a_span(store: Store) -> None:
    stage(store, *map(row, ["5", "5:1", "5:20", "5:m3", "50:1", "6:1", "5:1:2"]))
    assert keys(store.records(GROUPS, children_span("5"), 99)) == ["5:1", "5:1:2", "5:20", "5:m3"]


def test_pending_are_the_new_and_the_retries_that_are_due(store: Store) -> None:
    stage(store, *map(row, range(1, 7)))
    settle(store, imported(1), failed(2), retried(3, at(-1)), retried(4, at(1)), retried(5, at(0)))
    assert keys(store.pending(GROUPS, EVERYTHING, 99, now=NOON)) == ["3", "5", "6"]
    assert keys(store.pending(GROUPS, EVERYTHING, 99, now=at(1))) == ["3", "4", "5", "6"]
    assert keys(store.pending(GROUPS, EVERYTHING, 2, now=at(1))) == ["3", "4"]
    assert keys(store.pending(GROUPS, Span(order_key("3"), order_key("5")), 9, now=NOON)) == ["5"]


def test_moments_are_of_all_that_is_pending_due_or_not_and_follow_the_ids(store: Store) -> None:
    times = {"10": "2024-01-02T00:00:00Z", "9": "2024-01-03T00:00:00Z", "2": None, "7:1": "2020-01-01T00:00:00.5Z"}
    stage(store, *(row(key, source_utc=when) for key, when in times.items()), *map(row, ("3", "4")))
    settle(store, imported(3), failed(4), retried(10, at(60)))
    expected = [("2", ""), ("7:1", times["7:1"]), ("9", times["9"]), ("10", times["10"])]
    assert store.moments(GROUPS, EVERYTHING, 99) == expected
    assert store.moments(GROUPS, EVERYTHING, 2) == expected[:2]
    assert store.moments(GROUPS, Span(order_key("2"), order_key("9")), 99) == expected[1:3]


def test_moments_of_the_pulled_through_alone(store: Store) -> None:
    stage(store, row(1, source_utc="2024-01-01T00:00:00Z"), row(2, pulled_through=True), row(3, pulled_through=True))
    settle(store, imported(3))
    assert store.moments(GROUPS, EVERYTHING, 99, pulled=True) == [("2", "")]


def test_children_of_a_held_parent_are_not_pending(store: Store) -> None:
    stage(store, *map(row, ["1:1", "1:2", "11:1", "2:1", "2:x:1", "3", "x:1"]), table=MESSAGES)
    assert keys(store.pending(MESSAGES, EVERYTHING, 9, now=NOON, hold={"1", "x"})) == ["2:1", "2:x:1", "3", "11:1"]
    assert keys(store.pending(MESSAGES, EVERYTHING, 2, now=NOON, hold=["2"])) == ["1:1", "1:2"]
    assert "2:x:1" not in keys(store.pending(MESSAGES, EVERYTHING, 9, now=NOON, hold=["2:x"]))


def test_pending_can_be_only_the_pulled_through(store: Store) -> None:
    stage(store, row(1), row(2, pulled_through=True), row("3:1", pulled_through=True), row(4, pulled_through=True))
    settle(store, imported(4))
    assert keys(store.pending(GROUPS, EVERYTHING, 9, now=NOON, pulled=True)) == ["2", "3:1"]
    assert keys(store.pending(GROUPS, EVERYTHING, 9, now=NOON, pulled=True, hold={"3"})) == ["2"]
    assert store.pulled_pending(GROUPS) == 2


def test_waiting_are_the_retries_that_are_not_due(store: Store) -> None:
    stage(store, *map(row, range(1, 6)))
    settle(store, retried(1, at(5)), retried(3, at(2)), retried(4, at(0)), failed(5))
    assert store.waiting(GROUPS, EVERYTHING, now=NOON) == [("1", at(5)), ("3", at(2))]
    assert store.waiting(GROUPS, Span(order_key("1")), now=NOON) == [("3", at(2))]
    assert store.waiting(GROUPS, EVERYTHING, now=at(5)) == []


def test_get_and_known_name_those_that_exist(store: Store) -> None:
    stage(store, *map(row, range(0, 2000, 2)))
    asked = [str(one) for one in range(1200)] + ["x"]
    assert set(store.get(GROUPS, asked)) == store.known(GROUPS, asked) == {str(one) for one in range(0, 1200, 2)}
    assert store.get(GROUPS, []) == {}
    assert store.known(GROUPS, []) == set()


def test_a_sample_is_the_same_for_the_same_seed(store: Store) -> None:
    stage(store, *map(row, range(200)))
    settle(store, *map(imported, range(100)), failed(150))
    chosen = store.sample(GROUPS, 10, seed=7, status=Status.IMPORT_OK)
    assert len({one.row_key for one in chosen}) == 10
    assert {one.status for one in chosen} == {Status.IMPORT_OK}
    assert store.sample(GROUPS, 10, seed=7, status=Status.IMPORT_OK) == chosen
    assert any(store.sample(GROUPS, 10, seed=seed, status=Status.IMPORT_OK) != chosen for seed in range(3))


@pytest.mark.parametrize("status", list(Status))
def test_a_sample_takes_all_where_there_are_few(store: Store, status: Status) -> None:
    stage(store, *map(row, range(8)))
    settle(store, imported(1), imported(5), failed(2), failed(6), retried(3, at(9)), retried(7, at(9)))
    expected = [one for one in store.records(GROUPS, EVERYTHING, 99) if one.status is status]
    assert store.sample(GROUPS, 5, seed=1, status=status) == expected
    assert store.sample(MESSAGES, 5, seed=1, status=status) == []


def test_a_sample_does_not_depend_on_the_order_of_staging(store: Store) -> None:
    stage(store, *(hashed(one) for one in range(50)), table=GROUPS)
    stage(store, *(hashed(one) for one in reversed(range(50))), table=MESSAGES)
    chosen = [store.sample(table, 5, seed=3, status=Status.NEW) for table in (GROUPS, MESSAGES)]
    assert chosen[0] == chosen[1]


def test_every_record_can_be_in_a_sample(store: Store) -> None:
    stage(store, *map(row, range(10)))
    met = {one.row_key for seed in range(60) for one in store.sample(GROUPS, 2, seed=seed, status=Status.NEW)}
    assert len(met) == 10


def test_failed_are_errors_and_retries_in_order(store: Store) -> None:
    stage(store, *map(row, range(1, 12)))
    settle(store, failed(10, "A"), failed(9, "B"), retried(2, at(5), code="A"), imported(3))
    assert keys(store.failed(GROUPS, 99)) == ["2", "9", "10"]
    assert keys(store.failed(GROUPS, 99, code="A")) == ["2", "10"]
    assert keys(store.failed(GROUPS, 1)) == ["2"]
    assert store.failed(GROUPS, 1)[0].last_error == "later"


def test_an_example_has_the_status_and_the_code_that_were_asked_for(store: Store) -> None:
    stage(store, *map(row, range(1, 8)))
    settle(store, imported(1), failed(2, "A"), failed(3, "B"), retried(4, at(5), code="A"), failed(5, "A"))
    found = store.one_failed(GROUPS, Status.IMPORT_ERR, "A")
    assert found is not None
    assert found.row_key in ("2", "5")
    assert (found.status, found.last_error_code) == (Status.IMPORT_ERR, "A")
    waits = store.one_failed(GROUPS, Status.ERROR_RETRY, "A")
    assert waits is not None
    assert waits.row_key == "4"
    assert store.one_failed(GROUPS, Status.ERROR_RETRY, "B") is None
    assert store.one_failed(GROUPS, Status.IMPORT_ERR, "C") is None
    settle(store, imported(3))
    assert store.one_failed(GROUPS, Status.IMPORT_ERR, "B") is None


def test_errors_are_counted_by_status_and_code(store: Store) -> None:
    stage(store, *map(row, range(1, 9)))
    settle(store, failed(1, "A"), failed(2, "A"), failed(3, "B"), retried(4, at(5), code="A"))
    settle(store, imported(5, error_code="IGNORED", error="it went in without its photo"))
    assert store.error_counts(GROUPS) == {("IMPORT_ERR", "A"): 2, ("IMPORT_ERR", "B"): 1, ("ERROR_RETRY", "A"): 1}
    settle(store, imported(1))
    assert store.error_counts(GROUPS)["IMPORT_ERR", "A"] == 1


def test_the_holder_of_a_natural_key_is_the_lowest_id(store: Store) -> None:
    stage(store, row(10, natural="a@b.c"), row(9, natural="a@b.c"), row(1), row(2, natural="x"))
    assert store.holder(GROUPS, "a@b.c") == "9"
    assert store.holder(GROUPS, "x") == "2"
    assert store.holder(GROUPS, "nobody") is None
    stage(store, row(9, "moved", natural="y"))
    assert store.holder(GROUPS, "a@b.c") == "10"


def test_cuts_divide_a_table_into_consecutive_spans(store: Store) -> None:
    stage(store, *map(row, range(1, 11)))
    assert store.cuts(GROUPS, EVERYTHING, 4, whole_parents=False, pending=False) == upto("4", "8")
    assert store.cuts(GROUPS, EVERYTHING, 5, whole_parents=False, pending=False) == upto("5")
    assert store.cuts(GROUPS, EVERYTHING, 50, whole_parents=False, pending=False) == [EVERYTHING]
    inner = Span(order_key("2"), order_key("9"))
    assert [one.lo for one in store.cuts(GROUPS, inner, 3, whole_parents=False, pending=False)] == [
        inner.lo,
        order_key("5"),
        order_key("8"),
    ]


def test_cuts_of_pending_records_count_only_those(store: Store) -> None:
    stage(store, *map(row, range(1, 11)))
    settle(store, *map(imported, range(1, 7)), retried(8, at(60)))
    assert store.cuts(GROUPS, EVERYTHING, 2, whole_parents=False, pending=True) == upto("8")
    settle(store, *map(imported, range(1, 11)))
    assert store.cuts(GROUPS, EVERYTHING, 2, whole_parents=False, pending=True) == []


def test_cuts_of_nothing_are_none(store: Store) -> None:
    assert store.cuts(GROUPS, EVERYTHING, 2, whole_parents=True, pending=False) == []


def test_cuts_never_divide_the_children_of_a_parent(store: Store) -> None:
    stage(store, *map(row, ["1:1", "1:2", "1:3", "2:1", "2:2", "3:1", "4"]), table=MESSAGES)
    cuts = store.cuts(MESSAGES, EVERYTHING, 2, whole_parents=True, pending=False)
    assert [keys(store.records(MESSAGES, one, 99)) for one in cuts] == [
        ["1:1", "1:2", "1:3"],
        ["2:1", "2:2"],
        ["3:1", "4"],
    ]


def test_a_large_family_begins_a_cut(store: Store) -> None:
    stage(store, *map(row, ["1:1", "2:1", "2:2", "2:3", "2:4", "3:1", "4:1"]), table=MESSAGES)
    cuts = store.cuts(MESSAGES, EVERYTHING, 3, whole_parents=True, pending=False)
    assert [keys(store.records(MESSAGES, one, 99)) for one in cuts] == [
        ["1:1"],
        ["2:1", "2:2", "2:3", "2:4"],
        ["3:1", "4:1"],
    ]
