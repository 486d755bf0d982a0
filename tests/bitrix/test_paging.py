"""Rows out of an answer: each with its id, whatever way the portal writes it."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from b24migrate.bitrix.envelope import decode_part
from b24migrate.bitrix.pages import rows_of
from b24migrate.model.errors import Permanent

IDS = st.lists(st.text() | st.integers(-(2**60), 2**60), max_size=4)


@given(IDS, st.booleans())
def test_a_row_has_the_id_it_was_sent_with(ids: list[str | int], first: bool) -> None:
    sent = [{"ID": one, "NAME": 'a"b'} if first else {"NAME": 'a"b', "ID": one} for one in ids]
    rows = rows_of(decode_part(msgspec.json.encode(sent)), (), "ID")
    assert [row.source_id for row in rows] == [str(one) for one in ids]
    assert [msgspec.json.decode(row.payload) for row in rows] == sent


def test_an_id_of_a_record_inside_is_not_the_records_own() -> None:
    rows = rows_of(decode_part(b'[{"ID":"7","OF":{"ID":"1"}},{"OF":{"ID":"2"},"ID":"8"}]'), (), "ID")
    assert [row.source_id for row in rows] == ["7", "8"]


def test_escapes_in_an_id_are_read() -> None:
    assert [row.source_id for row in rows_of(decode_part(rb'[{"ID":"a\u0041\/"}]'), (), "ID")] == ["aA/"]


def test_a_record_without_an_id_is_refused() -> None:
    with pytest.raises(Permanent, match="has no ID"):
        rows_of(decode_part(b'[{"ID":"1"},{"NAME":"x"}]'), (), "ID")
