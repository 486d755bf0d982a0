"""Taking imports back."""

import pytest
from tests.import_contract.client import Client

KEY = "source:groups:12"


def test_a_deleted_record_is_gone_and_its_key_is_unknown_again(box: Client) -> None:
    first = box.group()
    assert box.delete("groups", KEY) == ["deleted"]
    assert not box.rows("groups")
    assert box.listed("groups")["count"] == 0
    assert box.group() != first


def test_an_answer_has_key_status_and_reason(box: Client) -> None:
    group = box.group()
    box.make("group_members", "source:group_members:12:1", GROUP_ID=group, USER_ID="1", ROLE="A")
    (kept,) = box.deletions("groups", [KEY])
    assert (kept["key"], kept["status"]) == (KEY, "kept")
    assert "group_members" in kept["reason"]
    (absent,) = box.deletions("groups", ["source:groups:1"])
    assert absent == {"key": "source:groups:1", "status": "absent", "reason": None}


def test_unknown_keys_and_keys_of_other_streams_are_absent(box: Client) -> None:
    box.user()
    assert box.delete("groups", "source:groups:1", "source:users:2") == ["absent", "absent"]
    assert box.listed("users")["count"] == 1


def test_what_others_depend_on_is_kept_until_they_are_gone(box: Client) -> None:
    group = box.group()
    member = "source:group_members:12:1"
    box.make("group_members", member, GROUP_ID=group, USER_ID="1", ROLE="A")
    assert box.delete("groups", KEY) == ["kept"]
    assert box.delete("group_members", member) == ["deleted"]
    assert box.delete("groups", KEY) == ["deleted"]


def test_a_reference_that_was_dropped_no_longer_keeps(box: Client) -> None:
    user = box.user()
    box.make("groups", KEY, NAME="Sales", OWNER_ID=user)
    assert box.delete("users", "source:users:2") == ["kept"]
    box.send("groups", KEY, NAME="Sales", OWNER_ID="1")
    assert box.delete("users", "source:users:2") == ["deleted"]


def test_a_record_that_refers_to_itself_can_go(box: Client) -> None:
    task = box.task()
    box.send("tasks", "source:tasks:7", parentId=task)
    assert box.delete("tasks", "source:tasks:7") == ["deleted"]


def test_what_somebody_changed_is_kept(box: Client) -> None:
    target_id = box.group()
    box.server.edit("groups", target_id, {"NAME": "By hand"})
    assert box.delete("groups", KEY) == ["kept"]
    assert box.rows("groups")[target_id]["NAME"] == "By hand"


def test_what_was_updated_by_an_import_is_not_what_somebody_changed(box: Client) -> None:
    box.group()
    assert box.send("groups", KEY, NAME="Sold", OWNER_ID="1")["status"] == "updated"
    assert box.delete("groups", KEY) == ["deleted"]


def test_a_linked_record_of_the_box_stays_when_its_key_is_taken_back(box: Client) -> None:
    box.make("departments", "source:departments:1", NAME="Theirs")
    assert box.delete("departments", "source:departments:1") == ["deleted"]
    assert box.rows("departments")["1"]["NAME"] == "Моя компания"
    assert box.listed("departments")["count"] == 0


def test_a_record_that_another_key_was_linked_to_is_kept(box: Client) -> None:
    first = box.make("crm_types", "source:crm_types:1", title="Contracts")
    assert box.make("crm_types", "source:crm_types:2", title="Contracts") == first
    assert box.delete("crm_types", "source:crm_types:1") == ["kept"]
    assert box.delete("crm_types", "source:crm_types:2", "source:crm_types:1") == ["deleted", "deleted"]


def test_a_dry_run_says_the_same_and_deletes_nothing(box: Client) -> None:
    group = box.group()
    member = "source:group_members:12:1"
    box.make("group_members", member, GROUP_ID=group, USER_ID="1", ROLE="A")
    before = box.snapshot()
    assert box.delete("group_members", member, dry_run=True) == ["deleted"]
    assert box.delete("groups", KEY, dry_run=True) == ["kept"]
    assert box.snapshot() == before


def test_keys_are_taken_in_order_by_a_dry_run_too(raw: Client) -> None:
    raw.group()
    for dry_run in (True, False):
        assert raw.delete("groups", KEY, KEY, dry_run=dry_run) == ["deleted", "absent"]


def test_the_address_of_a_deleted_user_is_free_again(box: Client) -> None:
    box.user()
    box.delete("users", "source:users:2")
    assert box.make("users", "source:users:3", NAME="Anna", EMAIL="u2@example.org")


@pytest.mark.parametrize("body", [{"keys": None}, {"keys": [1]}, {"keys": [], "dry_run": 1}])
def test_malformed_deletions_are_refused(raw: Client, body: dict[str, object]) -> None:
    raw.refused("import.groups.delete", stream="groups", **body)
