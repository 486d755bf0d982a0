"""Reading back what was imported."""

import pytest
from tests.sim_imports.client import Client, digest_of


def test_a_listed_record_has_key_id_digest_and_the_fields_of_now(box: Client) -> None:
    target_id = box.group()
    fields = {"NAME": "Sales", "OWNER_ID": "1"}
    record = {"key": "source:groups:12", "id": target_id, "digest": digest_of(fields), "fields": fields}
    assert box.listed("groups") == {"items": [record], "cursor": None, "count": 1}
    box.box.edit("groups", target_id, {"NAME": "By hand"})
    assert box.listed("groups")["items"][0]["fields"]["NAME"] == "By hand"


def test_pages_follow_the_cursor_in_order_of_id_and_count_everything(box: Client) -> None:
    ids = [box.group(n) for n in (30, 4, 100, 2, 9)]
    seen, after = [], ""
    while True:
        page = box.listed("groups", after=after, limit=2)
        seen += [entry["id"] for entry in page["items"]]
        assert page["count"] == 5
        if page["cursor"] is None:
            break
        after = page["cursor"]
    assert seen == ids == sorted(ids, key=int)


def test_a_full_last_page_has_no_cursor(box: Client) -> None:
    box.group(1)
    box.group(2)
    assert box.listed("groups", limit=2)["cursor"] is None


def test_ids_are_ordered_as_numbers(box: Client) -> None:
    box.make("departments", "source:departments:1", NAME="Company")
    child = box.make("departments", "source:departments:2", NAME="Sales", PARENT="1")
    assert [entry["id"] for entry in box.listed("departments", limit=500)["items"]] == ["1", child]


def test_two_keys_of_one_record_are_both_listed_page_by_page(box: Client) -> None:
    for number in (1, 2, 3):
        box.make("departments", f"source:departments:{number}", NAME="Root")
    first = box.listed("departments", limit=1)
    second = box.listed("departments", limit=1, after=first["cursor"])
    third = box.listed("departments", limit=1, after=second["cursor"])
    keys = [page["items"][0]["key"] for page in (first, second, third)]
    assert keys == ["source:departments:1", "source:departments:2", "source:departments:3"]
    assert third["cursor"] is None


def test_what_the_box_had_before_is_not_listed(box: Client) -> None:
    assert box.listed("users") == {"items": [], "cursor": None, "count": 0}


def test_keys_select_and_unknown_ones_are_absent(box: Client) -> None:
    box.group(1)
    second = box.group(2)
    box.user()
    found = box.listed("groups", keys=["source:groups:2", "source:groups:77", "source:users:2", "source:groups:2"])
    assert [entry["id"] for entry in found["items"]] == [second]
    assert (found["cursor"], found["count"]) == (None, 2)


def test_no_keys_select_nothing(box: Client) -> None:
    box.group()
    assert box.listed("groups", keys=[]) == {"items": [], "cursor": None, "count": 1}


@pytest.mark.parametrize("body", [{"limit": 501}, {"limit": 0}, {"limit": "5"}, {"after": "x"}, {"after": 5}])
def test_a_limit_over_500_and_a_strange_cursor_are_malformed(box: Client, body: dict[str, object]) -> None:
    box.refused("import.groups.list", stream="groups", **body)


@pytest.mark.parametrize("keys", ["x", [1], ["k"] * 501])
def test_keys_are_at_most_500_strings(box: Client, keys: object) -> None:
    box.refused("import.groups.list", stream="groups", keys=keys)


def test_match_finds_users_of_the_box_imported_or_not_whatever_the_case(box: Client) -> None:
    imported = box.user(2)
    result = box.call("import.users.match", emails=["U2@Example.org", "nobody@example.org", "ADMIN@box.example"])
    assert result == {"items": [{"email": "U2@Example.org", "id": imported}, {"email": "ADMIN@box.example", "id": "1"}]}


@pytest.mark.parametrize("emails", [None, "a@example.org", [None], ["a@example.org"] * 501])
def test_match_takes_at_most_500_addresses(box: Client, emails: object) -> None:
    box.refused("import.users.match", emails=emails)
