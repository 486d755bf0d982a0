"""What the simulator promises to those who test with it, beyond the contract: ids that nobody takes for the source's,
failures on demand, and a watch over its clients. A real box has nothing of it."""

import hashlib

import pytest
from tests.import_contract.client import NOON, Client, digest_of, item
from tests.import_contract.servers import Simulated, at_ten

from b24sim.imports import Imports

KEY = "source:groups:12"


@pytest.fixture
def box(sim: Simulated) -> Client:
    return Client(sim)


# ---------------------------------------------------------------- ids


def test_new_ids_are_far_from_the_sources_and_apart_between_streams(box: Client) -> None:
    ids = [int(box.user()), int(box.group()), int(box.chat()), int(box.task()), int(box.file())]
    assert min(ids) > 1_000_000
    assert len({number // 1_000_000 for number in ids}) == len(ids)


def test_a_failed_item_uses_up_no_id(box: Client) -> None:
    first = box.group(1)
    box.fault("groups", "source:groups:2", NAME="B", OWNER_ID="871")
    assert int(box.group(3)) == int(first) + 1


def test_a_type_does_not_get_the_id_it_wished_for(box: Client) -> None:
    assert box.smart_type() != "190"


def test_the_root_may_have_any_id(box: Client) -> None:
    box.reset(root_department={"77": {"NAME": "HQ"}})
    assert box.make("departments", "source:departments:1", NAME="Theirs") == "77"


# ---------------------------------------------------------------- failures on demand


def test_a_dry_run_uses_up_neither_ids_nor_scripted_failures(sim: Simulated, box: Client) -> None:
    first = int(box.group(1))
    sim.imports.fail_item("source:groups:2", "LOCKED", retry=True)
    box.rehearse("groups", item("source:groups:2", NAME="B", OWNER_ID="1"))
    assert box.send("groups", "source:groups:2", NAME="B", OWNER_ID="1")["error"]["code"] == "LOCKED"
    assert int(box.group(3)) == first + 1


def test_a_scripted_failure_strikes_the_keys_it_names_as_often_as_told(sim: Simulated, box: Client) -> None:
    sim.imports.fail_item("source:groups:1*", "LOCKED", retry=True, times=2)
    statuses = [box.send("groups", KEY, NAME="A", OWNER_ID="1")["status"] for _ in range(3)]
    assert statuses == ["failed", "failed", "created"]
    assert box.group(2)


def test_a_scripted_failure_states_its_code_and_whether_to_retry(sim: Simulated, box: Client) -> None:
    sim.imports.fail_item("*", "INTERNAL", retry=True)
    error = box.send("groups", KEY, NAME="A", OWNER_ID="1")["error"]
    assert (error["code"], error["field"], error["retry"]) == ("INTERNAL", None, True)


# ---------------------------------------------------------------- called without HTTP


def test_what_a_client_does_with_its_body_later_does_not_reach_the_box() -> None:
    box = Imports(now=at_ten)
    fields: dict[str, object] = {"type": "chat", "users": ["1"]}
    body = {"stream": "chats", "items": [{"key": "source:chat:1", "digest": digest_of(fields), "fields": fields}]}
    box.handle("import.chats.batch", body)
    fields["users"].append("666")  # type: ignore[attr-defined]
    assert [row["users"] for row in box.rows("chats").values()] == [["1"]]


# ---------------------------------------------------------------- the watch


def test_a_wrong_digest_is_counted(sim: Simulated, box: Client) -> None:
    fields = {"NAME": "Отдел продаж", "OWNER_ID": "1"}
    box.batch("groups", {"key": "source:groups:1", "digest": digest_of(fields), "fields": fields})
    assert sim.imports.digest_mismatches == 0
    box.batch("groups", {"key": "source:groups:2", "digest": "0" * 64, "fields": fields})
    assert sim.imports.digest_mismatches == 1


def test_an_exponent_has_two_spellings_and_both_are_right(sim: Simulated, box: Client) -> None:
    for number, spelled in enumerate((b"1e308", b"1e+308"), 1):
        canonical = b'{"NAME":"1e+5","OWNER_ID":"1","SORT":' + spelled + b"}"
        fields = {"NAME": "1e+5", "OWNER_ID": "1", "SORT": 1e308}
        digest = hashlib.sha256(canonical).hexdigest()
        box.batch("groups", {"key": f"source:groups:{number}", "digest": digest, "fields": fields})
    assert sim.imports.digest_mismatches == 0


def message(chat: str, number: int) -> dict[str, object]:
    return item(f"source:chat:msg:{number}", chat_id=chat, author_id="1", date=NOON, text=f"m{number}")


def test_messages_in_ascending_order_violate_nothing_however_often_repeated(sim: Simulated, box: Client) -> None:
    first, second = box.chat(1), box.chat(2)
    for _ in range(2):
        box.batch("chat_messages", message(first, 10), message(second, 5), message(first, 11))
    assert sim.imports.order_violations == 0


def test_a_message_after_a_later_one_is_taken_and_counted(sim: Simulated, box: Client) -> None:
    chat = box.chat()
    answers = box.batch("chat_messages", message(chat, 10), message(chat, 9))
    assert [answer["status"] for answer in answers] == ["created", "created"]
    assert sim.imports.order_violations == 1


WAYS_TO_FAIL = [
    pytest.param(True, [[10, 11], [10], [12]], 0, id="repeated before anything later: in order"),
    pytest.param(True, [[10], [11], [10]], 1, id="overtaken while it waited: out of order"),
    pytest.param(False, [[10], [11], [10]], 0, id="failed for good: passed over"),
]


@pytest.mark.parametrize(("retry", "calls", "violations"), WAYS_TO_FAIL)
def test_a_message_that_failed_once_is_out_of_order_only_where_it_was_overtaken(
    sim: Simulated, box: Client, retry: bool, calls: list[list[int]], violations: int
) -> None:
    chat = box.chat()
    sim.imports.fail_item("source:chat:msg:10", "LOCKED" if retry else "VALIDATION", retry=retry)
    for numbers in calls:
        box.batch("chat_messages", *(message(chat, number) for number in numbers))
    assert sim.imports.order_violations == violations


def test_a_failed_change_of_an_old_message_is_no_violation(sim: Simulated, box: Client) -> None:
    chat = box.chat()
    box.batch("chat_messages", message(chat, 10), message(chat, 11))
    sim.imports.fail_item("source:chat:msg:10", "LOCKED", retry=True)
    box.batch("chat_messages", {**message(chat, 10), "digest": "0" * 64})
    assert sim.imports.order_violations == 0
