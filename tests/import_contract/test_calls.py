"""Whole calls: which methods there are, and what is refused before anything happens."""

import json

import pytest
from tests.import_contract.client import NOON, Client, Refused, item
from tests.import_contract.servers import SMALL_LIMITS


def test_info_states_contract_time_zone_entities_and_limits(box: Client) -> None:
    box.reset(timezone="Asia/Omsk", entities=("users", "groups"), limits=SMALL_LIMITS)
    info = box.info()
    assert info.pop("server").startswith(box.server.name)
    info.pop("streams", None)  # of later versions, where a server has some
    assert info == {
        "contract": 1,
        "timezone": "Asia/Omsk",
        "entities": ["users", "groups"],
        "limits": SMALL_LIMITS,
    }


@pytest.mark.parametrize("method", ["import", "import.groups", "import.groups.drop", "import.leads.batch"])
def test_an_unknown_method_is_not_found(raw: Client, method: str) -> None:
    raw.unknown(method)


@pytest.mark.parametrize("method", ["import.users.batch", "import.users.match", "import.chats.list"])
def test_an_entity_that_is_not_served_has_no_methods(raw: Client, method: str) -> None:
    raw.reset(entities=("groups",))
    raw.unknown(method, stream="users", items=[])


@pytest.mark.parametrize("stream", ["users", "nothing", "", None, 5])
def test_a_stream_of_another_entity_is_malformed(raw: Client, stream: object) -> None:
    raw.refused("import.groups.batch", stream=stream, items=[])


@pytest.mark.parametrize("name", ["start", "state", "token", "auth", "method"])
def test_keys_that_the_box_takes_for_itself_are_malformed(raw: Client, name: str) -> None:
    raw.refused("import.groups.batch", stream="groups", items=[], **{name: "x"})


@pytest.mark.parametrize("items", [None, {}, "x", [1], [{}], [{"key": ""}], [{"key": 5}]])
def test_items_without_keys_are_malformed(raw: Client, items: object) -> None:
    raw.refused("import.groups.batch", stream="groups", items=items)


@pytest.mark.parametrize("extra", [{"dry_run": "false"}, {"dry_run": 0}, {"run": 5}])
def test_wrong_types_around_the_items_are_malformed(raw: Client, extra: dict[str, object]) -> None:
    raw.refused("import.groups.batch", stream="groups", items=[], **extra)


def test_one_malformed_item_stops_the_whole_call(raw: Client) -> None:
    good = item("source:groups:1", NAME="A", OWNER_ID="1", DATE_CREATE=NOON)
    raw.refused("import.groups.batch", stream="groups", items=[good, {"fields": {}}])


def test_more_items_than_the_limit_are_malformed(raw: Client) -> None:
    raw.reset(limits=SMALL_LIMITS)
    items = [item(f"source:groups:{n}", NAME="A", OWNER_ID="1") for n in range(4)]
    raw.refused("import.groups.batch", stream="groups", items=items)
    assert len(raw.batch("groups", *items[:3])) == 3


def test_a_body_over_the_limit_is_malformed(raw: Client) -> None:
    raw.reset(limits=SMALL_LIMITS)
    body = json.dumps({"stream": "groups", "items": []}).encode()
    assert raw.post("import.groups.batch", body.ljust(1000)) == {"items": []}
    with pytest.raises(Refused, match="ERROR_ARGUMENT"):
        raw.post("import.groups.batch", body.ljust(1001))


@pytest.mark.parametrize("method", ["import.info", "import.groups.batch", "import.files.put"])
@pytest.mark.parametrize(
    "body", [b"[]", b'[{"stream": "groups"}]', b'"x"', b"5", b"null", b"{", b'{"a": "\xff"}', b"{} {}"]
)
def test_a_body_that_is_no_json_object_is_malformed(raw: Client, method: str, body: bytes) -> None:
    """The box by itself would take a list for numbered parameters, and what it cannot read for none at all."""
    before = raw.snapshot()
    with pytest.raises(Refused, match="ERROR_ARGUMENT") as caught:
        raw.post(method, body)
    assert caught.value.status == 400
    assert raw.snapshot() == before


def test_what_stands_in_the_address_is_no_part_of_the_body(raw: Client) -> None:
    assert raw.post("import.groups.batch?start=5", b'{"stream": "groups", "items": []}') == {"items": []}
    with pytest.raises(Refused, match="ERROR_ARGUMENT"):
        raw.post("import.groups.batch?stream=groups", b'{"items": []}')


def test_a_method_is_the_same_in_capitals(raw: Client) -> None:
    assert raw.post("IMPORT.Info", b"{}") == raw.info()


def test_a_wrong_secret_opens_nothing(raw: Client) -> None:
    with pytest.raises(Refused, match="INVALID_CREDENTIALS") as caught:
        raw.post("../0123456789abcdef/import.info", b"{}")
    assert caught.value.status == 401


def test_a_call_without_items_answers_none(box: Client) -> None:
    assert box.batch("groups") == []
