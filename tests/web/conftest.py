from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.dashboard import NOBODY, Desk, configured, dashboard, hurried, portals, quietly

FEW = ("--tasks", "6", "--deals", "8", "--contacts", "6", "--companies", "4", "--posts", "8", "--templates", "4")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Nothing has been moved, and the portals do not exist."""
    with dashboard(configured(tmp_path, *NOBODY)) as one:
        yield one


@pytest.fixture(scope="session")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The same for all who change nothing."""
    with dashboard(configured(tmp_path_factory.mktemp("quiet"), *NOBODY)) as one:
        yield one


@pytest.fixture(scope="session")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A company was moved; both portals are still there."""
    folder = tmp_path_factory.mktemp("moved")
    with portals(*FEW) as (source, target):
        config = configured(folder, source.webhook(), target.webhook())
        with hurried():
            assert quietly(config, "run", "--json") in (0, 5)
        with dashboard(config) as one:
            yield one
