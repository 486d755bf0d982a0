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
# Rooms whose tests take longest, most first; what is short comes last and fills the time until all are done.
LONGEST = ("pipeline", "functions", "web", "browser", "hosts", "contract", "report", "rest", "azure")

# How long an example takes says more of what else the machine does than of the product.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_configure(config: pytest.Config) -> None:
    """Holds the run's Azurite, which the first test that needs it starts. Worker processes inherit the hold."""
    config.stash[HELD] = ExitStack()
    config.stash[HELD].enter_context(azurite.running())


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[HELD].close()


@pytest.hookimpl(tryfirst=True)  # before xdist, which looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process takes all the tests of a module, and all that begin with the same thing of several modules: it would
    be made once more by every process that gets one of them. What takes longest begins first."""
    items.sort(key=_turn)
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))


def _turn(item: pytest.Item) -> tuple[bool, int]:
    room = item.path.parent.name
    return item.get_closest_marker("slow") is None, LONGEST.index(room) if room in LONGEST else len(LONGEST)


def _group(item: pytest.Item) -> str:
    known = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    shared = [f"{one.baseid}/{name}" for name, (*_, one) in known.items() if one.baseid and one.scope == "session"]
    return min(shared, default=item.nodeid.partition("::")[0])


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
