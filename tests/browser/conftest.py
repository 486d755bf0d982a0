"""A desk with a completed migration, and the screenshots."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.server import PATIENCE_S, SMALL, Desk, desk
from tests.chromium import chromium

Photograph = Callable[[Page, str], None]
FLAWED = (*SMALL, "--bad-users", "1", "--foreign-chats", "0.5")
GROUP = "2"
LENIENT = '[run]\nuser_coverage = 0.5\nconflicts = "ask"\n'


@pytest.fixture(scope="package")  # each start of it takes as long as a test
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Analyzed and migrated, with something to look at: a person without an e-mail, what refers to her, and a group
    that users have renamed on the box before verify came, and in the cloud after it."""
    with desk(tmp_path_factory.mktemp("finished"), FLAWED, more=LENIENT) as made:
        assert made.command("analyze").returncode == 0
        with made.running("run") as run:
            made.target_has("groups")
            made.edit_box("groups", GROUP, NAME="Renamed on the box")
            assert run.wait(PATIENCE_S) == 5
        made.change("groups", id=int(GROUP), fields={"NAME": "Renamed in the cloud"})
        assert made.command("sync", "--entity", "groups").returncode == 5
        assert made.ask("/overview")["findings"] == 1
        yield made


@pytest.fixture
def photograph() -> Photograph:
    """Keeps a picture of the whole page for people to look at, where `make screens` asks for it."""
    folder = os.environ.get("B24MIGRATE_SCREENS")

    def keep(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return keep
