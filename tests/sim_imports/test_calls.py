"""Whole calls: which methods there are, and what is refused before anything happens."""

import pytest
from tests.sim_imports.client import NOON, Client, item, small_limits

from b24sim.errors import RestError


def test_info_states_contract_time_zone_entities_and_limits() -> None:
    client = Client(timezone="Asia/Omsk", entities=("users", "groups"))
    assert client.call("import.info") == {
        "contract": 1,
        "server": "b24sim/0.1",
        "timezone": "Asia/Omsk",
        "entities": ["users", "groups"],
        "limits": {"items": 100, "body_bytes": 8000000, "file_bytes": 104857600, "chunk_bytes": 4194304},
    }


@pytest.mark.parametrize("method", ["import", "import.groups", "import.groups.drop", "import.leads.batch", "user.get"])
def test_an_unknown_method_is_not_found(box: Client, method: str) -> None:
    box.unknown(method)


@pytest.mark.parametrize("method", ["import.users.batch", "import.users.match", "import.chats.list"])
def test_an_entity_that_is_not_served_has_no_methods(method: str) -> None:
    Client(entities=("groups",)).unknown(method, stream="users", items=[])


@pytest.mark.parametrize("stream", ["users", "nothing", "", None, 5])
def test_a_stream_of_another_entity_is_malformed(box: Client, stream: object) -> None:
    box.refused("import.groups.batch", stream=stream, items=[])


@pytest.mark.parametrize("name", ["start", "state", "token", "auth", "method"])
def test_keys_that_the_box_takes_for_itself_are_malformed(box: Client, name: str) -> None:
    box.refused("import.groups.batch", stream="groups", items=[], **{name: "x"})


def test_a_body_that_is_no_object_is_malformed(box: Client) -> None:
    with pytest.raises(RestError, match="ERROR_ARGUMENT"):
        box.box.handle("import.info", [])  # type: ignore[arg-type]


@pytest.mark.parametrize("items", [None, {}, "x", [1], [{}], [{"key": ""}], [{"key": 5}]])
def test_items_without_keys_are_malformed(box: Client, items: object) -> None:
    box.refused("import.groups.batch", stream="groups", items=items)


@pytest.mark.parametrize("extra", [{"dry_run": "false"}, {"dry_run": 0}, {"run": 5}])
def test_wrong_types_around_the_items_are_malformed(box: Client, extra: dict[str, object]) -> None:
    box.refused("import.groups.batch", stream="groups", items=[], **extra)


def test_one_malformed_item_stops_the_whole_call(box: Client) -> None:
    good = item("source:groups:1", NAME="A", OWNER_ID="1", DATE_CREATE=NOON)
    box.refused("import.groups.batch", stream="groups", items=[good, {"fields": {}}])


def test_more_items_than_the_limit_are_malformed() -> None:
    client = Client(limits=small_limits())
    items = [item(f"source:groups:{n}", NAME="A", OWNER_ID="1") for n in range(4)]
    client.refused("import.groups.batch", stream="groups", items=items)
    assert len(client.batch("groups", *items[:3])) == 3


def test_a_body_over_the_limit_is_malformed() -> None:
    client = Client(limits=small_limits())
    body: dict[str, object] = {"stream": "groups", "items": []}
    assert client.box.handle("import.groups.batch", body, size=1000) == {"items": []}
    with pytest.raises(RestError, match="ERROR_ARGUMENT"):
        client.box.handle("import.groups.batch", body, size=1001)


def test_a_call_without_items_answers_none(box: Client) -> None:
    assert box.batch("groups") == []
