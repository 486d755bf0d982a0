"""What every room of the tests may use."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from tests import azurite

HELD = pytest.StashKey[ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    """Holds the run's Azurite, which the first test that needs it starts. Worker processes inherit the hold."""
    config.stash[HELD] = ExitStack()
    config.stash[HELD].enter_context(azurite.running())


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[HELD].close()


@pytest.fixture
def azure_store() -> str:
    """The address of an empty store in Azurite."""
    return azurite.url()
