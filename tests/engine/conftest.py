"""Worlds to migrate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.every_stream import PLAN, SETTINGS, everything
from tests.engine.migrated import TakeUp, migrated
from tests.engine.refusals import SOLD
from tests.engine.world import World, world


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """Twelve users, four groups, eight chats that the administrator can read."""
    with world(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def small_migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("small")) as taken_up:
        yield taken_up


@pytest.fixture
def talk(small_migrated: TakeUp, tmp_path: Path) -> World:
    """The same, migrated."""
    return small_migrated(tmp_path)


@pytest.fixture(scope="session")
def whole_migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("whole"), PLAN, webhooks=(1, 2), settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def whole(whole_migrated: TakeUp, tmp_path: Path) -> World:
    """Something of every stream, migrated."""
    return whole_migrated(tmp_path)


@pytest.fixture
def sales(tmp_path: Path) -> Iterator[World]:
    """Something of every stream, of which only deals are to be migrated, and what they need; not in small calls."""
    with everything(tmp_path) as made:
        made.settings["run"] |= {"entities": list(SOLD)}
        del made.settings["entities"]
        yield made
