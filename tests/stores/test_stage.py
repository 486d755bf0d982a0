"""Store.stage: pages go in, and what went in before changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.stores.samples import EVERYTHING, GROUPS, MESSAGES, at, failed, hashed, imported, retried, row, settle, stage

from b24migrate.model.records import Settled, Staged, Staging, Status
from b24migrate.ports import Store


def test_a_new_record_is_new(store: Store) -> None:
    assert stage(store, row(1), row(2)) == Staging(added=2, seen=2)
    record = store.get(GROUPS, ["1"])["1"]
    assert (record.status, record.attempts, record.revision, record.target_id) == (Status.NEW, 0, 0, None)


def test_everything_staged_comes_back_as_it_was(store: Store) -> None:
    payload = '{"ID":"7",  "NAME":"Привет, \\u0000 \U0001f600", "big": 12345678901234567890.10}'.encode()
    one = Staged(
        "7", payload, "h" * 64, "2026-01-01T03:00:00+03:00", "2026-01-01T00:00:00Z", 180, b'{"via": 1}', True, "n"
    )
    stage(store, one)
    record = store.get(GROUPS, ["7"])["7"]
    assert (record.payload, record.payload_hash, record.extras) == (payload, "h" * 64, b'{"via": 1}')
    assert (record.pulled_through, record.natural) == (True, "n")


def test_a_replayed_page_changes_nothing(store: Store) -> None:
    page = [hashed(1), row(2), hashed("x:3", pulled_through=True)]
    stage(store, *page)
    before = store.records(GROUPS, EVERYTHING, 10)
    assert stage(store, *page) == Staging(same=3)
    assert store.records(GROUPS, EVERYTHING, 10) == before
    assert store.counts(GROUPS)[Status.NEW] == 3


def test_a_replayed_page_does_not_reset_an_imported_record(store: Store) -> None:
    stage(store, hashed(1), row(2))
    settle(store, imported(1), failed(2))
    stage(store, hashed(1), row(2), pass_no=2)
    assert [one.status for one in store.records(GROUPS, EVERYTHING, 9)] == [Status.IMPORT_OK, Status.IMPORT_ERR]


@pytest.mark.parametrize("outcome", [imported(1), failed(1), retried(1, at(60))])
def test_a_changed_hash_makes_the_record_new_again(store: Store, outcome: Settled) -> None:
    stage(store, hashed(1, "old"))
    settle(store, outcome)
    assert stage(store, hashed(1, "new")) == Staging(changed=1)
    record = store.get(GROUPS, ["1"])["1"]
    assert (record.status, record.revision, record.attempts) == (Status.NEW, 1, 0)
    assert (record.last_error, record.last_error_code, record.retry_after_utc) == (None, None, None)
    assert (record.payload, record.payload_hash) == (hashed(1, "new").payload, hashed(1, "new").payload_hash)
    stage(store, hashed(1, "newer"))
    assert store.get(GROUPS, ["1"])["1"].revision == 2


def test_a_payload_can_be_kept_up_to_date_without_being_sent_again(store: Store) -> None:
    old = hashed(1)
    stage(store, old)
    settle(store, imported(1))
    new = old._replace(payload=b'{"ID":"1","volatile":2}')
    store.stage(GROUPS, [new], run="r", pass_no=2)
    assert store.get(GROUPS, ["1"])["1"].payload == old.payload
    store.stage(GROUPS, [new], run="r", pass_no=3, refresh=True)
    record = store.get(GROUPS, ["1"])["1"]
    assert (record.payload, record.status, record.revision) == (new.payload, Status.IMPORT_OK, 0)
    assert (record.payload_hash, record.target_id) == (old.payload_hash, imported(1).link.target_id)  # type: ignore[union-attr]


def test_without_hashes_the_payload_is_replaced_and_the_status_stays(store: Store) -> None:
    stage(store, row(1), row(2))
    settle(store, failed(2))
    assert stage(store, row(1, "new"), row(2, "new")) == Staging(changed=2)
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert (one.payload, one.status, one.revision) == (row(1, "new").payload, Status.NEW, 0)
    assert (two.payload, two.status, two.last_error_code) == (row(2, "new").payload, Status.IMPORT_ERR, "BAD")


def test_without_hashes_an_imported_record_is_left_as_it_is(store: Store) -> None:
    stage(store, row(1))
    settle(store, imported(1))
    before = store.get(GROUPS, ["1"])
    assert stage(store, row(1, "new")) == Staging(same=1)
    assert store.get(GROUPS, ["1"]) == before


@pytest.mark.parametrize("outcome", [imported, failed])
def test_a_record_of_an_earlier_version_gets_its_hash_or_is_new_again(
    store: Store, outcome: Callable[[int], Settled]
) -> None:
    stage(store, row(1, "same"), row(2, "old"))
    settle(store, outcome(1), outcome(2))
    before = store.get(GROUPS, ["1"])["1"]
    page = [hashed(1, "same"), hashed(2, "new")]
    assert stage(store, *page) == Staging(changed=1, same=1)
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert one == before._replace(payload_hash=page[0].payload_hash)
    assert (two.status, two.revision, two.payload, two.payload_hash) == (Status.NEW, 1, *page[1][1:3])
    assert stage(store, *page) == Staging(same=2)


@pytest.mark.parametrize("large", [False, True])
def test_who_stages_decides_whether_another_hash_is_a_change(store: Store, large: bool) -> None:
    old = "old" * (40_000 if large else 1)
    stage(store, hashed(1, old, extras=b'{"a":1}'), hashed(2, old), row(3, old))
    settle(store, imported(1), imported(2), imported(3))
    asked: list[Staged] = []

    def renew(there: Staged, now: Staged) -> Staged | None:
        asked.append(there)
        return now._replace(extras=b'{"b":2}') if now.row_key == "2" else None

    page = [hashed(1, "new", extras=b'{"a":1}'), hashed(2, "new"), hashed(3, "new")]
    assert store.stage(GROUPS, page, run="run-2", pass_no=2, renew=renew) == Staging(changed=1, same=2, seen=3)
    one, two, three = store.records(GROUPS, EVERYTHING, 9)
    assert [(there.payload, there.payload_hash, there.extras) for there in sorted(asked)] == [
        (row(1, old).payload, hashed(1, old).payload_hash, b'{"a":1}'),
        (row(2, old).payload, hashed(2, old).payload_hash, None),
        (row(3, old).payload, None, None),
    ]
    assert {one.payload_hash, two.payload_hash, three.payload_hash} == {hashed(1, "new").payload_hash}
    assert [(kept.status, kept.revision) for kept in (one, two, three)] == [
        (Status.IMPORT_OK, 0),
        (Status.NEW, 1),
        (Status.IMPORT_OK, 0),
    ]
    assert (one.payload, two.payload, two.extras) == (row(1, old).payload, page[1].payload, b'{"b":2}')


def test_extras_are_content_too(store: Store) -> None:
    stage(store, row(1, extras=b'{"via":0}'))
    assert stage(store, row(1, extras=b'{"via":1}')).changed == 1
    assert store.get(GROUPS, ["1"])["1"].extras == b'{"via":1}'


@pytest.mark.parametrize("before", [None, b'{"via":0}', b'{"chatId":4}', b'{"refused":"later","of":"1"}'])
def test_extras_that_tell_more_make_a_hashed_record_new_again(store: Store, before: bytes | None) -> None:
    stage(store, hashed(1, extras=before), hashed(2, extras=before))
    settle(store, imported(2))
    page = [hashed(key, extras=b'{"chatId":5}') for key in (1, 2)]
    assert stage(store, *page) == Staging(changed=2)
    one, two = store.records(GROUPS, EVERYTHING, 9)
    assert (one.extras, one.status, one.revision) == (b'{"chatId":5}', Status.NEW, 1)
    assert (two.extras, two.status, two.revision) == (b'{"chatId":5}', Status.NEW, 1)
    assert stage(store, *page) == Staging(same=2)


def test_without_hashes_extras_that_tell_more_send_an_imported_record_again(store: Store) -> None:
    stage(store, row(1, extras=b'{"via":0}'), row(2, extras=b'{"users":[1,2]}'))
    settle(store, imported(1), imported(2))
    page = [row(key, extras=b'{"via":0,"users":[1,3]}') for key in (1, 2)]
    assert stage(store, *page) == Staging(changed=2)
    assert [(one.extras, one.status, one.revision) for one in store.records(GROUPS, EVERYTHING, 9)] == [
        (b'{"via":0,"users":[1,3]}', Status.NEW, 1)
    ] * 2
    assert store.counts(GROUPS)[Status.NEW] == 2


@pytest.mark.parametrize(
    "after",
    [
        None,
        b'{"productRows":[{"a":1,"b":2}],"users":[1,2],"via":0}',  # another order of names
        b'{"via":0,"users":["2",1],"productRows":[{"b":2,"a":1}]}',  # and of ids
        b'{"via":0,"users":[1,2]}',  # not told any more
        b'{"via":0,"users":[1,2],"refused":"now"}',
        b'{"via":1,"productRows":[],"dialog":"chat1","seen_by":7}',  # another webhook sees less
    ],
)
def test_extras_that_tell_no_more_change_nothing(store: Store, after: bytes | None) -> None:
    before = b'{"via":0,"users":[1,2],"productRows":[{"a":1,"b":2}]}'
    stage(store, hashed(1, extras=before), hashed(2, extras=before), row(3, extras=before))
    settle(store, imported(2), imported(3))
    was = store.records(GROUPS, EVERYTHING, 9)
    page = [hashed(1, extras=after), hashed(2, extras=after), row(3, extras=after)]
    assert stage(store, *page) == Staging(same=3)
    assert store.records(GROUPS, EVERYTHING, 9) == was


def test_who_left_a_chat_is_told_by_any_webhook(store: Store) -> None:
    stage(store, hashed(1, extras=b'{"via":0,"users":[1,2]}'))
    settle(store, imported(1))
    assert stage(store, hashed(1, extras=b'{"via":1,"users":[2]}')) == Staging(changed=1)


def test_extras_too_long_for_a_column_are_compared_as_well(store: Store) -> None:
    many = list(range(20_000))
    before, other = (f'{{"via":{via},"users":{many}}}' for via in (0, 1))
    stage(store, hashed(1, extras=before.encode()))
    assert stage(store, hashed(1, extras=before.encode())) == Staging(same=1)
    assert stage(store, hashed(1, extras=other.encode())) == Staging(same=1)
    assert stage(store, hashed(1, extras=before.replace("19999", "20000").encode())) == Staging(changed=1)


def test_a_record_met_in_an_ordinary_read_is_no_longer_pulled_through(store: Store) -> None:
    stage(store, row(1, pulled_through=True), hashed(2, pulled_through=True), row(3))
    settle(store, imported(2))
    assert store.pulled_pending(GROUPS) == 1
    stage(store, row(1), hashed(2), row(3))
    assert [one.pulled_through for one in store.records(GROUPS, EVERYTHING, 9)] == [False, False, False]
    assert store.pulled_pending(GROUPS) == 0


def test_pulling_a_staged_record_through_does_not_mark_it(store: Store) -> None:
    stage(store, row(1))
    stage(store, row(1, pulled_through=True))
    assert not store.get(GROUPS, ["1"])["1"].pulled_through
    assert store.pulled_pending(GROUPS) == 0


def test_each_record_is_seen_once_per_pass(store: Store) -> None:
    assert stage(store, row(1), row(2), pass_no=1).seen == 2
    assert stage(store, row(2), row(3), pass_no=1).seen == 1
    assert stage(store, row(1), row(3), row(4), pass_no=2).seen == 3
    assert stage(store, row(1), row(3), row(4), pass_no=2).seen == 0
    assert stage(store, row(1), pass_no=1).seen == 0
    assert store.counters("seen:") == {"seen:Groups:1": 3, "seen:Groups:2": 3}


def test_a_record_twice_on_one_page_is_one_record(store: Store) -> None:
    assert stage(store, hashed(1, "a"), row(2), hashed(1, "b"), row(2)) == Staging(added=2, changed=1, same=1, seen=2)
    record = store.get(GROUPS, ["1"])["1"]
    assert (record.payload, record.revision) == (hashed(1, "b").payload, 1)
    assert store.counts(GROUPS)[Status.NEW] == 2


def test_a_page_that_is_partly_known_adds_the_rest(store: Store) -> None:
    stage(store, *map(row, range(0, 1500, 3)))
    assert stage(store, *map(row, range(1500))) == Staging(added=1000, same=500, seen=1000)
    assert sum(store.counts(GROUPS).values()) == 1500


def test_nothing_staged_is_nothing_done(store: Store) -> None:
    assert stage(store) == Staging()


def test_tables_do_not_share_records(store: Store) -> None:
    stage(store, row(1), table=GROUPS)
    assert store.get(MESSAGES, ["1"]) == {}
    assert store.counts(MESSAGES) == dict.fromkeys(Status, 0)
