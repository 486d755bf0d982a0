"""Add a backend with one more line in `samples.BACKENDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.stores.azure_place import Place, a_place
from tests.stores.samples import BACKENDS, Open, Time

from b24migrate.ports import Files, Queue, Store
from b24migrate.stores import Opened


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Open:
    return BACKENDS[request.param]


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def opened(backend: Open, tmp_path: Path, clock: Time) -> Iterator[Opened]:
    opened = backend(tmp_path, clock)
    yield opened
    opened.store.close()


@pytest.fixture
def store(opened: Opened) -> Store:
    return opened.store


@pytest.fixture
def queue(opened: Opened) -> Queue:
    return opened.queue


@pytest.fixture
def files(opened: Opened) -> Files:
    return opened.files


@pytest.fixture
def place() -> Iterator[Place]:
    with a_place() as made:
        yield made


@pytest.fixture
def examples(request: pytest.FixtureRequest) -> Callable[[int], settings]:
    """Settings for so many random examples; for a twelfth of them in Azurite, where each takes seconds, and for a
    fourth in memory, which is the program of the file."""

    def chosen(count: int) -> settings:
        return settings(
            max_examples=count // {"azure": 12, "sqlite-memory": 4}.get(request.node.callspec.params["backend"], 1),
            stateful_step_count=12 if is_slow(request) else 25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )

    return chosen


@pytest.fixture
def many(request: pytest.FixtureRequest) -> int:
    """More than any store takes in one go, but not more than it can take in a second or two."""
    return 1100 if is_slow(request) else 5000


def is_slow(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.callspec.params["backend"] == "azure")
