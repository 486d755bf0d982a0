"""The box through the import contract."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.bitrix.support import Kit, Response, Scripted

from b24migrate.entities.custom_fields import list_fields
from b24migrate.model.errors import GateUnmet, Limited, Permanent, Transient
from b24migrate.model.records import Item
from b24migrate.model.streams import CustomFields
from b24migrate.ports import Target
from b24migrate.targets.module import ImportTarget
from b24sim.portal import Portal as Simulated
from b24sim.serve import Running, serve

LIMITS = {"items": 3, "body_bytes": 4000, "file_bytes": 10**6, "chunk_bytes": 1000}
# It would be sent in the place of every reference, and nothing would set it right later.
NO_IDS = ("0001-01-01T00:00:00+14:00", "\ufffd\ufffd", "²", "a b", "7\x00", "../7", -1, 10**30, "x" * 101)
INFO = {"contract": 1, "server": "x", "timezone": "UTC", "entities": ["users"], "limits": LIMITS}


@pytest.fixture
def box() -> Iterator[Running]:
    with serve(Simulated(role="box")) as running:
        yield running


def target(url: str) -> ImportTarget:
    return ImportTarget(Kit([url], name="target").portal)


def user(number: int, **more: Any) -> Item:
    fields = {"NAME": f"N{number}", "EMAIL": f"u{number}@example.org", "ACTIVE": True, **more}
    return Item.make(f"source:users:{number}", fields)


def success(result: Any) -> Response:
    return Response(json.dumps({"result": result}).encode())


def test_it_is_a_target(box: Running) -> None:
    port: Target = target(box.webhook())
    assert port.alive()
    info = port.info()
    assert info.contract == 1
    assert "users" in info.entities
    assert info.limits.items > 0


def test_the_same_items_again_change_nothing(box: Running) -> None:
    port = target(box.webhook())
    items = [user(number) for number in range(5)]
    first = port.send("users", "users", items, run="r")
    again = port.send("users", "users", items, run="r")
    assert [one.status for one in first] == ["created"] * 5
    assert [one.status for one in again] == ["unchanged"] * 5
    assert [one.target_id for one in first] == [one.target_id for one in again]
    changed = port.send("users", "users", [user(0, NAME="Other")], run="r")
    assert changed[0].status == "updated"


def test_a_failed_item_says_why_and_leaves_the_others(box: Running) -> None:
    port = target(box.webhook())
    good, bad = port.send("users", "users", [user(1), user(2, EMAIL="u1@example.org")], run="r")
    assert good.status == "created"
    assert (bad.status, bad.error_code, bad.retry, bad.target_id) == ("failed", "DUPLICATE_EMAIL", False, None)


def test_what_was_imported_can_be_read_back(box: Running) -> None:
    port = target(box.webhook())
    items = [user(number) for number in range(3)]
    sent = port.send("users", "users", items, run="r")
    found = port.read("users", "users", [*(item.key for item in items), "source:users:404"])
    assert {key: record.target_id for key, record in found.items()} == {one.key: one.target_id for one in sent}
    assert found[items[0].key].digest == items[0].digest
    page, cursor, count = port.listing("users", "users", "")
    assert {record.key for record in page} == {item.key for item in items}
    assert (cursor, count) == (None, 3)
    assert port.match_users(["U1@Example.org", "nobody@example.org"]) == {"u1@example.org": sent[1].target_id}


def test_custom_fields_are_created_with_their_options(box: Running) -> None:
    port = target(box.webhook())
    option = {"id": "26", "value": "A", "xml_id": "a", "sort": 10, "default": False}
    field = {
        "code": "UF_USR_1",
        "type": "enumeration",
        "multiple": False,
        "mandatory": False,
        "sort": 100,
        "label": {"en": "L"},
        "settings": {},
        "options": [option],
    }
    assert port.fields("users", "users", []) == []
    created = port.fields("users", "users", [field])
    assert (created[0].code, created[0].status) == ("UF_USR_1", "created")
    assert set(created[0].options) == {"26"}
    assert port.fields("users", "users", [field])[0].status == "exists"
    custom = CustomFields("users", "user.userfield", list_fields("user.userfield.list"))
    assert port.existing_fields(custom) == {"UF_USR_1": "enumeration"}


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 5000])
def test_a_file_arrives_whole_and_only_once(size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    sha256 = hashlib.sha256(content).hexdigest()
    with serve(Simulated(role="box")) as box:
        port = target(box.webhook())
        port._info = port.info()._replace(limits=port.info().limits._replace(chunk_bytes=700))
        first = port.put_file("source:file:disk:1", "a.bin", size, sha256, io.BytesIO(content))
        calls = box.portal.stats.methods["import.files.put"]
        again = port.put_file("source:file:disk:1", "a.bin", size, sha256, io.BytesIO(content))
        assert first == again
        assert box.portal.stats.methods["import.files.put"] == calls + 1


def test_an_upload_goes_on_where_it_stopped() -> None:
    content = b"0123456789" * 100
    script = [
        success({"received": 400, "id": None}),
        success(INFO),
        success({"received": 300, "id": None}),
        success({"received": 1000, "id": "77"}),
    ]
    with Scripted(*script) as server:
        port = target(server.webhook)
        sha256 = hashlib.sha256(content).hexdigest()
        assert port.put_file("source:file:disk:1", "a", 1000, sha256, io.BytesIO(content)) == "77"
        offsets = [json.loads(heard.body).get("offset") for heard in server.heard if b"offset" in heard.body]
    assert offsets == [-1, 400, 300]


@pytest.mark.parametrize(
    "answer",
    [
        {"received": 10, "id": False},
        {"received": 10, "id": True},
        {"received": 10, "id": {"odd": 1}},
        *({"received": 10, "id": one} for one in (*NO_IDS, 0, "0")),
        {"received": True, "id": "7"},
        {"received": -1, "id": None},
        {"received": "10", "id": None},
        {"id": "7"},
    ],
)
def test_what_is_no_id_names_no_file(answer: Any) -> None:
    with Scripted(success(answer)) as server, pytest.raises(Transient) as caught:
        target(server.webhook).put_file("k", "a", 10, "0" * 64, io.BytesIO(b"0123456789"))
    assert (caught.value.code, caught.value.own) == ("STRANGE_ANSWER", True)


@pytest.mark.parametrize(
    "more", [{"target": {"odd": 1}}, {"target": True}, {"options": {"1": {}}}, {"options": {"1": False}}]
)
def test_what_is_no_code_names_no_field(more: Any) -> None:
    answer = {"code": "UF_A", "target": "UF_A", "status": "created", "options": {}, "error": None, **more}
    with Scripted(success({"fields": [answer]})) as server, pytest.raises(Transient) as caught:
        target(server.webhook).fields("crm", "crm_deals", [{"code": "UF_A"}])
    assert caught.value.code == "STRANGE_ANSWER"


def test_an_upload_that_gets_nowhere_ends() -> None:
    with Scripted(success({"received": 0, "id": None}), success(INFO), success({"received": 0, "id": None})) as server:
        with pytest.raises(Transient) as caught:
            target(server.webhook).put_file("k", "a", 10, "0" * 64, io.BytesIO(b"0123456789"))
        assert caught.value.code == "UPLOAD_STALLED"


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"key": "source:users:1", "status": "created", "id": "5"}],
        [{"key": "source:users:1", "status": "created", "id": "5"}] * 2,
        [{"key": "source:users:1", "status": "created", "id": "5"}, {"key": "x", "status": "created", "id": "6"}],
        [{"key": "source:users:1", "status": "created", "id": None}, {"key": "source:users:2", "status": "failed"}],
        [{"key": "source:users:1", "status": "maybe", "id": "1"}, {"key": "source:users:2", "status": "failed"}],
        *([{"key": f"source:users:{n}", "status": "created", "id": one} for n in (1, 2)] for one in NO_IDS),
        None,
        [1, 2],
    ],
)
def test_an_answer_that_does_not_account_for_every_item_is_no_answer(items: Any) -> None:
    with Scripted(success({"items": items})) as server, pytest.raises(Transient) as caught:
        target(server.webhook).send("users", "users", [user(1), user(2)], run="r")
    assert caught.value.own


RECORD = {"key": "source:users:1", "id": "5", "digest": "", "fields": {}}


@pytest.mark.parametrize(
    "answer",
    [
        {"items": [], "count": 0},  # no cursor is not the end
        {"items": [], "cursor": None},
        {"records": [RECORD], "cursor": None, "count": 1},
        {"items": None, "cursor": None, "count": 1},
        {"items": [], "cursor": False, "count": 1},
        {"items": [], "cursor": None, "count": True},
        {"items": [{"key": "source:users:1", "id": "5", "digest": ""}], "cursor": None, "count": 1},
        {"items": [{**RECORD, "id": "7\x00"}], "cursor": None, "count": 1},
    ],
)
def test_a_list_without_what_the_contract_promises_is_no_empty_list(answer: Any) -> None:
    with Scripted(success(answer)) as server, pytest.raises(Transient) as caught:
        target(server.webhook).listing("users", "users", "")
    assert caught.value.code == "STRANGE_ANSWER"


def test_an_empty_map_may_be_a_list() -> None:
    with Scripted(success({"items": [{**RECORD, "fields": []}], "cursor": None, "count": 1})) as server:
        assert target(server.webhook).listing("users", "users", "")[0][0].fields == {}


def test_what_the_target_does_not_keep_is_told_in_both_ways_and_not_taken_for_nothing() -> None:
    rule = {"stream": "tasks", "field": "tags", "keeping": "approximated", "reason": "They are text here."}
    ours = {"key": "tasks:tags", "reason": "They are text here."}
    with Scripted(
        success({"rules": [rule, {**rule, "field": "title"}]}), success({"items": [ours]}), success([])
    ) as server:
        port = target(server.webhook)
        assert [(one.field, one.keeping.value) for one in port.fidelity()] == [
            ("tags", "approximated"),
            ("title", "approximated"),
        ]
        assert [(one.stream, one.field, one.keeping.value) for one in port.fidelity()] == [("tasks", "tags", "lost")]
        with pytest.raises(Transient):
            port.fidelity()


def test_a_field_may_have_several_rules_and_one_said_twice_is_one() -> None:
    rule = {"stream": "tasks", "field": "tags", "keeping": "approximated", "reason": "Case is ignored."}
    other = {**rule, "keeping": "lost", "reason": "Tags of strangers go."}
    with Scripted(success({"rules": [rule, other, rule]})) as server:
        assert [(one.field, one.reason) for one in target(server.webhook).fidelity()] == [
            ("tags", "Case is ignored."),
            ("tags", "Tags of strangers go."),
        ]


def test_the_end_of_a_run_is_named_and_a_cursor_goes_only_to_who_gave_one() -> None:
    with Scripted(success({"cursor": "chats:7"}), success({}), success({})) as server:
        port = target(server.webhook)
        assert port.finalize("", run="r1") == "chats:7"
        assert port.finalize("chats:7", run="r1") is None
        assert [json.loads(one.body) for one in server.heard] == [{"run": "r1"}, {"run": "r1", "after": "chats:7"}]


def test_a_call_is_one_post_of_the_contracts_shape() -> None:
    item = user(1)
    with Scripted(success({"items": [{"key": item.key, "status": "failed", "id": None, "error": None}]})) as server:
        outcome = target(server.webhook).send("users", "users", [item], run="r")[0]
        heard = server.heard[0]
    assert (outcome.error_code, outcome.retry) == ("INTERNAL", True)
    assert heard.path.endswith("/import.users.batch")
    body = json.loads(heard.body)
    assert list(body) == ["stream", "run", "dry_run", "items"]
    assert body["items"][0] == {"key": item.key, "digest": item.digest, "fields": dict(item.fields)}
    assert len(item.digest) == 64


def test_a_call_keeps_to_the_targets_limits() -> None:
    with Scripted(success(INFO)) as server:
        port = target(server.webhook)
        assert port.fits([user(number) for number in range(9)]) == 3
        assert port.fits([user(1, NAME="x" * 2000), user(2, NAME="x" * 2000)]) == 1
        assert port.fits([user(1, NAME="x" * 4000)]) == 0
        assert port.fits([]) == 0


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Response(b'{"error":"ERROR_ARGUMENT","error_description":"too many items"}', 400), Permanent),
        (Response(b'{"error":"INVALID_CREDENTIALS"}', 401), GateUnmet),
        (Response(b'{"error":"insufficient_scope"}', 401), GateUnmet),
        (Response(b'{"error":"ERROR_METHOD_NOT_FOUND"}', 404), GateUnmet),
        (Response(b'{"error":"ACCESS_DENIED"}', 403), GateUnmet),
        (Response(b'{"error":"QUERY_LIMIT_EXCEEDED","retry_after":3}', 503), Limited),
        (Response(b'{"error":"INTERNAL_SERVER_ERROR"}', 500), Transient),
    ],
)
def test_errors_of_the_whole_call_are_sorted(answer: Response, kind: type[Exception]) -> None:
    with Scripted(answer) as server, pytest.raises(kind) as caught:
        target(server.webhook).send("users", "users", [user(1)], run="r")
    if isinstance(caught.value, GateUnmet):
        assert caught.value.gate.startswith("auth.target.import")
    if isinstance(caught.value, Limited):
        assert caught.value.wait_s == pytest.approx(3, abs=0.1)
