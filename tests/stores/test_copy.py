"""Whole rows, registers, counters and jobs on their way into another store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings
from tests.stores.samples import (
    EVERYTHING,
    GROUPS,
    MESSAGES,
    NOON,
    Open,
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

from b24migrate.model.records import COLUMNS, LONGEST_ERROR, Job, Json, Span, Status, order_key
from b24migrate.ports import CUSTOM_FIELDS, ENTITIES_STATE, ID_MAP, PAGE_LOG, Queue, RegisterRow, Store, Waiting

A, B, C = (Job("groups-get", "read", {"after": one, "deep": {"x": [1, None, "ж"]}}) for one in "abc")


def full_row(key: str | int, **more: Json) -> dict[str, Json]:
    """A row as `export` gives it."""
    columns = {"RowKey": str(key), "Status": "NEW", "Payload": b"{}", "Attempts": 0, "PulledThrough": False}
    return {**dict.fromkeys(COLUMNS), **columns, "Revision": 0, "Pass": 1, "RunId": "r", "MigrationVersion": 1, **more}


def test_a_row_is_exported_with_every_column(store: Store) -> None:
    stage(
        store,
        hashed(
            7,
            source_original="2026-01-02T03:04:05+03:00",
            source_utc="2026-01-02T00:04:05Z",
            original_offset_min=180,
            extras=b'{"a": 1}',
            pulled_through=True,
            natural="x@y.example",
        ),
    )
    settle(store, imported(7, attempts=2, losses={"dropped": 2}))
    (found,) = store.export(GROUPS, EVERYTHING, 10)
    assert found == {
        "RowKey": "7",
        "Status": "IMPORT_OK",
        "Payload": b'{"ID": "7",  "NAME": "a"}',
        "PayloadHash": hashed(7).payload_hash,
        "Extras": b'{"a": 1}',
        "NaturalKey": "x@y.example",
        "Attempts": 2,
        "LastErrorCode": None,
        "LastError": None,
        "LastErrorAtUtc": None,
        "RetryAfterUtc": None,
        "TargetId": "t7",
        "ImportedAtUtc": "2026-11-15T12:00:00.000000Z",
        "SourceOriginal": "2026-01-02T03:04:05+03:00",
        "SourceUtc": "2026-01-02T00:04:05Z",
        "OriginalOffsetMin": 180,
        "PulledThrough": True,
        "Revision": 0,
        "Losses": '{"dropped":2}',
        "LastErrorMessage": None,
        "DeletedUtc": None,
        "Pass": 1,
        "RunId": "run-1",
        "MigrationVersion": 1,
    }
    assert set(found) == set(COLUMNS)


def test_of_a_long_error_every_store_gives_the_same(store: Store) -> None:
    """So that a copy of a store with one is equal to it."""
    stage(store, row(7))
    settle(store, failed(7, code="X" * 20_000)._replace(error="ж" * 20_000))
    (found,) = store.export(GROUPS, EVERYTHING, 10)
    assert (found["LastErrorCode"], found["LastError"]) == ("X" * LONGEST_ERROR, "ж" * LONGEST_ERROR)


def test_rows_are_exported_in_order_a_stretch_at_a_time(store: Store) -> None:
    stage(store, *map(row, ("10", "9", "2:30", "11:4", "x", "100")))
    walked: list[str] = []
    while stretch := store.export(GROUPS, Span(order_key(walked[-1]) if walked else ""), 4):
        assert len(stretch) <= 4
        walked += [one["RowKey"] for one in stretch]
    assert walked == keys(store.records(GROUPS, EVERYTHING, 10))
    inside = store.export(GROUPS, Span(order_key("9"), order_key("100")), 10)
    assert [one["RowKey"] for one in inside] == ["10", "11:4", "100"]


def test_what_was_exported_is_restored_as_it_was(store: Store) -> None:
    stage(store, row(1), hashed(2, pulled_through=True), row("3:1"), row(4))
    settle(store, imported(1), failed(2), retried("3:1", at(60)))
    rows = store.export(GROUPS, EVERYTHING, 10)
    store.restore(MESSAGES, rows)
    assert store.export(MESSAGES, EVERYTHING, 10) == rows
    assert store.counts(MESSAGES) == store.counts(GROUPS)
    assert store.records(MESSAGES, EVERYTHING, 10) == store.records(GROUPS, EVERYTHING, 10)


def test_restored_rows_are_found_like_staged_ones(store: Store) -> None:
    store.restore(
        GROUPS,
        [
            full_row(9, NaturalKey="a@b.example"),
            full_row(10, Status="IMPORT_OK", NaturalKey="a@b.example"),
            full_row("2:1", Status="ERROR_RETRY", RetryAfterUtc="2026-11-15T12:01:00.000000Z", LastErrorCode="SLOW"),
            full_row("2:2", Status="IMPORT_ERR", LastErrorCode="BAD", LastError="no"),
            full_row(11, PulledThrough=True),
        ],
    )
    assert keys(store.records(GROUPS, EVERYTHING, 10)) == ["2:1", "2:2", "9", "10", "11"]
    assert keys(store.pending(GROUPS, EVERYTHING, 10, now=NOON)) == ["9", "11"]
    assert keys(store.pending(GROUPS, EVERYTHING, 10, now=at(60))) == ["2:1", "9", "11"]
    assert keys(store.pending(GROUPS, EVERYTHING, 10, now=NOON, pulled=True)) == ["11"]
    assert store.waiting(GROUPS, EVERYTHING, now=NOON) == [("2:1", at(60))]
    assert keys(store.failed(GROUPS, 10)) == ["2:1", "2:2"]
    assert store.error_counts(GROUPS) == {("ERROR_RETRY", "SLOW"): 1, ("IMPORT_ERR", "BAD"): 1}
    assert store.holder(GROUPS, "a@b.example") == "9"
    assert keys(store.sample(GROUPS, 5, seed=1, status=Status.IMPORT_OK)) == ["10"]
    assert store.cuts(GROUPS, EVERYTHING, 100, whole_parents=True, pending=False) == [EVERYTHING]
    assert store.pulled_pending(GROUPS) == 1
    assert stage(store, row(9), row(12)).added == 1
    assert store.renew(GROUPS) == 2


def test_restoring_twice_changes_nothing(store: Store) -> None:
    rows = [full_row(1), full_row(2, Status="IMPORT_OK"), full_row(3, PulledThrough=True)]
    for _ in range(3):
        store.restore(GROUPS, rows)
    store.restore(GROUPS, [])
    assert store.export(GROUPS, EVERYTHING, 10) == rows
    assert store.counts(GROUPS) == {**dict.fromkeys(Status, 0), Status.NEW: 2, Status.IMPORT_OK: 1}
    assert store.pulled_pending(GROUPS) == 1


def test_a_restored_row_takes_the_place_of_what_was_there(store: Store) -> None:
    stage(store, hashed(1, pulled_through=True), row(2))
    settle(store, failed(1))
    store.restore(GROUPS, [full_row(1, Status="IMPORT_OK", Revision=3, TargetId="t")])
    assert store.export(GROUPS, Span("", order_key("1")), 10) == [
        full_row(1, Status="IMPORT_OK", Revision=3, TargetId="t")
    ]
    assert store.counts(GROUPS) == {**dict.fromkeys(Status, 0), Status.NEW: 1, Status.IMPORT_OK: 1}
    assert store.error_counts(GROUPS) == {}


def test_a_restored_pass_goes_on_being_counted(store: Store) -> None:
    """Who was met in the pass before the move is not counted for it once more."""
    store.restore(GROUPS, [full_row(1, Pass=2), full_row(2, Pass=1)])
    store.set_counters({"seen:Groups:1": 2, "seen:Groups:2": 1})
    assert stage(store, row(1), row(2), row(3), pass_no=2).seen == 2
    assert store.counters("seen:") == {"seen:Groups:1": 2, "seen:Groups:2": 3}


def test_restoring_leaves_the_counters_alone(store: Store) -> None:
    store.add({"seen:Groups:1": 5, "retries:groups": 2})
    store.restore(GROUPS, [full_row(1)])
    assert store.counters() == {"seen:Groups:1": 5, "retries:groups": 2}


def test_counters_are_set_and_not_added(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, failed(1, attempts=3, losses={"placeholders": 2}))
    store.add({"limit_wait:im.get": 0.1, "other": 4})
    wanted = {"seen:Groups:1": 7, "retries:groups": 1, "limit_wait:im.get": 0.1 + 0.2, "x:ж": -2.5}
    for _ in range(2):
        store.set_counters(wanted)
        assert {name: value for name, value in store.counters().items() if value} == wanted
    store.add({"retries:groups": 2})
    stage(store, row(3))
    assert store.counters("retries:") == {"retries:groups": 3}
    assert store.counters("seen:") == {"seen:Groups:1": 8}
    store.set_counters({})
    assert not any(store.counters().values())


def test_all_rows_of_a_register_come_from_every_partition(store: Store) -> None:
    store.write(CUSTOM_FIELDS, [RegisterRow("UF_A", {"Type": one}, partition=one) for one in ("tasks", "users")])
    found = [(one.partition, one.key, one.values["Type"]) for one in store.all_rows(CUSTOM_FIELDS)]
    assert sorted(found) == [("tasks", "UF_A", "tasks"), ("users", "UF_A", "users")]
    assert list(store.all_rows(PAGE_LOG)) == []


def test_a_long_register_is_walked_to_its_end(store: Store, many: int) -> None:
    rows = [RegisterRow(f"users:{n}", {"TargetId": f"t{n}", "Digest": ""}) for n in range(many)]
    store.write(ID_MAP, rows)
    assert sorted(one.key for one in store.all_rows(ID_MAP)) == sorted(one.key for one in rows)


def test_rows_of_a_register_may_change_hands_while_they_are_walked(store: Store) -> None:
    store.write(ENTITIES_STATE, [RegisterRow(str(n), {"Counts": {"n": n}}) for n in range(50)])
    for one in store.all_rows(ENTITIES_STATE):
        store.write(ENTITIES_STATE, [one])
    assert store.count(ENTITIES_STATE, "") == 50


def test_a_row_that_was_written_anew_can_be_swapped(store: Store) -> None:
    store.write(ENTITIES_STATE, [RegisterRow("groups", {"Counts": {"pass": 2}}, version=17)])
    found = store.read(ENTITIES_STATE, "groups")
    assert found is not None
    assert store.swap(ENTITIES_STATE, found._replace(values={"Counts": {"pass": 3}}))


def test_jobs_are_listed_oldest_first_whatever_their_state(queue: Queue) -> None:
    assert queue.jobs() == []
    queue.put([C.tried(1, 2)])
    queue.put([A], visible_at=at(5.25))
    queue.put([B])
    assert queue.jobs() == [Waiting(C.tried(1, 2)), Waiting(A, at(5.25)), Waiting(B)]
    lease = queue.claim("host:1:0", now=NOON, lease_s=60)
    assert lease is not None
    assert queue.jobs() == [Waiting(C.tried(1, 2), at(60), held=True), Waiting(A, at(5.25)), Waiting(B)]
    queue.park(lease, until=at(9), job=C.tried(2, 3))
    assert queue.jobs() == [Waiting(C.tried(2, 3), at(9)), Waiting(A, at(5.25)), Waiting(B)]


def test_a_job_that_ended_is_not_listed(queue: Queue) -> None:
    queue.put([A, B])
    for ending in ("finish", "bury"):
        lease = queue.claim("host:1:0", now=NOON, lease_s=60)
        assert lease is not None
        if ending == "finish":
            queue.finish(lease, [C])
        else:
            queue.bury(lease, code="X", reason="x", now=NOON)
    assert [one.job for one in queue.jobs()] == [C]


def test_a_letter_keeps_the_time_it_died(queue: Queue) -> None:
    queue.letter(A, code="X", reason="жук", now=at(-3.000001))
    assert queue.dead()[0].died_at == "2026-11-15T11:59:56.999999Z"


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
JSON_TEXT = st.one_of(TEXT, TEXT.map(lambda one: one * 3000)).map(lambda one: one.encode())
STAMP = st.datetimes().map(lambda one: one.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0"))
ROW_KEY = st.one_of(
    st.integers(0, 10**24).map(str),
    st.tuples(st.integers(1, 30), st.integers(1, 30)).map(lambda both: f"{both[0]}:{both[1]}"),
    st.text(st.characters(min_codepoint=33, max_codepoint=0x4FF, exclude_categories=["Cc"]), min_size=1, max_size=20),
)
COLUMN: Mapping[str, st.SearchStrategy[Any]] = {
    "RowKey": ROW_KEY,
    "Status": st.sampled_from([status.value for status in Status]),
    "Payload": JSON_TEXT,
    "PayloadHash": st.none() | TEXT,
    "Extras": st.none() | JSON_TEXT,
    "NaturalKey": st.none() | TEXT,
    "Attempts": st.integers(0, 5),
    "LastErrorCode": st.none() | TEXT,
    "LastError": st.none() | TEXT,
    "LastErrorAtUtc": st.none() | STAMP,
    "RetryAfterUtc": st.none() | STAMP,
    "TargetId": st.none() | TEXT,
    "ImportedAtUtc": st.none() | STAMP,
    "SourceOriginal": st.none() | TEXT,
    "SourceUtc": st.none() | STAMP,
    "OriginalOffsetMin": st.none() | st.integers(-840, 840),
    "PulledThrough": st.booleans(),
    "Revision": st.integers(0, 2**40),
    "Losses": st.none() | st.just('{"dropped":2}'),
    "LastErrorMessage": st.none() | st.just('{"key":"skip.copilot","values":{}}'),
    "DeletedUtc": st.none() | STAMP,
    "Pass": st.integers(0, 9),
    "RunId": st.none() | TEXT,
    "MigrationVersion": st.integers(1, 3),
}
ROWS = st.lists(st.fixed_dictionaries(dict(COLUMN)), max_size=12, unique_by=lambda one: str(one["RowKey"]))


def test_whatever_is_restored_is_exported(
    backend: Open, tmp_path_factory: Any, examples: Callable[[int], settings]
) -> None:
    @examples(30)
    @given(ROWS, ROWS)
    def restored(first: list[dict[str, Json]], second: list[dict[str, Json]]) -> None:
        folder: Path = tmp_path_factory.mktemp("store")
        store, _, _ = backend(folder, Time())
        try:
            store.restore(GROUPS, first)
            store.restore(GROUPS, second)
            model = {one["RowKey"]: one for one in chain(first, second)}
            ordered = sorted(model.values(), key=lambda one: order_key(one["RowKey"]))
            assert store.export(GROUPS, EVERYTHING, 100) == ordered
            counted = [sum(one["Status"] == status for one in ordered) for status in Status]
            assert list(store.counts(GROUPS).values()) == counted
            due = {Status.NEW, Status.ERROR_RETRY}
            assert store.pulled_pending(GROUPS) == sum(one["PulledThrough"] and one["Status"] in due for one in ordered)
        finally:
            store.close()

    restored()
