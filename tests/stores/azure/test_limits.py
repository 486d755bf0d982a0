"""The documented limits of an entity are kept whatever a record holds, and nothing is lost by keeping them."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from azure.data.tables import EntityProperty
from hypothesis import HealthCheck, given, settings
from tests.stores.azure.values import Shelf, ids, long_texts, values

from b24migrate.model.errors import Permanent
from b24migrate.model.records import COLUMNS, Json
from b24migrate.stores.azure.limits import ENTITY_BYTES, PROPERTIES, PROPERTY_BYTES
from b24migrate.stores.azure.properties import columns, entity, kept_bytes, key_of

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
rows = st.dictionaries(st.sampled_from(COLUMNS[1:]), st.one_of(values, long_texts), max_size=len(COLUMNS))


def as_documented(value: Any) -> int:
    """The size of one property's value, as the service's documentation counts it."""
    if isinstance(value, str):
        return 4 + len(value.encode("utf-16-le"))
    if isinstance(value, bool):
        return 1
    return 8 if isinstance(value, float | EntityProperty) else 4


@SLOW
@given(ids, rows)
def test_no_property_and_no_entity_is_too_large(key: str, row: dict[str, Json]) -> None:
    made = entity("partition", key, row, Shelf())
    assert all(as_documented(value) - 4 <= PROPERTY_BYTES for value in made.values())
    size = 4 + sum(8 + 2 * len(name) + as_documented(value) for name, value in made.items())
    assert size <= kept_bytes(made) <= ENTITY_BYTES
    assert len(made) <= PROPERTIES


@SLOW
@given(ids, rows)
def test_what_was_written_is_read(key: str, row: dict[str, Json]) -> None:
    shelf = Shelf()
    made = entity("partition", key, row, shelf)
    assert key_of(made) == key
    assert columns(made, shelf) == {name: value for name, value in row.items() if value is not None}


def test_many_large_texts_leave_room_for_one_another() -> None:
    shelf = Shelf()
    row = {name: name * 3000 for name in COLUMNS[1:]}
    made = entity("partition", "1", row, shelf)
    assert shelf
    assert kept_bytes(made) <= ENTITY_BYTES
    assert columns(made, shelf) == row


def test_an_id_that_no_property_can_hold_is_refused() -> None:
    with pytest.raises(Permanent, match="40000 characters"):
        entity("partition", "ж" * 40_000, {}, Shelf())
