"""Calls repeated any number of times, in any number of threads, leave one record per key."""

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.import_contract.client import JSON, Client, item

ITEMS = [
    *(("departments", item(f"source:departments:{n}", NAME=f"D{n}", PARENT=None if n < 3 else "1")) for n in range(5)),
    *(("users", item(f"source:users:{n}", NAME="A", EMAIL=f"u{n % 4}@example.org")) for n in range(6)),
    *(("groups", item(f"source:groups:{n}", NAME="G", OWNER_ID="1" if n % 3 else "871")) for n in range(6)),
    *(("crm_types", item(f"source:crm_types:{n}", title=f"T{n % 2}")) for n in range(4)),
    *(("crm_stages", item(f"s:{n}", ENTITY_ID="SOURCE", STATUS_ID=f"S{n % 2}", NAME=f"N{n}")) for n in range(4)),
]
OFTEN = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def send(box: Client, upto: int = len(ITEMS)) -> None:
    for stream, items in groupby(ITEMS[:upto], key=lambda one: one[0]):
        box.batch(stream, *(sent for _, sent in items))


@OFTEN
@given(st.lists(st.integers(1, len(ITEMS)), max_size=4))
def test_any_prefix_repeated_any_number_of_times_leaves_the_same_records(box: Client, cuts: list[int]) -> None:
    box.reset()
    send(box)
    once = box.snapshot()
    box.reset()
    for cut in cuts:
        send(box, cut)
    send(box)
    assert box.snapshot() == once
    assert all(record["created_count"] == 1 for record in box.server.dump("groups"))


@OFTEN
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ABC")), min_size=1, max_size=20), st.integers(1, 20))
def test_one_call_and_many_calls_leave_the_same(raw: Client, sends: list[tuple[int, str]], size: int) -> None:
    items = [item(f"source:groups:{n}", NAME=name, OWNER_ID="1") for n, name in sends]
    raw.reset()
    answers = raw.batch("groups", *items)
    one = raw.snapshot()
    last = {sent["key"]: sent["digest"] for sent in items}
    assert {str(record["key"]): record["digest"] for record in raw.server.dump("groups")} == last
    raw.reset()
    parts = [raw.batch("groups", *items[start : start + size]) for start in range(0, len(items), size)]
    assert [answer for part in parts for answer in part] == answers
    assert raw.snapshot() == one


@OFTEN
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12))
def test_a_dry_run_anywhere_changes_nothing(raw: Client, steps: list[tuple[int, bool]]) -> None:
    items = [item(f"source:users:{number}", NAME="A", EMAIL=f"u{number % 3}@example.org") for number, _ in steps]
    raw.reset()
    for sent, (_, dry_run) in zip(items, steps, strict=True):
        raw.dry_or_wet("users", [sent], dry_run=dry_run)
    mixed = raw.snapshot()
    raw.reset()
    raw.batch("users", *(sent for sent, (_, dry_run) in zip(items, steps, strict=True) if not dry_run))
    assert raw.snapshot() == mixed


# ---------------------------------------------------------------- calls at the same time

MANY = {
    "groups": {"NAME": "G", "OWNER_ID": "1"},
    "chats": {"type": "chat"},
    "tasks": {"title": "T", "createdBy": "1", "responsibleId": "1"},
}


def at_the_same_time(box: Client, stream: str, calls: list[list[JSON]]) -> list[JSON]:
    """All answers but those that somebody else is at work on the item, who then has his own."""
    with ThreadPoolExecutor(4) as threads:
        answers = [one for part in threads.map(lambda items: box.batch(stream, *items), calls) for one in part]
    refusals = [answer["error"] for answer in answers if answer["status"] == "failed"]
    assert all(error["retry"] is (error["code"] == "LOCKED") for error in refusals)
    return [one for one in answers if one["error"] is None or one["error"]["code"] != "LOCKED"]


@pytest.mark.parametrize("stream", MANY)
def test_calls_at_the_same_time_make_each_record_once(raw: Client, stream: str) -> None:
    items = [item(f"source:{stream}:{number}", **MANY[stream]) for number in range(20)]
    answers = at_the_same_time(raw, stream, [items] * 8)
    assert sum(answer["status"] == "created" for answer in answers) == 20
    assert len({answer["id"] for answer in answers}) == 20
    assert len(raw.rows(stream)) == 20


def test_an_address_is_taken_once_by_calls_at_the_same_time(raw: Client) -> None:
    calls = [[item(f"source:users:{number}", NAME="A", EMAIL=f"u{number % 2}@example.org")] for number in range(16)]
    answers = at_the_same_time(raw, "users", calls)
    assert sum(answer["status"] == "created" for answer in answers) == 2
    assert {answer["error"]["code"] for answer in answers if answer["error"]} == {"DUPLICATE_EMAIL"}
    assert len(raw.rows("users")) == 3


def test_a_type_is_made_once_by_calls_at_the_same_time(raw: Client) -> None:
    answers = at_the_same_time(raw, "crm_types", [[item(f"t{number}", title="Claims")] for number in range(16)])
    assert {answer["status"] for answer in answers} == {"created"}
    assert len({answer["id"] for answer in answers}) == len(raw.rows("crm_types")) == 1
