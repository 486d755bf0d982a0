"""A small company through the storm of `make chaos`, as real processes that are really killed."""

from __future__ import annotations

import pytest
from tests.chaos.company import Size, survive

SMALL = Size(
    users=16,
    groups=3,
    chats=5,
    messages=60,
    files=4,
    companies=6,
    contacts=10,
    deals=32,  # as many as there must be for one of them to be in a pipeline that is gone
    smart_items=6,
    tasks=14,
    posts=12,
    templates=8,  # half of them run code and are refused
)


@pytest.mark.slow
def test_a_migration_that_is_killed_and_paused_again_and_again_loses_and_doubles_nothing() -> None:
    report = survive(7, 5, SMALL, seconds=240)
    assert report.tally.kills >= 5
    assert report.tally.pauses
    assert report.proof.differences == [], str(report)
    assert all(report.proof.records.values()), str(report)
