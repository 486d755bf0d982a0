"""Store.settle, renew and the links."""

from __future__ import annotations

import pytest
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

from b24migrate.model.records import Link, Settled, Status
from b24migrate.ports import ID_MAP, Store


def test_an_imported_record_has_its_target_id_and_its_link(store: Store) -> None:
    stage(store, row(1))
    settle(store, imported(1))
    record = store.get(GROUPS, ["1"])["1"]
    assert (record.status, record.target_id, record.attempts) == (Status.IMPORT_OK, "t1", 1)
    assert store.links("groups", ["1", "2"]) == {"1": Link("1", "t1", "d")}


def test_a_failed_record_carries_its_error(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, failed(1, "NAME_EMPTY"), retried(2, at(6), attempts=2))
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert (one.status, one.last_error_code, one.last_error) == (Status.IMPORT_ERR, "NAME_EMPTY", "NAME_EMPTY happened")
    assert (two.status, two.attempts, two.retry_after_utc) == (Status.ERROR_RETRY, 2, "2026-11-15T12:00:06.000000Z")


def test_counts_follow_every_status(store: Store) -> None:
    stage(store, *map(row, range(10)))
    settle(store, imported(1), imported(2), failed(3), retried(4, at(6)))
    settle(store, imported(4), failed(5))
    assert store.counts(GROUPS) == {
        Status.NEW: 5,
        Status.IMPORT_OK: 3,
        Status.IMPORT_ERR: 2,
        Status.ERROR_RETRY: 0,
        Status.DELETED: 0,
    }


def test_settling_twice_changes_nothing(store: Store) -> None:
    stage(store, *map(row, range(4)))
    outcomes = [imported(1, 2, losses={"dropped": 2}), failed(2, attempts=3), retried(3, at(6))]
    settle(store, *outcomes)
    before = store.records(GROUPS, EVERYTHING, 9), store.counts(GROUPS), store.counters()
    settle(store, *outcomes)
    assert (store.records(GROUPS, EVERYTHING, 9), store.counts(GROUPS), store.counters()) == before


def test_retries_are_the_attempts_past_the_first(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, retried(1, at(2)), imported(2, 1))
    assert store.counters("retries:") == {}
    settle(store, retried(1, at(6), attempts=2))
    settle(store, imported(1, 3))
    assert store.counters("retries:") == {"retries:groups": 2}


def count_losses(store: Store) -> dict[str, float]:
    counted = {name: store.counters(name).get(f"{name}:groups", 0) for name in ("dropped", "placeholder")}
    counters = {f"{name}:groups": count for name, count in counted.items() if count}
    assert sum(counters.values()) == sum(sum(one.losses.values()) for one in store.records(GROUPS, EVERYTHING, 9))
    return counters


def test_the_losses_of_a_record_that_is_sent_again_replace_those_it_had(store: Store) -> None:
    stage(store, hashed(1), hashed(2))
    settle(store, imported(1, losses={"dropped": 2, "placeholder": 1}), imported(2, losses={"dropped": 4}))
    assert count_losses(store) == {"dropped:groups": 6, "placeholder:groups": 1}
    stage(store, hashed(1, "changed"))
    assert count_losses(store) == {"dropped:groups": 6, "placeholder:groups": 1}
    settle(store, imported(1, losses={"dropped": 1}))
    assert count_losses(store) == {"dropped:groups": 5}
    settle(store, imported(1))
    assert count_losses(store) == {"dropped:groups": 4}


def test_a_record_that_could_not_be_sent_again_is_there_as_it_was_and_lacks_what_it_lacked(store: Store) -> None:
    stage(store, hashed(1), hashed(2))
    settle(store, imported(1, losses={"dropped": 2}), failed(2, losses={"dropped": 9}))
    stage(store, hashed(1, "changed"))
    settle(store, retried(1, at(6)))
    settle(store, failed(1))
    store.renew(GROUPS)
    assert count_losses(store) == {"dropped:groups": 2}
    assert store.get(GROUPS, ["1"])["1"].losses == {"dropped": 2}


def test_what_is_taken_back_has_lost_nothing(store: Store) -> None:
    stage(store, hashed(1), hashed(2), hashed(3))
    settle(store, *(imported(one, losses={"dropped": one, "placeholder": 1}) for one in (1, 2, 3)))
    stage(store, hashed(2, "changed"))
    for _ in range(2):
        store.take_back("groups", GROUPS, ["1", "2"])
        assert count_losses(store) == {"dropped:groups": 3, "placeholder:groups": 1}
    settle(store, imported(1, losses={"dropped": 1}))
    assert count_losses(store) == {"dropped:groups": 4, "placeholder:groups": 1}


