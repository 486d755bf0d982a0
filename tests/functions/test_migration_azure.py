"""The same on the real tables, queues and blobs of Azurite."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.world import World, world
from tests.engine.world import small as company
from tests.functions.azurite_queues import on_azure
from tests.functions.host import Host
from tests.functions.test_migration import assert_moved, assert_once

from b24migrate.engine import jobs

FEW = company(users=4, departments=2, groups=2, chats=2, messages=12, files=2)
PEOPLE = ("users",)  # where it is about the queue: other entities only add more messages of the same kind


@pytest.fixture
def few(tmp_path: Path) -> Iterator[World]:
    """Azurite is slow: every question takes some hundredths of a second."""
    with world(tmp_path, FEW) as made:
        yield made


@pytest.mark.slow
def test_a_company_is_moved_and_verified(few: World, azure_store: str) -> None:
    with on_azure(few, azure_store) as host:
        host.ask("start")
        assert_moved(host.run())
        assert not host.bugs
        assert not host.mailbox.receive()
    assert_once(few)


@pytest.mark.slow
def test_messages_that_come_twice_and_hosts_that_die_change_nothing(few: World, azure_store: str) -> None:
    with on_azure(few, azure_store, dying=0.3, doubling=0.15) as host:
        host.ask("start", {"entities": PEOPLE})
        assert_moved(host.run(), PEOPLE)
        assert host.deaths
    assert_once(few, PEOPLE)


@pytest.fixture
def users(few: World, azure_store: str) -> Iterator[Host]:
    """A run that reads the users."""
    with on_azure(few, azure_store) as host:
        host.ask("start", {"entities": ["users"], "phases": ["get"]})
        yield host


@pytest.mark.slow
def test_a_message_that_fails_three_times_ends_in_the_dlq_and_can_be_retried(
    users: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setitem(jobs.PERFORMERS, "read", lambda *_: 1 / 0)
        ended = users.run()
    assert (ended["state"], ended["exit_code"]) == ("stopped", 4)
    buried = [json.loads(one.content) for one in users.mailbox.dlq.peek_messages(32)]
    assert [one["code"] for one in buried] == ["UNEXPECTED"]
    assert buried[0]["reason"].startswith("Unexpected error ZeroDivisionError")
    assert buried[0]["job"].startswith("users-get:read:")
    code, answer = users.ask("retry", {"scope": "users-get"})
    assert (code, answer["parts"]) == (202, 1)
    assert users.run()["exit_code"] == 0
    assert not users.mailbox.dlq.peek_messages()


@pytest.mark.slow
def test_a_stopped_run_uses_up_its_messages_and_gets_others_when_it_goes_on(few: World, users: Host) -> None:
    few.strike_cloud({"kind": "error", "code": "INVALID_CREDENTIALS", "status": 401})
    assert users.run()["exit_code"] == 3
    while letters := users.mailbox.receive():
        for letter in letters:
            users.one.deliver(letter.body, letter.deliveries)
            users.mailbox.delete(letter)
    users.one.tick()
    assert not users.mailbox.receive()  # nothing calls a function any more
    few.strike_cloud()
    assert users.ask("start", {"entities": ["users"], "phases": ["get"]})[0] == 202
    assert users.run()["exit_code"] == 0
