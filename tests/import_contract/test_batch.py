"""What a batch answers, and what it leaves behind."""

import pytest
from tests.import_contract.client import NOON, Client, digest_of, item

KEY = "source:groups:12"


def test_an_unknown_key_creates_a_record_with_a_new_id(box: Client) -> None:
    answer = box.send("groups", KEY, NAME="Sales", OWNER_ID="1", DATE_CREATE=NOON)
    assert answer == {"key": KEY, "status": "created", "id": answer["id"], "ignored": [], "error": None}
    assert box.rows("groups") == {answer["id"]: {"NAME": "Sales", "OWNER_ID": "1", "DATE_CREATE": NOON}}


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
    assert box.rows("groups")[target_id] == {
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
    assert box.rows("tasks")[first]["parentId"] == second


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
    assert [fields["NAME"] for fields in box.rows("groups").values()] == ["A", "C"]


def test_a_failed_item_keeps_its_key_free(box: Client) -> None:
    box.fault("groups", KEY, NAME="B", OWNER_ID="871")
    assert box.group()


def test_a_key_twice_in_one_call_is_taken_in_order(raw: Client) -> None:
    answers = raw.batch(
        "groups",
        item(KEY, NAME="A", OWNER_ID="1"),
        item(KEY, NAME="A", OWNER_ID="1"),
        item(KEY, NAME="B", OWNER_ID="1"),
    )
    assert [answer["status"] for answer in answers] == ["created", "unchanged", "updated"]
    assert len({answer["id"] for answer in answers}) == 1
    (record,) = raw.server.dump("groups")
    assert (record["created_count"], record["updated_count"]) == (1, 1)


def test_a_key_belongs_to_one_stream_for_ever(box: Client) -> None:
    group = box.group()
    assert box.fault("group_members", KEY, GROUP_ID=group, USER_ID="1", ROLE="A") == ("VALIDATION", "key")


def test_a_field_the_box_does_not_know_is_ignored_and_named(box: Client) -> None:
    answer = box.send("groups", KEY, NAME="Sales", OWNER_ID="1", SHOE_SIZE=44, UF_NEVER_MADE="x")
    assert answer["ignored"] == ["SHOE_SIZE", "UF_NEVER_MADE"]
    assert box.rows("groups")[answer["id"]].keys() == {"NAME", "OWNER_ID"}


@pytest.mark.parametrize(
    ("stream", "name"),
    [("crm_deals", r"parentId\d+"), ("crm_types", r"is[A-Z]\w*Enabled"), ("crm_deals", "parentId2\n")],
)
def test_a_name_is_known_only_when_it_is_one(box: Client, stream: str, name: str) -> None:
    assert box.send(stream, KEY, title="x", **{name: True})["ignored"] == [name]


def test_texts_arrive_letter_by_letter(box: Client) -> None:
    text = "Отдел «Продажи» 😀\r\n\t\"'\\ <b>&amp; \u2028 1e5 0.10"
    target_id = box.make("groups", KEY, NAME=text, OWNER_ID="1", DESCRIPTION="")
    assert box.rows("groups")[target_id] == {"NAME": text, "OWNER_ID": "1", "DESCRIPTION": ""}
    assert box.picked("groups", KEY)[0]["fields"]["NAME"] == text


def test_a_key_is_compared_letter_by_letter(box: Client) -> None:
    keys = ["source:groups:a", "source:groups:A", "source:groups:ä", "source:groups:a "]
    ids = {box.make("groups", key, NAME="Sales", OWNER_ID="1") for key in keys}
    assert len(ids) == len(keys)


@pytest.mark.parametrize("digest", [None, "", "9f2c", "A" * 64, "g" * 64, "a" * 65, "a" * 64 + "\n", 5])
def test_a_digest_is_64_lower_case_hex_digits(raw: Client, digest: object) -> None:
    (answer,) = raw.batch("groups", {"key": KEY, "digest": digest, "fields": {"NAME": "A", "OWNER_ID": "1"}})
    assert (answer["error"]["code"], answer["error"]["field"]) == ("VALIDATION", "digest")
    assert not raw.rows("groups")


def test_a_digest_is_opaque(raw: Client) -> None:
    fields = {"NAME": "Отдел продаж", "OWNER_ID": "1"}
    (answer,) = raw.batch("groups", {"key": KEY, "digest": "0" * 64, "fields": fields})
    assert answer["status"] == "created"
    assert raw.picked("groups", KEY)[0]["digest"] == "0" * 64


@pytest.mark.parametrize("fields", [None, [], "x"])
def test_fields_are_an_object(raw: Client, fields: object) -> None:
    (answer,) = raw.batch("groups", {"key": KEY, "digest": digest_of(fields), "fields": fields})
    assert (answer["error"]["code"], answer["error"]["field"]) == ("VALIDATION", "fields")


def test_a_dry_run_gives_the_same_answers_without_effect(raw: Client) -> None:
    known = raw.group(1)
    items = [
        item("source:groups:1", NAME="Sales", OWNER_ID="1"),
        item("source:groups:1", NAME="Sold", OWNER_ID="1"),
        item("source:groups:2", NAME="B", OWNER_ID="1", SHOE_SIZE=44),
        item("source:groups:2", NAME="B", OWNER_ID="1", SHOE_SIZE=44),
        item("source:groups:3", NAME="C", OWNER_ID="871"),
    ]
    before = raw.snapshot()
    dry = raw.rehearse("groups", *items)
    assert raw.snapshot() == before
    assert [answer["id"] for answer in dry] == [known, known, None, None, None]
    wet = raw.batch("groups", *items)
    assert [answer["status"] for answer in dry] == ["unchanged", "updated", "created", "unchanged", "failed"]
    assert [{**answer, "id": None} for answer in dry] == [{**answer, "id": None} for answer in wet]