def test_what_records_went_without_can_be_told_anew(store: Store) -> None:
    stage(store, hashed(1), hashed(2), hashed(3))
    settle(store, imported(1, losses={"dropped": 2}), imported(2), imported(3, losses={"dropped": 5}))
    stage(store, hashed(2, "changed"))
    for _ in range(2):
        store.lose("groups", GROUPS, {"1": {}, "2": {"placeholder": 7}, "77": {"dropped": 1}})
        assert count_losses(store) == {"dropped:groups": 5, "placeholder:groups": 7}
    assert [one.status for one in store.records(GROUPS, EVERYTHING, 9)] == ["IMPORT_OK", "NEW", "IMPORT_OK"]
    store.lose("groups", GROUPS, {})
    assert count_losses(store) == {"dropped:groups": 5, "placeholder:groups": 7}


def test_a_record_settled_twice_in_one_call_lost_what_it_lost_last(store: Store) -> None:
    stage(store, row(1))
    settle(store, imported(1, losses={"dropped": 3}), imported(1, 2, losses={"dropped": 1}))
    assert count_losses(store) == {"dropped:groups": 1}


def test_a_record_that_failed_after_its_import_keeps_its_target_id(store: Store) -> None:
    stage(store, row(1))
    settle(store, imported(1))
    settle(store, failed(1))
    assert store.get(GROUPS, ["1"])["1"].target_id == "t1"


def test_a_record_settled_twice_in_one_call_has_the_last_outcome(store: Store) -> None:
    stage(store, row(1))
    settle(store, retried(1, at(6)), imported(1, 2))
    assert store.counts(GROUPS)[Status.IMPORT_OK] == 1
    assert sum(store.counts(GROUPS).values()) == 1
    assert store.counters("retries:") == {"retries:groups": 1}


def test_settling_what_is_not_staged_counts_nothing(store: Store) -> None:
    settle(store, imported("ghost"))
    assert store.counts(GROUPS) == dict.fromkeys(Status, 0)


def test_settling_nothing_is_nothing(store: Store) -> None:
    settle(store)
    store.link("groups", [], now=NOON)
    assert store.counters() == {}


def test_renewed_records_are_new_without_attempts_or_error(store: Store) -> None:
    stage(store, *map(row, range(1, 6)))
    settle(store, failed(1, "A", 3), failed(2, "B"), retried(3, at(60), code="A"), imported(4))
    assert store.renew(GROUPS, code="A") == 2
    one = store.get(GROUPS, ["1"])["1"]
    assert (one.status, one.attempts, one.last_error_code, one.last_error) == (Status.NEW, 0, None, None)
    assert keys(store.pending(GROUPS, EVERYTHING, 9, now=NOON)) == ["1", "3", "5"]
    assert store.renew(GROUPS, row_keys=["2", "4", "77"]) == 1
    assert store.renew(GROUPS) == 0
    assert store.counts(GROUPS) == dict.fromkeys(Status, 0) | {Status.NEW: 4, Status.IMPORT_OK: 1}


def test_renewing_can_name_records_and_a_code(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, failed(1, "A"), failed(2, "B"))
    assert store.renew(GROUPS, code="A", row_keys=["1", "2"]) == 1
    assert store.renew(GROUPS, row_keys=[]) == 0


def test_renewing_goes_through_any_number(store: Store, many: int) -> None:
    stage(store, *map(row, range(many)))
    settle(store, *map(failed, range(many)))
    assert store.renew(GROUPS) == many
    assert store.counts(GROUPS)[Status.NEW] == many


@pytest.mark.parametrize("origin", ["matched", "loaded"])
def test_links_that_no_import_made(store: Store, origin: str) -> None:
    store.link("users", [Link("1", "11", origin=origin), Link("disk:5", "55")], now=NOON)
    store.link("users", [Link("1", "12", origin=origin)], now=NOON)
    assert store.links("users", {"1", "disk:5"}) == {"1": Link("1", "12", "", origin), "disk:5": Link("disk:5", "55")}


def test_links_of_one_stream_are_not_another_s(store: Store) -> None:
    store.link("chats", [Link("1", "a")], now=NOON)
    store.link("chat", [Link("1", "b")], now=NOON)
    store.link("chats_more", [Link("1", "c")], now=NOON)
    assert list(store.all_links("chats")) == [Link("1", "a")]
    assert store.links("chat", ["1"])["1"].target_id == "b"


