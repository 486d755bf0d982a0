"""A small company through the storm of `make chaos`, as real processes that are really killed."""

from __future__ import annotations

import pytest
from tests.chaos.company import Size, survive
from tests.chaos.kills import ANY

SMALL = Size(
    users=16,
    groups=2,
    chats=3,
    messages=30,
    files=3,
    companies=4,
    contacts=5,
    deals=32,  # as many as there must be for one of them to be in a pipeline that is gone
    smart_items=3,
    requisites=6,
    leads=6,
    quotes=5,
    invoices=4,
    products=5,
    tasks=7,
    posts=6,
    templates=8,  # half of them run code and are refused
)


@pytest.mark.slow
def test_a_migration_that_is_killed_and_paused_again_and_again_loses_and_doubles_nothing() -> None:
    report = survive(7, 2, SMALL, seconds=600, kills_per_pause=1, aims=[("chats", "get"), (ANY, "set")])
    assert report.tally.kills >= 2
    assert report.tally.pauses
    assert report.proof.differences == [], str(report)
    assert all(report.proof.records.values()), str(report)
