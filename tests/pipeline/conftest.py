"""Worlds to migrate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.world import World, world


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """Twelve users, four groups, eight chats that the administrator can read."""
    with world(tmp_path) as made:
        yield made
