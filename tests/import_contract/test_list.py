"""Reading back what was imported."""

import pytest
from tests.import_contract.client import Client, digest_of


def test_a_listed_record_has_key_id_digest_and_the_fields_of_now(box: Client) -> None:
    target_id = box.group()
    fields = {"NAME": "Sales", "OWNER_ID": "1"}
    record = {"key": "source:groups:12", "id": target_id, "digest": digest_of(fields), "fields": fields}
    assert box.listed("groups") == {"items": [record], "cursor": None, "count": 1}
    box.server.edit("groups", target_id, {"NAME": "By hand"})
    assert box.listed("groups")["items"][0]["fields"]["NAME"] == "By hand"


def test_pages_follow_the_cursor_in_order_of_id_and_count_everything(raw: Client) -> None:
    ids = [raw.group(n) for n in (30, 4, 100, 2, 9)]
    found, after = [], ""
    while True:
        page = raw.page("groups", after=after, limit=2)
        found += [entry["id"] for entry in page["items"]]
        assert page["count"] == 5
        if page["cursor"] is None:
            break
        after = page["cursor"]
    assert found == ids == sorted(ids, key=int)


def test_a_full_last_page_has_no_cursor(raw: Client) -> None:
    raw.group(1)
    raw.group(2)
    assert raw.page("groups", limit=2)["cursor"] is None


def test_ids_are_ordered_as_numbers(box: Client) -> None:
    box.make("departments", "source:departments:1", NAME="Company")
    child = box.make("departments", "source:departments:2", NAME="Sales", PARENT="1")
    assert [entry["id"] for entry in box.listed("departments")["items"]] == ["1", child]


def test_two_keys_of_one_record_are_both_listed_page_by_page(raw: Client) -> None:
    for number in (1, 2, 3):
        raw.make("departments", f"source:departments:{number}", NAME="Root")
    first = raw.page("departments", limit=1)
    second = raw.page("departments", limit=1, after=first["cursor"])
    third = raw.page("departments", limit=1, after=second["cursor"])
    keys = [page["items"][0]["key"] for page in (first, second, third)]
    assert keys == ["source:departments:1", "source:departments:2", "source:departments:3"]
    assert third["cursor"] is None


def test_what_the_box_had_before_is_not_listed(box: Client) -> None:
    assert box.listed("users") == {"items": [], "cursor": None, "count": 0}


def test_keys_select_and_unknown_ones_are_absent(box: Client) -> None:
    box.group(1)
    second = box.group(2)
    box.user()
    found = box.picked("groups", "source:groups:2", "source:groups:77", "source:users:2", "source:groups:2")
    assert [entry["id"] for entry in found] == [second]


def test_what_keys_select_is_all_there_is_to_it_and_everything_is_counted(raw: Client) -> None:
    raw.group(1)
    raw.group(2)
    found = raw.page("groups", keys=["source:groups:2"])
    assert (len(found["items"]), found["cursor"], found["count"]) == (1, None, 2)
    assert raw.page("groups", keys=[]) == {"items": [], "cursor": None, "count": 2}


@pytest.mark.parametrize("body", [{"limit": 501}, {"limit": 0}, {"limit": "5"}, {"after": "x"}, {"after": 5}])
def test_a_limit_over_500_and_a_strange_cursor_are_malformed(raw: Client, body: dict[str, object]) -> None:
    raw.refused("import.groups.list", stream="groups", **body)


@pytest.mark.parametrize("keys", ["x", [1], ["k"] * 501])
def test_keys_are_at_most_500_strings(raw: Client, keys: object) -> None:
    raw.refused("import.groups.list", stream="groups", keys=keys)


def test_match_finds_users_of_the_box_imported_or_not_whatever_the_case(box: Client) -> None:
    imported = box.user(2)
    found = box.matched("U2@Example.org", "nobody@example.org", "ADMIN@box.example")
    assert found == {"u2@example.org": imported, "admin@box.example": "1"}


def test_match_answers_with_the_address_as_it_was_asked(raw: Client) -> None:
    (found,) = raw.call("import.users.match", emails=["ADMIN@box.example", ""])["items"]
    assert found == {"email": "ADMIN@box.example", "id": "1"}


@pytest.mark.parametrize("emails", [None, "a@example.org", [None], ["a@example.org"] * 501])
def test_match_takes_at_most_500_addresses(raw: Client, emails: object) -> None:
    raw.refused("import.users.match", emails=emails)
