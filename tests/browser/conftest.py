"""One browser for each process of the tests, and a desk whose migration is at its end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.browser.desk import PATIENCE_S, ROOT, SMALL, Desk, desk

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
SCREENS = Path(os.environ.get("B24MIGRATE_ARTIFACTS") or ROOT / "artifacts") / "screens"
FLAWED = (*SMALL, "--bad-users", "1", "--foreign-chats", "0.5")
GROUP = "2"
LENIENT = "[run]\nuser_coverage = 0.5\n"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.fail("There is no Chromium. `make chromium` installs it.")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Analyzed and migrated, with something to look at: a person without an e-mail, what refers to her, and a group
    that somebody has renamed on the box before verify came."""
    with desk(tmp_path_factory.mktemp("finished"), FLAWED, more=LENIENT) as made:
        assert made.command("analyze").returncode == 0
        with made.running("run") as run:
            made.target_has("groups")
            made.edit_box("groups", GROUP, NAME="Renamed on the box")
            assert run.wait(PATIENCE_S) == 5
        assert made.ask("/overview")["findings"] == 1
        yield made


@pytest.fixture
def screens() -> Path:
    SCREENS.mkdir(parents=True, exist_ok=True)
    return SCREENS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if SCREENS.is_dir() and any(SCREENS.iterdir()):
        terminalreporter.write_line(f"Screenshots: {len(list(SCREENS.glob('*.png')))} in {SCREENS}")
