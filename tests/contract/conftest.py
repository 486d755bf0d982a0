"""A backend joins by one more line in `shelf.BACKENDS`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.contract.shelf import BACKENDS, Open, Time

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
def histories(request: pytest.FixtureRequest) -> settings:
    """How many random histories, and how long: a step in Azurite takes as long as a history in SQLite."""
    count, steps = (4, 15) if request.node.callspec.params["backend"] == "azure" else (40, 25)
    return settings(
        max_examples=count,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
