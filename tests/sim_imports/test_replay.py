"""Calls repeated any number of times, in any number of threads, leave one record per key."""

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from tests.sim_imports.client import NOON, Client, digest_of, item

ITEMS = [
    *(("departments", item(f"source:departments:{n}", NAME=f"D{n}", PARENT=None if n < 3 else "1")) for n in range(5)),
    *(("users", item(f"source:users:{n}", NAME="A", EMAIL=f"u{n % 4}@example.org")) for n in range(6)),
    *(("groups", item(f"source:groups:{n}", NAME="G", OWNER_ID="1" if n % 3 else "871")) for n in range(6)),
    *(("crm_types", item(f"source:crm_types:{n}", title=f"T{n % 2}")) for n in range(4)),
    *(("crm_stages", item(f"s:{n}", ENTITY_ID="SOURCE", STATUS_ID=f"S{n % 2}", NAME=f"N{n}")) for n in range(4)),
]


@given(st.lists(st.integers(1, len(ITEMS)), max_size=5))
def test_any_prefix_repeated_any_number_of_times_leaves_the_same_records(cuts: list[int]) -> None:
    once, often = Client(), Client()
    for stream, sent in ITEMS:
        once.batch(stream, sent)
    for cut in [*cuts, len(ITEMS)]:
        for stream, sent in ITEMS[:cut]:
            often.batch(stream, sent)
    assert often.snapshot() == once.snapshot()
    assert all(record["created_count"] == 1 for record in often.box.dump("groups"))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ABC")), min_size=1, max_size=20), st.integers(1, 20))
def test_one_call_and_many_calls_leave_the_same(sends: list[tuple[int, str]], size: int) -> None:
    items = [item(f"source:groups:{n}", NAME=name, OWNER_ID="1") for n, name in sends]
    one, many = Client(), Client()
    answers = one.batch("groups", *items)
    parts = [many.batch("groups", *items[start : start + size]) for start in range(0, len(items), size)]
    assert [answer for part in parts for answer in part] == answers
    assert one.snapshot() == many.snapshot()
    last = {sent["key"]: sent["digest"] for sent in items}
    assert {str(record["key"]): record["digest"] for record in one.box.dump("groups")} == last


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=20))
def test_a_dry_run_anywhere_changes_nothing(steps: list[tuple[int, bool]]) -> None:
    wet, mixed = Client(), Client()
    for number, dry_run in steps:
        sent = item(f"source:users:{number}", NAME="A", EMAIL=f"u{number % 3}@example.org")
        mixed.batch("users", sent, dry_run=dry_run)
        if not dry_run:
            wet.batch("users", sent)
    assert mixed.snapshot() == wet.snapshot()


def test_threads_with_the_same_items_make_each_record_once() -> None:
    client = Client()
    items = [item(f"source:groups:{n}", NAME="G", OWNER_ID="1") for n in range(50)]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: client.batch("groups", *items), range(16)))
    assert sum(answer["status"] == "created" for part in answers for answer in part) == 50
    assert len(client.box.rows("groups")) == 50


def message(chat: str, number: int) -> dict[str, object]:
    fields = {"chat_id": chat, "author_id": "1", "date": NOON, "text": f"m{number}"}
    return {"key": f"source:chat:msg:{number}", "digest": digest_of(fields), "fields": fields}


def test_messages_in_ascending_order_violate_nothing_however_often_repeated(box: Client) -> None:
    first, second = box.chat(1), box.chat(2)
    for _ in range(2):
        box.batch("chat_messages", message(first, 10), message(second, 5), message(first, 11))
    assert box.box.order_violations == 0


def test_a_message_after_a_later_one_is_taken_and_counted(box: Client) -> None:
    chat = box.chat()
    answers = box.batch("chat_messages", message(chat, 10), message(chat, 9))
    assert [answer["status"] for answer in answers] == ["created", "created"]
    assert box.box.order_violations == 1


def test_a_message_repeated_before_anything_later_is_in_order(box: Client) -> None:
    chat = box.chat()
    box.box.fail_item("source:chat:msg:10", "LOCKED", retry=True)
    box.batch("chat_messages", message(chat, 10), message(chat, 11))
    box.batch("chat_messages", message(chat, 10))
    box.batch("chat_messages", message(chat, 12))
    assert box.box.order_violations == 0


def test_a_message_overtaken_while_it_waited_is_counted(box: Client) -> None:
    chat = box.chat()
    box.box.fail_item("source:chat:msg:10", "LOCKED", retry=True)
    box.batch("chat_messages", message(chat, 10))
    box.batch("chat_messages", message(chat, 11))
    box.batch("chat_messages", message(chat, 10))
    assert box.box.order_violations == 1


def test_a_message_that_failed_for_good_is_passed_over(box: Client) -> None:
    chat = box.chat()
    box.box.fail_item("source:chat:msg:10", "VALIDATION", retry=False)
    box.batch("chat_messages", message(chat, 10))
    box.batch("chat_messages", message(chat, 11))
    box.batch("chat_messages", message(chat, 10))
    assert box.box.order_violations == 0


def test_a_failed_change_of_an_old_message_is_no_violation(box: Client) -> None:
    chat = box.chat()
    box.batch("chat_messages", message(chat, 10), message(chat, 11))
    box.box.fail_item("source:chat:msg:10", "LOCKED", retry=True)
    box.batch("chat_messages", {**message(chat, 10), "digest": "0" * 64})
    assert box.box.order_violations == 0
