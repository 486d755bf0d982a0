"""Random ids: their order, and the spans a table is cut into."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from tests.stores.samples import EVERYTHING, MESSAGES, Open, Time, at, keys

from b24migrate.model.records import Settled, Span, Staged, Status, order_key, order_keys

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

part = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["a", "b-1", "m3", "007", "C1", ""]))
row_keys = st.lists(part, min_size=1, max_size=3).map(":".join)


class Cutting(NamedTuple):
    """A table, what of it is settled, and how it is to be cut."""

    there: set[str]
    settled: set[int]
    every: int
    whole: bool
    pending: bool
    ends: tuple[str, str] | None


cuttings = st.builds(
    Cutting,
    st.sets(row_keys, max_size=30),
    st.sets(st.integers(0, 30)),
    st.integers(1, 7),
    st.booleans(),
    st.booleans(),
    st.none() | st.tuples(row_keys, row_keys),
)


def test_cuts_cover_everything_once_and_divide_no_parent(backend: Open, examples: Callable[[int], settings]) -> None:
    examples(60)(given(cuttings)(lambda cutting: check_cuts(backend, cutting)))()


def check_cuts(backend: Open, cutting: Cutting) -> None:
    there, settled, every, whole, pending, ends = cutting
    with tempfile.TemporaryDirectory() as folder:
        store = backend(Path(folder), Time()).store
        ordered = sorted(there, key=order_key)
        store.stage(MESSAGES, [Staged(key, b"{}") for key in ordered], run="r", pass_no=1)
        done = [key for place, key in enumerate(ordered) if place in settled]
        store.settle("m", MESSAGES, [Settled(key, Status.IMPORT_OK, 1) for key in done], now=at(0))
        span = Span(*sorted(map(order_key, ends))) if ends else EVERYTHING
        cuts = store.cuts(MESSAGES, span, every, whole_parents=whole, pending=pending)
        inside = keys(store.records(MESSAGES, span, 99))
        found = [keys(store.records(MESSAGES, cut, 99)) for cut in cuts]
        store.close()
    wanted = [key for key in inside if not (pending and key in done)]
    if not wanted:
        assert cuts == []
        return
    assert [key for some in found for key in some] == inside
    assert (cuts[0].lo, cuts[-1].hi) == span
    assert all(a.hi == b.lo for a, b in pairwise(cuts))
    sizes = [sum(key in wanted for key in some) for some in found]
    assert all(size > 0 for size in sizes)
    if whole:
        parents = Counter(parent for some in found for parent in {key.rpartition(":")[0] for key in some if ":" in key})
        assert set(parents.values()) <= {1}
    else:
        assert all(size == every for size in sizes[:-1])
        assert sizes[-1] <= every


@given(
    st.lists(st.integers(0, 10**30), min_size=1, max_size=3), st.lists(st.integers(0, 10**30), min_size=1, max_size=3)
)
def test_order_keys_sort_as_numbers_count(one: list[int], other: list[int]) -> None:
    small = [[number % 10**24 for number in numbers] for numbers in (one, other)]
    first, second = (order_key(":".join(map(str, numbers))) for numbers in small)
    assert (first < second) == (small[0] < small[1])


@QUIET
@given(st.text(), st.text())
def test_no_two_row_keys_share_an_order_key(one: str, other: str) -> None:
    assert (order_key(one) == order_key(other)) == (one == other)


@QUIET
@given(st.lists(part, min_size=2, max_size=4), st.lists(part, min_size=2, max_size=4))
def test_no_two_made_keys_share_an_order_key(one: list[str], other: list[str]) -> None:
    assert (order_key(":".join(one)) == order_key(":".join(other))) == (one == other)


@QUIET
@given(st.lists(st.integers(0, 10**30).map(str) | st.text("0123456789:a٣", max_size=4), min_size=1))
def test_many_row_keys_have_the_order_keys_that_each_has_alone(keys: list[str]) -> None:
    assert order_keys(keys) == list(map(order_key, keys))


def test_families_whose_names_begin_alike_are_cut_and_the_end_is_reached(backend: Open, tmp_path: Path) -> None:
    store = backend(tmp_path, Time()).store
    staged = [Staged(key, b"{}") for key in ("007:1", "007:2", "b-1:1", "b:1", "b:2", ":1", ":2")]
    store.stage(MESSAGES, staged, run="r", pass_no=1)
    cuts = store.cuts(MESSAGES, EVERYTHING, 1, whole_parents=True, pending=False)
    assert len(cuts) == 4
    store.close()
