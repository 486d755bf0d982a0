"""Ids as RowKeys: allowed, short, unmistakable, and together with their prefixes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from tests.stores.azure.values import ids, texts

from b24migrate.stores.azure.keys import KEPT, OWN, prefix_range, row_key
from b24migrate.stores.azure.limits import KEY_BYTES, units

FORBIDDEN = re.compile("[/\\\\#?\x00-\x1f\x7f-\x9f]")  # as documented


def utf16(text: str) -> bytes:
    """The service compares keys in this form."""
    return text.encode("utf-16-be")


@given(ids)
def test_every_id_becomes_a_key_that_is_allowed(text: str) -> None:
    key = row_key(text)
    assert not FORBIDDEN.search(key)
    assert 0 < 2 * units(key) <= KEY_BYTES
    assert not key.startswith(OWN)
    key.encode()  # no half of a surrogate pair


@given(ids, ids)
def test_two_ids_never_share_a_key(one: str, other: str) -> None:
    assert (row_key(one) == row_key(other)) == (one == other)


@pytest.mark.parametrize("text", ["1", "12:345", "disk:77", "UF_CRM_1", "users:log55", "a b", "Ж", "me@firm.example"])
def test_ordinary_ids_are_keys_as_they_are(text: str) -> None:
    assert row_key(text) == text


@pytest.mark.parametrize(
    ("one", "other"), [("a/b", "a$2Fb"), ("", "$"), ("!", "$21"), ("\ud800", "$uD800"), ("x" * 500, row_key("x" * 500))]
)
def test_an_id_that_looks_like_the_key_of_another_is_kept_apart(one: str, other: str) -> None:
    assert row_key(one) != row_key(other)


@given(ids, ids)
def test_keys_lie_where_their_prefix_says(prefix: str, rest: str) -> None:
    first, end = prefix_range(prefix)
    assert utf16(first) <= utf16(row_key(prefix + rest)) < utf16(end)


@given(texts, ids)
def test_nothing_else_lies_there(prefix: str, other: str) -> None:
    """Up to the length where ids are shortened; beyond, whoever asks compares the ids themselves."""
    first, end = prefix_range(prefix)
    if not other.startswith(prefix) and units(first) < KEPT:
        assert not utf16(first) <= utf16(row_key(other)) < utf16(end)
