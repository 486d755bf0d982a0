"""Many calls in one request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bitrix.support import Kit, Response, Scripted

from b24migrate.bitrix.batch import Batcher, Ref, encode, fits
from b24migrate.model.errors import GateUnmet, Limited, Permanent, Transient
from b24migrate.ports import Command
from b24sim.company.company import Company
from b24sim.faults import Faults
from b24sim.portal import Portal as Simulated
from b24sim.request import parse_query
from b24sim.serve import Running, serve

names = st.text(min_size=1, max_size=8).filter(lambda name: not set(name) & set("[]\x00"))
keys = names.map(lambda name: f"k{name}").filter(lambda name: not name.startswith("k["))
texts = st.text(max_size=20).filter(lambda text: "\x00" not in text)
leaves = texts | st.integers() | st.booleans() | st.none()
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def as_php(value: Any) -> Any:
    """What PHP makes of it: all texts, and neither null nor an empty container."""
    if isinstance(value, dict):
        inside = {key: as_php(item) for key, item in value.items()}
        return {key: item for key, item in inside.items() if item is not None} or None
    if isinstance(value, list):
        inside_list = [as_php(item) for item in value]
        if None not in inside_list:
            return inside_list or None
        kept = {str(place): item for place, item in enumerate(inside_list) if item is not None}
        dense = list(kept) == [str(place) for place in range(len(kept))]
        return (list(kept.values()) if dense else kept) or None
    if isinstance(value, bool):
        return str(int(value))
    return None if value is None else str(value)


@given(st.dictionaries(keys, values, max_size=5))
def test_a_command_says_to_php_what_the_call_would_have_said(params: dict[str, Any]) -> None:
    text = encode(Command("user.get", params))
    method, _, query = text.partition("?")
    assert method == "user.get"
    assert text.isascii()
    assert parse_query(query) == (as_php(params) or {})


def test_a_reference_is_what_only_we_can_write() -> None:
    command = Command("user.get", {"FILTER": {">ID": Ref(0, ("items", 49, "ID"))}})
    assert parse_query(encode(command).partition("?")[2]) == {"FILTER": {">ID": "$result[c0][items][49][ID]"}}
    assert fits(command)
    assert not fits(Command("user.get", {"FILTER": {"NAME": "about $result[c0] and more"}}))
    assert not fits(Command("user.get", {"a": ["$TOTAL[x]"]}))
    assert fits(Command("user.get", {"a": "costs $5"}))
    assert not fits(Command("user.get", {"a": list(range(1000))}))


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve(Simulated(Company())) as one:
        yield one


def test_answers_come_in_order_in_as_few_requests_as_possible(running: Running) -> None:
    batcher = Batcher(Kit([running.webhook()]).portal)
    known = [row["ID"] for row in json.loads(batcher.single(Command("user.get", {"ADMIN_MODE": True})).result or b"")]
    wanted = [known[number % len(known)] for number in range(120)]
    running.portal.stats.reset()
    answers = batcher.run([Command("user.get", {"FILTER": {"ID": one}, "ADMIN_MODE": True}) for one in wanted])
    ids = [json.loads(answer.result or b"")[0]["ID"] for answer in answers]
    assert ids == wanted
    assert running.portal.stats.http_requests == 3


def test_a_failed_command_is_an_answer_and_its_neighbours_are_fine(running: Running) -> None:
    batcher = Batcher(Kit([running.webhook()]).portal)
    answers = batcher.run(
        [
            Command("user.get", {"ADMIN_MODE": True}),
            Command("no.such", {}),
            Command("im.dialog.get", {}),
            Command("server.time", {}),
        ]
    )
    assert [type(answer.error) for answer in answers] == [type(None), Permanent, Permanent, type(None)]
    assert answers[0].total == 20


def test_text_that_the_portal_would_replace_goes_by_itself(running: Running) -> None:
    batcher = Batcher(Kit([running.webhook()]).portal)
    running.portal.stats.reset()
    answers = batcher.run(
        [Command("server.time", {}), Command("user.get", {"FILTER": {"NAME": "$result[c0]"}}), Command("scope", {})]
    )
    assert all(answer.error is None for answer in answers)
    assert running.portal.stats.methods["user.get"] == 1
    assert running.portal.stats.methods["batch"] == 1


def test_a_command_that_fails_inside_is_its_own_fault(running: Running) -> None:
    running.portal.faults = Faults([{"method": "user.get", "kind": "500", "at": [1]}])
    batcher = Batcher(Kit([running.webhook()]).portal)
    bad, good = batcher.run([Command("user.get", {}), Command("user.get", {})])
    running.portal.faults = Faults()
    assert isinstance(bad.error, Transient)
    assert bad.error.own
    assert good.error is None


def test_a_limit_inside_a_batch_makes_that_method_rest(running: Running) -> None:
    running.portal.faults = Faults([{"method": "user.get", "kind": "operating_limit", "at": [2]}])
    batcher = Batcher(Kit([running.webhook()]).portal)
    good, bad = batcher.run([Command("user.get", {}), Command("user.get", {})])
    running.portal.faults = Faults()
    assert good.error is None
    assert isinstance(bad.error, Limited)
    assert bad.error.wait_s > 0
    with pytest.raises(Limited):
        batcher.run([Command("user.get", {})])


def test_a_request_that_fails_by_itself_is_repeated_after_pauses(running: Running) -> None:
    running.portal.faults = Faults([{"method": "batch", "kind": "500", "at": [1, 2]}])
    kit = Kit([running.webhook()])
    (answer,) = Batcher(kit.portal).run([Command("server.time", {})])
    running.portal.faults = Faults()
    assert answer.error is None
    first, second = kit.clock.slept
    assert 1.0 <= first < second


def test_a_batch_goes_through_the_webhook_that_was_chosen() -> None:
    with Scripted(Response(b'{"result":{"result":{"c0":1},"result_error":[]}}')) as server:
        kit = Kit([server.webhook, server.webhook.replace("/rest/1/", "/rest/2/")])
        Batcher(kit.portal).run([Command("user.get", {})], via=1)
        assert [one.path.split("/")[2] for one in server.heard] == ["2"]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        (b'{"result":{"result":{"c0":1,"c1":null},"result_error":[]}}', [type(None), type(None)]),
        (b'{"result":{"result":[],"result_error":{"c0":{"error":""},"c1":{"error":7}}}}', [Permanent, Permanent]),
        (b'{"result":{"result":{"c0":1},"result_error":[]}}', [type(None), Transient]),
        (b'{"result":[]}', [Transient, Transient]),
        (b'{"result":{"result":[],"result_error":{"c0":"?","c1":{}}}}', [Transient, Transient]),
        (
            b'{"result":{"result":[],"result_error":{"c0":{"error":"insufficient_scope"},"c1":{"error":"ACCESS_ERROR"}}}}',
            [GateUnmet, Permanent],
        ),
    ],
)
def test_maps_that_php_writes_as_lists_and_missing_entries_are_understood(body: bytes, kinds: list[type]) -> None:
    with Scripted(Response(body)) as server:
        batcher = Batcher(Kit([server.webhook]).portal)
        answers = batcher.run([Command("user.get", {}), Command("user.get", {})])
    assert [type(answer.error) for answer in answers] == kinds
