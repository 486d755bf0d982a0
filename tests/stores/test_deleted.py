"""Records that are deleted at the source: marked, counted, met again."""

from __future__ import annotations

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

from b24migrate.model.records import Span, Staging, Status, deleted_counter, order_key
from b24migrate.ports import Store

STAMP = "2026-11-15T12:00:00.000000Z"


def mark(store: Store, *row_keys: str, there: tuple[str, ...] = ()) -> int:
    return store.mark_deleted(GROUPS, row_keys, there=there, now=NOON)


def counted(store: Store) -> int:
    return int(store.counters("deleted:").get(deleted_counter(GROUPS), 0))


def statuses(store: Store) -> dict[str, Status]:
    return {one.row_key: one.status for one in store.records(GROUPS, EVERYTHING, 99)}


def test_what_is_on_the_target_stays_imported_and_the_rest_is_deleted(store: Store) -> None:
    stage(store, *map(row, range(1, 7)))
    settle(store, imported(1), imported(2), failed(3), retried(4, at(9)))
    assert mark(store, "1", "3", "4", "5", "77", there=("1",)) == 4
    assert statuses(store) == {
        "1": Status.IMPORT_OK,
        "2": Status.IMPORT_OK,
        **dict.fromkeys(("3", "4", "5"), Status.DELETED),
        "6": Status.NEW,
    }
    assert store.counts(GROUPS) == {
        Status.NEW: 1,
        Status.IMPORT_OK: 2,
        Status.IMPORT_ERR: 0,
        Status.ERROR_RETRY: 0,
        Status.DELETED: 3,
    }
    assert counted(store) == 4
    assert [(one.row_key, one.deleted_utc) for one in store.deleted(GROUPS, EVERYTHING, 9)] == [
        (key, STAMP) for key in ("1", "3", "4", "5")
    ]
    assert keys(store.deleted(GROUPS, Span(order_key("3")), 1)) == ["4"]
    assert store.deleted(MESSAGES, EVERYTHING, 9) == []
    assert keys(store.pending(GROUPS, EVERYTHING, 9, now=at(99))) == ["6"]
    assert (store.failed(GROUPS, 9), store.error_counts(GROUPS)) == ([], {})
    assert mark(store, "1", "3") == 0  # once
    assert counted(store) == 4
    assert keys(store.sample(GROUPS, 9, seed=1, status=Status.DELETED)) == ["3", "4", "5"]


def test_whom_a_pass_has_met(store: Store) -> None:
    stage(store, *map(row, (1, 2, 3, 9, 10)))
    stage(store, row(2), row(9), pass_no=2)
    mark(store, "3")
    assert keys(store.by_pass(GROUPS, EVERYTHING, 9, pass_no=2, shown=False)) == ["1", "10"]
    assert keys(store.by_pass(GROUPS, EVERYTHING, 9, pass_no=2, shown=True)) == ["2", "9"]
    assert keys(store.by_pass(GROUPS, Span(order_key("1")), 1, pass_no=2, shown=False)) == ["10"]
    assert [one.pass_no for one in store.records(GROUPS, EVERYTHING, 9)] == [1, 2, 1, 2, 1]
    assert store.keys(GROUPS, EVERYTHING, 9) == ["1", "2", "3", "9", "10"]
    assert store.keys(GROUPS, Span(order_key("2"), order_key("10")), 2) == ["3", "9"]


def test_one_that_comes_back_loses_the_mark(store: Store) -> None:
    stage(store, hashed(1), hashed(2), hashed(3), row(4))
    settle(store, imported(1), imported(2))
    mark(store, "1", "2", "3", "4", there=("1", "2"))
    assert stage(store, hashed(1), hashed(2, "b"), hashed(3), row(4), pass_no=2) == Staging(changed=1, same=3, seen=4)
    assert statuses(store) == {"1": Status.IMPORT_OK, "2": Status.NEW, "3": Status.NEW, "4": Status.NEW}
    assert (counted(store), store.deleted(GROUPS, EVERYTHING, 9)) == (0, [])
    assert (store.counts(GROUPS)[Status.NEW], store.counts(GROUPS)[Status.DELETED]) == (3, 0)
    assert [one["DeletedUtc"] for one in store.export(GROUPS, EVERYTHING, 9)] == [None] * 4
    assert stage(store, hashed(1), pass_no=2) == Staging(same=1)
    assert counted(store) == 0


def test_one_that_is_taken_back_is_not_sent_again(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, imported(1), imported(2))
    mark(store, "1", there=("1",))
    assert store.take_back("groups", GROUPS, ["1", "2"]) == 2
    assert statuses(store) == {"1": Status.DELETED, "2": Status.NEW}
    assert store.counts(GROUPS)[Status.DELETED] == 1
    assert counted(store) == 1
    assert store.take_back("groups", GROUPS, ["1", "2"]) == 0
