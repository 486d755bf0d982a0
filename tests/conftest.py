"""What every room of the tests may use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright
from tests import azurite

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
HELD = pytest.StashKey[ExitStack]()

# How long an example takes says more of what else the machine does than of the product.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Only one at a time in a process of the tests: a second one beside it would not start. And only as long as it is
    looked with: its loop would stand in the way of whatever else wants to run one in this thread."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("There is no Chromium. `make chromium` installs it.")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()
