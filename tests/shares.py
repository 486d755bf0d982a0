"""Divides the tests among processes: in small pieces, slow tests first.

A module or folder with shared fixtures stays whole, because every process would have to create them again. All others
are divided, so that all processes end at about the same time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

ROOT = Path(__file__).parent.parent
LONG = ("browser", "web", "report", "engine", "targets", "functions", "cli", "stores", "box")
# One migration, and many tests that look at it; the last reads all of the product's source.
WHOLE = ("tests/report/", "tests/browser/", "tests/web/", "tests/cli/test_error_pages.py")
PIECE, SHORT_PIECE = 8, 40  # tests of these folders, and of the others


class Shares(LoadScopeScheduling):  # type: ignore[misc]
    def schedule(self) -> None:
        if self.collection is None:
            self.config.option.loadscopereorder = False  # by their number; they are in order already
            self._shares = shares(next(iter(self.registered_collections.values())))
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._shares[nodeid]


def rank(nodeid: str) -> int:
    """The order of the tests: slow ones first."""
    folder = nodeid.split("/")[1]
    return LONG.index(folder) if folder in LONG else len(LONG)


def shares(collection: Sequence[str]) -> dict[str, str]:
    """By test the piece that it belongs to."""
    found: dict[str, str] = {}
    whole: dict[str, bool] = {}
    numbers: Counter[str] = Counter()
    for nodeid in collection:
        file = nodeid.partition("::")[0]
        if file not in whole:
            text = (ROOT / file).read_text("utf-8")
            whole[file] = 'scope="module"' in text or "browser: Browser" in text
        size = PIECE if rank(nodeid) < len(LONG) else SHORT_PIECE
        piece = file if whole[file] else f"{file} {numbers[file] // size}"
        found[nodeid] = next((folder for folder in WHOLE if file.startswith(folder)), piece)
        numbers[file] += 1
    return found
