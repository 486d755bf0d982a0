"""The same on the real tables, queues and blobs of Azurite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.functions.azurite_queues import on_azure
from tests.functions.test_migration import assert_moved, assert_once
from tests.pipeline.world import World, world
from tests.pipeline.world import small as company

FEW = company(users=6, departments=2, groups=2, chats=3, messages=30, files=3)


@pytest.fixture
def few(tmp_path: Path) -> Iterator[World]:
    """Azurite is slow: every question takes some hundredths of a second."""
    with world(tmp_path, FEW) as made:
        yield made


@pytest.mark.slow
def test_a_company_is_moved_and_verified(few: World, azure_store: str, tmp_path: Path) -> None:
    with on_azure(few, azure_store) as host:
        host.ask("start")
        assert_moved(host.run())
        assert not host.bugs
        assert not host.mailbox.receive()
    assert_once(few, tmp_path / "other")


@pytest.mark.slow
def test_messages_that_come_twice_and_hosts_that_die_change_nothing(
    few: World, azure_store: str, tmp_path: Path
) -> None:
    with on_azure(few, azure_store, dying=0.3, doubling=0.15) as host:
        host.ask("start")
        assert_moved(host.run())
        assert host.deaths > 3
    assert_once(few, tmp_path / "other")
