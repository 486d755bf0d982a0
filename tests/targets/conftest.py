"""A target that tests speak with themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.targets.everything import Move, moving

from b24migrate.targets.rest.target import RestTarget


@pytest.fixture
def move(tmp_path: Path) -> Iterator[Move]:
    with moving(tmp_path, "users", "groups", "chats", "feed", "tasks") as made:
        yield made


@pytest.fixture
def target(move: Move) -> Iterator[RestTarget]:
    with move.app() as app:
        assert isinstance(app.context.target, RestTarget)
        yield app.context.target
