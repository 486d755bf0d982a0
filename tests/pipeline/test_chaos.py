"""A small company through the storm of `make chaos`, as real processes that are really killed."""

from __future__ import annotations

import pytest
from tests.chaos.company import Size, survive


@pytest.mark.slow
def test_a_migration_that_is_killed_again_and_again_loses_and_doubles_nothing() -> None:
    size = Size(users=20, groups=4, chats=8, messages=120, files=6)
    report = survive(7, 8, size, seconds=120)
    assert report.tally.kills >= 8
    assert report.proof.differences == [], str(report)
