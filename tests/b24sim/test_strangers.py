"""Clients written by others, who know nothing of the simulator, read it to the last record under its limits."""

import asyncio
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from b24pysdk import BitrixWebhook, Client
from fast_bitrix24 import Bitrix

from b24sim import Company, LeakyBucket, Operating, Plan, Portal, Running, RunningClock, serve

PLAN = Plan(users=260, departments=20, groups=70, chats=10, messages=50, seed=11)
# An hour of the portal's limits passes in seconds.
SPEED = 100.0


def limited() -> Portal:
    return Portal(Company(PLAN), clock=RunningClock(SPEED), bucket=LeakyBucket(2, 50), operating=Operating(480))


@pytest.fixture
def running() -> Iterator[Running]:
    with serve(limited()) as portal:
        yield portal


@pytest.fixture
def secure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    with serve(limited(), tls=True) as portal:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(portal.ca))
        yield portal


@pytest.fixture
def loop() -> Iterator[None]:
    """For a client that takes whatever loop there is, or makes one and never closes it: that would be told of in the
    midst of some other test."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


def ids(rows: Any) -> list[int]:
    return sorted(int(row["ID"]) for row in rows)


@pytest.mark.usefixtures("loop")
def test_fast_bitrix24_gets_all_users_and_groups(running: Running) -> None:
    client = Bitrix(running.webhook(), verbose=False, requests_per_second=2 * SPEED)
    assert ids(client.get_all("user.get", {"ADMIN_MODE": True})) == running.portal.company.users.ids
    assert ids(client.get_all("sonet_group.get", {"IS_ADMIN": "Y"})) == running.portal.company.groups.ids
    assert ids(client.get_all("department.get")) == running.portal.company.departments.ids


def webhook_client(secure: Running) -> Any:
    address = urlsplit(secure.webhook())
    return Client(BitrixWebhook(domain=address.netloc, webhook_token=f"1/{secure.portal.webhooks[1]}"))


def test_b24pysdk_lists_all_users_and_groups(secure: Running) -> None:
    client = webhook_client(secure)
    users = client.user.get(admin_mode=True).as_list().result
    assert ids(users) == secure.portal.company.users.ids
    groups = client.sonet_group.get(is_admin=True).as_list().result
    assert ids(groups) == secure.portal.company.groups.ids


def test_b24pysdk_pages_fast(secure: Running) -> None:
    client = webhook_client(secure)
    users = list(client.user.get(admin_mode=True).as_list_fast().result)
    assert ids(users) == secure.portal.company.users.ids
