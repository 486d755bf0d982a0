"""What a batch answers, and what it leaves behind."""

import pytest
from tests.sim_imports.client import NOON, Client, digest_of, item

KEY = "source:groups:12"


def test_an_unknown_key_creates_a_record_with_a_new_id(box: Client) -> None:
    answer = box.send("groups", KEY, NAME="Sales", OWNER_ID="1", DATE_CREATE=NOON)
    assert answer == {"key": KEY, "status": "created", "id": answer["id"], "ignored": [], "error": None}
    assert box.box.rows("groups") == {answer["id"]: {"NAME": "Sales", "OWNER_ID": "1", "DATE_CREATE": NOON}}


def test_new_ids_are_far_from_the_sources_and_apart_between_streams(box: Client) -> None:
    ids = [int(box.user()), int(box.group()), int(box.chat()), int(box.task()), int(box.file())]
    assert min(ids) > 1_000_000
    assert len({number // 1_000_000 for number in ids}) == len(ids)


def test_the_same_key_and_digest_change_nothing(box: Client) -> None:
    target_id = box.group()
    before = box.snapshot()
    answer = box.send("groups", KEY, NAME="Sales", OWNER_ID="1")
    assert (answer["status"], answer["id"]) == ("unchanged", target_id)
    assert box.snapshot() == before


def test_another_digest_sets_what_was_sent_clears_what_is_null_and_leaves_the_rest(box: Client) -> None:
    target_id = box.make("groups", KEY, NAME="Sales", DESCRIPTION="old", KEYWORDS="a", OWNER_ID="1")
    answer = box.send("groups", KEY, NAME="Sold", DESCRIPTION=None)
    assert (answer["status"], answer["id"]) == ("updated", target_id)
    assert box.box.rows("groups")[target_id] == {
        "NAME": "Sold",
        "DESCRIPTION": None,
        "KEYWORDS": "a",
        "OWNER_ID": "1",
    }


def test_an_update_may_not_clear_what_is_required(box: Client) -> None:
    box.group()
    assert box.fault("groups", KEY, NAME=None, OWNER_ID="1") == ("VALIDATION", "NAME")


def test_a_failed_update_leaves_the_old_digest_too(box: Client) -> None:
    target_id = box.group()
    box.fault("groups", KEY, NAME="Sales", OWNER_ID="999")
    assert box.send("groups", KEY, NAME="Sales", OWNER_ID="1") == {
        "key": KEY,
        "status": "unchanged",
        "id": target_id,
        "ignored": [],
        "error": None,
    }


def test_a_second_pass_brings_the_late_reference(box: Client) -> None:
    first, second = box.task(1), box.task(2)
    late = {"title": "Do it", "createdBy": "1", "responsibleId": "1", "parentId": second}
    assert box.send("tasks", "source:tasks:1", **late)["status"] == "updated"
    assert box.box.rows("tasks")[first]["parentId"] == second


def test_a_failed_item_leaves_its_neighbours_alone(box: Client) -> None:
    answers = box.batch(
        "groups",
        item("source:groups:1", NAME="A", OWNER_ID="1"),
        item("source:groups:2", NAME="B", OWNER_ID="871"),
        item("source:groups:3", NAME="C", OWNER_ID="1"),
    )
    assert [answer["status"] for answer in answers] == ["created", "failed", "created"]
    assert answers[1]["error"].keys() == {"code", "field", "message", "retry"}
    assert answers[1]["error"]["retry"] is False
    assert [fields["NAME"] for fields in box.box.rows("groups").values()] == ["A", "C"]


def test_a_failed_item_uses_up_no_id(box: Client) -> None:
    first = box.group(1)
    box.fault("groups", "source:groups:2", NAME="B", OWNER_ID="871")
    assert int(box.group(3)) == int(first) + 1


def test_a_key_twice_in_one_call_is_taken_in_order(box: Client) -> None:
    answers = box.batch(
        "groups",
        item(KEY, NAME="A", OWNER_ID="1"),
        item(KEY, NAME="A", OWNER_ID="1"),
        item(KEY, NAME="B", OWNER_ID="1"),
    )
    assert [answer["status"] for answer in answers] == ["created", "unchanged", "updated"]
    assert len({answer["id"] for answer in answers}) == 1
    (record,) = box.box.dump("groups")
    assert (record["created_count"], record["updated_count"]) == (1, 1)


def test_a_key_belongs_to_one_stream_for_ever(box: Client) -> None:
    group = box.group()
    assert box.fault("group_members", KEY, GROUP_ID=group, USER_ID="1", ROLE="A") == ("VALIDATION", "key")


def test_a_field_the_box_does_not_know_is_ignored_and_named(box: Client) -> None:
    answer = box.send("groups", KEY, NAME="Sales", OWNER_ID="1", SHOE_SIZE=44, UF_NEVER_MADE="x")
    assert answer["ignored"] == ["SHOE_SIZE", "UF_NEVER_MADE"]
    assert box.box.rows("groups")[answer["id"]].keys() == {"NAME", "OWNER_ID"}


@pytest.mark.parametrize("digest", [None, "", "9f2c", "A" * 64, "g" * 64, "a" * 65, 5])
def test_a_digest_is_64_lower_case_hex_digits(box: Client, digest: object) -> None:
    (answer,) = box.batch("groups", {"key": KEY, "digest": digest, "fields": {"NAME": "A", "OWNER_ID": "1"}})
    assert (answer["error"]["code"], answer["error"]["field"]) == ("VALIDATION", "digest")
    assert not box.box.rows("groups")


@pytest.mark.parametrize("fields", [None, [], "x"])
def test_fields_are_an_object(box: Client, fields: object) -> None:
    (answer,) = box.batch("groups", {"key": KEY, "digest": digest_of(fields), "fields": fields})
    assert (answer["error"]["code"], answer["error"]["field"]) == ("VALIDATION", "fields")


def test_a_digest_is_opaque_but_a_wrong_one_is_counted(box: Client) -> None:
    fields = {"NAME": "Отдел продаж", "OWNER_ID": "1"}
    box.batch("groups", {"key": "source:groups:1", "digest": digest_of(fields), "fields": fields})
    assert box.box.digest_mismatches == 0
    (answer,) = box.batch("groups", {"key": "source:groups:2", "digest": "0" * 64, "fields": fields})
    assert answer["status"] == "created"
    assert box.box.digest_mismatches == 1


def test_a_dry_run_gives_the_same_answers_without_effect(box: Client) -> None:
    known = box.group(1)
    items = [
        item("source:groups:1", NAME="Sales", OWNER_ID="1"),
        item("source:groups:1", NAME="Sold", OWNER_ID="1"),
        item("source:groups:2", NAME="B", OWNER_ID="1", SHOE_SIZE=44),
        item("source:groups:2", NAME="B", OWNER_ID="1", SHOE_SIZE=44),
        item("source:groups:3", NAME="C", OWNER_ID="871"),
    ]
    before = box.snapshot()
    dry = box.batch("groups", *items, dry_run=True)
    assert box.snapshot() == before
    assert [answer["id"] for answer in dry] == [known, known, None, None, None]
    wet = box.batch("groups", *items)
    assert [answer["status"] for answer in dry] == ["unchanged", "updated", "created", "unchanged", "failed"]
    assert [{**answer, "id": None} for answer in dry] == [{**answer, "id": None} for answer in wet]


def test_a_dry_run_uses_up_neither_ids_nor_scripted_failures(box: Client) -> None:
    first = int(box.group(1))
    box.box.fail_item("source:groups:2", "LOCKED", retry=True)
    box.batch("groups", item("source:groups:2", NAME="B", OWNER_ID="1"), dry_run=True)
    assert box.send("groups", "source:groups:2", NAME="B", OWNER_ID="1")["error"]["code"] == "LOCKED"
    assert int(box.group(3)) == first + 1


def test_a_scripted_failure_strikes_the_keys_it_names_as_often_as_told(box: Client) -> None:
    box.box.fail_item("source:groups:1*", "LOCKED", retry=True, times=2)
    statuses = [box.send("groups", KEY, NAME="A", OWNER_ID="1")["status"] for _ in range(3)]
    assert statuses == ["failed", "failed", "created"]
    assert box.group(2)


def test_a_scripted_failure_states_its_code_and_whether_to_retry(box: Client) -> None:
    box.box.fail_item("*", "INTERNAL", retry=True)
    error = box.send("groups", KEY, NAME="A", OWNER_ID="1")["error"]
    assert (error["code"], error["field"], error["retry"]) == ("INTERNAL", None, True)


def test_what_a_client_does_with_its_body_later_does_not_reach_the_box() -> None:
    client = Client()
    fields: dict[str, object] = {"type": "chat", "users": ["1"]}
    body = {"stream": "chats", "items": [{"key": "source:chat:1", "digest": digest_of(fields), "fields": fields}]}
    client.box.handle("import.chats.batch", body)
    fields["users"].append("666")  # type: ignore[attr-defined]
    assert [row["users"] for row in client.box.rows("chats").values()] == [["1"]]
