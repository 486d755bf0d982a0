"""Any value comes back from a real service as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings
from tests import azurite
from tests.stores.azure.values import ids, long_texts, values
from tests.stores.samples import TABLES, Time

from b24migrate.model.records import Json
from b24migrate.ports import CUSTOM_FIELDS, RUNS, RegisterRow, Store
from b24migrate.stores import open_store

AFEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with closing(open_store(azurite.url(), TABLES, Time()).store) as store:
        yield store


@AFEW
@given(ids, st.dictionaries(st.sampled_from(RUNS.columns), st.one_of(values, long_texts)))
@example("", {"Plan": ""})
@example("a/b?c#d\\e'f%20", {"Plan": "\ud800", "State": ["\udfff", 2**70, -0.0]})
@example("я" * 500, {"Plan": "\x00", "State": "2026-11-15T12:00:00Z", "Message": " both ends "})
def test_a_row_comes_back_as_it_was(store: Store, key: str, row: dict[str, Json]) -> None:
    store.write(RUNS, [RegisterRow(key, row)])
    found = store.read(RUNS, key)
    assert found is not None
    assert found.key == key
    given = dict.fromkeys(RUNS.columns) | row
    assert repr(found.values) == repr(given)  # tells 1 from True, and 0.0 from -0.0


@AFEW
@given(st.lists(ids, max_size=6, unique=True), ids, st.sampled_from(["", "one", "o/ne", "ж" * 600]))
def test_a_prefix_finds_what_begins_with_it(store: Store, keys: list[str], prefix: str, partition: str) -> None:
    store.erase(CUSTOM_FIELDS, "")
    every = {*keys, prefix, *(prefix + key for key in keys)}
    store.write(CUSTOM_FIELDS, [RegisterRow(key, {}, partition=partition) for key in every])
    found = [row.key for row in store.rows(CUSTOM_FIELDS, prefix)]
    assert found == sorted(key for key in every if key.startswith(prefix))
    assert {row.partition for row in store.rows(CUSTOM_FIELDS, prefix, partition=partition)} == {partition}
    assert store.count(CUSTOM_FIELDS, prefix) == len(found)
    store.erase(CUSTOM_FIELDS, prefix, partition=partition)
    assert [row.key for row in store.rows(CUSTOM_FIELDS)] == sorted(every - set(found))
