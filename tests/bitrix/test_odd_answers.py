"""Answers that no portal should give: each is one of our errors, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from b24migrate.bitrix.envelope import Envelope, Times, number, times, whole
from b24migrate.bitrix.faults import Caller, open_answer, to_error
from b24migrate.bitrix.webhook import parse_webhook
from b24migrate.model import values
from b24migrate.model.answers import open_entry, open_list
from b24migrate.model.errors import Permanent, Transient

DEEP = b"[" * 100_000 + b"]" * 100_000
WEBHOOK = parse_webhook("https://portal.example/rest/1/secretsecret/")


def answer_of(result: bytes, more: bytes = b"") -> object:
    body = b'{"result":' + result + more + b',"time":{}}'
    return open_answer(200, body, "user.get", Caller(), Envelope)


@pytest.mark.parametrize(
    "body",
    [
        b'{"result":' + DEEP + b"}",
        b'{"error":' + DEEP + b"}",
        b'{"error":"X","error_description":' + DEEP + b"}",
        b'{"result":[],"time":' + DEEP + b"}",
        DEEP,
    ],
)
def test_deep_nesting_is_an_answer_that_makes_no_sense(body: bytes) -> None:
    error = to_error(200, body, "user.get")
    assert isinstance(error, Transient)
    assert error.code == "STRANGE_ANSWER"


@pytest.mark.parametrize("error", [b"[[1]]", b'{"odd":1}', b'{"code":{"odd":1}}', b"[]"])
def test_an_error_that_is_none_is_an_answer_that_makes_no_sense(error: bytes) -> None:
    """A refusal has a code; taken for one, records would go without what was asked for."""
    error_found = to_error(400, b'{"error":' + error + b',"error_description":[1]}', "user.get")
    assert isinstance(error_found, Transient)
    assert error_found.code == "STRANGE_ANSWER"


@pytest.mark.parametrize("raw", [b"1" + b"0" * 30, b'"abc"', b"[]", b"{}", b"1e308", b"null", b"true", DEEP])
def test_a_total_that_counts_nothing_is_none(raw: bytes) -> None:
    assert whole(Raw(raw)) is None


def test_a_total_is_a_number() -> None:
    assert [whole(Raw(one)) for one in (b"0", b'"12"', b"-1")] == [0, 12, -1]


@pytest.mark.parametrize("raw", [b"[]", b'"x"', DEEP, b'{"operating":[]}', b'{"start":"abc"}'])
def test_odd_times_are_no_times(raw: bytes) -> None:
    assert times(Raw(raw)) == Times()
    assert number(Raw(DEEP)) is None


@pytest.mark.parametrize("where", ["http://[::1", "http://[::1/x", "https://portal.example:99999999/rest/1/x"])
def test_a_redirect_that_is_no_address_leads_nowhere(where: str) -> None:
    assert WEBHOOK.moved(where) is None


def test_a_list_too_deep_to_be_read_is_no_list() -> None:
    with pytest.raises(Permanent):
        open_list(Raw(DEEP), ("items",), "crm.item.list")
    with pytest.raises(Permanent):
        open_entry({"field": Raw(DEEP)}, "field")


@pytest.mark.parametrize("value", [{"a": 1}, [1], "abc", "1e999", float("inf"), 1e300, "nan"])
def test_what_is_no_whole_number_is_told(value: Any) -> None:
    with pytest.raises(values.OddValue):
        values.whole(value)


@pytest.mark.parametrize("convert", [values.text, values.flag, values.number, values.whole, values.reference])
def test_an_object_is_no_value_and_an_empty_list_is_none(convert: Any) -> None:
    with pytest.raises(values.OddValue):
        convert({"a": 1})
    with pytest.raises(values.OddValue):
        convert([1])
    assert convert([]) is None
    assert convert({}) is None
