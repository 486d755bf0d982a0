"""A desk whose migration is at its end, and where the screenshots go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.browser.server import PATIENCE_S, ROOT, SMALL, Desk, desk

SCREENS = Path(os.environ.get("B24MIGRATE_ARTIFACTS") or ROOT / "artifacts") / "screens"
FLAWED = (*SMALL, "--bad-users", "1", "--foreign-chats", "0.5")
GROUP = "2"
LENIENT = "[run]\nuser_coverage = 0.5\n"


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
