"""Portals to ask."""

from collections.abc import Iterator

import pytest

from b24sim import Company, ManualClock, Plan, Portal, Running, serve


@pytest.fixture(scope="session")
def cloud() -> Iterator[Running]:
    """A company of 230 users without limits; tests leave it as it is."""
    plan = Plan(users=230, departments=60, groups=70, chats=60, messages=3000, files=60, seed=3)
    with serve(Portal(Company(plan), webhooks=(1, 2, 5), clock=ManualClock())) as running:
        yield running


@pytest.fixture
def small() -> Iterator[Running]:
    """A fresh small company that a test may change."""
    with serve(Portal(Company(Plan(seed=5)), webhooks=(1, 2), clock=ManualClock())) as running:
        yield running


@pytest.fixture
def box() -> Iterator[Running]:
    with serve(Portal(role="box", clock=ManualClock())) as running:
        yield running
