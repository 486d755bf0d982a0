"""One letter that is none keeps nobody else's records from being read."""

from __future__ import annotations

import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from b24migrate.bitrix.envelope import Envelope
from b24migrate.bitrix.faults import Caller, open_answer, replace_half_characters, replace_invalid_bytes
from b24migrate.model.errors import MigrationError

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (rb"A\ud83d B", "A\ufffd B"),
        (rb"\ude00", "\ufffd"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\ud83d", "\ufffd"),
        (rb"\\ud83d", r"\ud83d"),
        (rb"\\\ud83d\"", '\\\ufffd"'),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xed\xa0\xbd", "\ufffd\ufffd\ufffd"),
        ("Ёлка \U0001f384".encode(), "Ёлка \U0001f384"),
    ],
)
def test_what_is_no_character_is_read_as_an_unknown_one(sent: bytes, read: str) -> None:
    body = b'{"result":[{"ID":"1","NAME":"' + sent + b'"},{"ID":"2","NAME":"Anna"}]}'
    opened = open_answer(200, body, "user.get", Caller(), Envelope)
    assert not isinstance(opened, MigrationError)
    assert isinstance(opened.result, msgspec.Raw)
    assert [one["NAME"] for one in msgspec.json.decode(opened.result)] == [read, "Anna"]


@given(TEXTS)
def test_every_text_that_a_portal_can_spell_is_read(text: str) -> None:
    body = json.dumps({"result": text}).encode()
    read = msgspec.json.decode(replace_half_characters(replace_invalid_bytes(body)))["result"]
    assert read == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@given(st.binary(max_size=20))
def test_whatever_bytes_come_they_can_be_looked_at(noise: bytes) -> None:
    assert replace_invalid_bytes(replace_invalid_bytes(noise)) == replace_invalid_bytes(noise)
    assert replace_invalid_bytes(noise).decode() or not noise


@given(st.text(max_size=20))
def test_what_is_text_stays_as_it_is(text: str) -> None:
    for body in (json.dumps(text).encode(), msgspec.json.encode(text)):
        assert replace_half_characters(replace_invalid_bytes(body)) == body


@pytest.mark.parametrize(
    ("unit", "size"), [(rb"\ud83d", 3_000_000), ("\U0001f384".encode(), 12_000_000), (b"\xff", 12_000_000)]
)
def test_a_large_answer_takes_little_more_than_itself_until_it_is_read(unit: bytes, size: int) -> None:
    body = b'{"result":"' + unit * (size // len(unit)) + b'"}'
    tracemalloc.start()
    try:
        replace_half_characters(replace_invalid_bytes(body))
    except msgspec.ValidationError:  # another encoding
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * len(body)


def test_an_answer_in_another_encoding_makes_no_sense() -> None:
    body = b'{"result":"' + "Договор".encode("cp1251") * 100_000 + b'"}'
    error = open_answer(200, body, "user.get", Caller(), Envelope)
    assert isinstance(error, MigrationError)
    assert error.code == "STRANGE_ANSWER"


def test_a_character_is_whole_also_where_the_answer_is_looked_at_in_pieces() -> None:
    text = "x" * ((1 << 20) - 3) + "\U0001f384" * 300_000
    assert replace_invalid_bytes(text.encode()) == text.encode()
    assert replace_invalid_bytes(text.encode() + b"\xff") == text.encode() + "\ufffd".encode()