def test_all_links_are_each_there_once(store: Store, many: int) -> None:
    links = [Link(str(one), f"t{one}") for one in range(many + 1)]
    store.link("users", links, now=NOON)
    assert sorted(store.all_links("users")) == sorted(links)
    assert list(store.all_links("nobody")) == []


def test_links_can_be_written_while_all_are_walked(store: Store, many: int) -> None:
    store.link("users", [Link(str(one), "t") for one in range(many)], now=NOON)
    for link in store.all_links("users"):
        if link.source_id.endswith("00"):
            store.link("users", [link._replace(target_id="u")], now=NOON)
    assert sum(link.target_id == "u" for link in store.all_links("users")) == many // 100 - 1


def test_what_is_taken_back_is_as_if_it_had_never_been_sent(store: Store) -> None:
    stage(store, *map(row, range(1, 7)), hashed(7, pulled_through=True))
    settle(store, imported(1), imported(2, 3), failed(3), retried(4, at(60)), imported(7))
    assert store.take_back("groups", GROUPS, ["1", "3", "4", "5", "7", "77"]) == 4
    assert store.take_back("groups", GROUPS, ["1", "3", "4", "5", "7"]) == 0
    for one in store.get(GROUPS, ["1", "3", "4", "7"]).values():
        assert (one.status, one.attempts, one.target_id) == (Status.NEW, 0, None)
        assert (one.last_error_code, one.last_error, one.retry_after_utc) == (None, None, None)
    assert {row["ImportedAtUtc"] for row in store.export(GROUPS, EVERYTHING, 9) if row["RowKey"] != "2"} == {None}
    assert store.get(GROUPS, ["2"])["2"].target_id == "t2"
    assert store.counts(GROUPS) == dict.fromkeys(Status, 0) | {Status.NEW: 6, Status.IMPORT_OK: 1}
    assert store.pulled_pending(GROUPS) == 1
    assert keys(store.pending(GROUPS, EVERYTHING, 9, now=NOON)) == ["1", "3", "4", "5", "6", "7"]


def test_a_record_that_was_changed_after_its_import_is_taken_back_too(store: Store) -> None:
    stage(store, hashed(1))
    settle(store, imported(1))
    stage(store, hashed(1, "changed"))
    assert store.take_back("groups", GROUPS, ["1"]) == 1
    assert store.get(GROUPS, ["1"])["1"].target_id is None


def test_what_was_taken_back_is_imported_again(store: Store) -> None:
    stage(store, hashed(1))
    settle(store, imported(1))
    store.take_back("groups", GROUPS, ["1"])
    settle(store, imported(1), now=at(60))
    (again,) = store.export(GROUPS, EVERYTHING, 9)
    assert (again["TargetId"], again["ImportedAtUtc"]) == ("t1", "2026-11-15T12:01:00.000000Z")


def test_taking_back_goes_through_any_number(store: Store, many: int) -> None:
    stage(store, *map(row, range(many)))
    settle(store, *map(imported, range(many)))
    assert store.take_back("groups", GROUPS, [str(one) for one in range(many)]) == many
    store.unlink("groups", [str(one) for one in range(many)])
    assert store.counts(GROUPS)[Status.NEW] == many
    assert list(store.all_links("groups")) == []


def test_a_record_that_is_sent_again_was_imported_when_it_was_first(store: Store) -> None:
    stage(store, hashed(1))
    settle(store, imported(1))
    stage(store, hashed(1, "changed"))
    settle(store, imported(1), now=at(60))
    (row,) = store.export(GROUPS, EVERYTHING, 9)
    assert row["ImportedAtUtc"] == "2026-11-15T12:00:00.000000Z"


def test_forgotten_links_are_gone_and_others_stay(store: Store) -> None:
    store.link("chats", [Link("1", "a"), Link("11", "b"), Link("1:1", "c")], now=NOON)
    store.link("chat", [Link("1", "d")], now=NOON)
    store.unlink("chats", ["1", "2"])
    store.unlink("chats", ["1", "2"])
    store.unlink("chats", [])
    assert sorted(store.all_links("chats")) == [Link("11", "b"), Link("1:1", "c")]
    assert list(store.all_links("chat")) == [Link("1", "d")]


def test_the_id_map_is_a_register_by_stream_and_id(store: Store) -> None:
    settle(store, Settled("1", Status.IMPORT_OK, 1, link=Link("1", "77", "digest")))
    row = store.read(ID_MAP, "groups:1")
    assert row is not None
    assert row.partition == "map"
    assert (row.values["TargetId"], row.values["Digest"], row.values["Origin"]) == ("77", "digest", "import")
    assert row.values["ImportedAtUtc"] == "2026-11-15T12:00:00.000000Z"
