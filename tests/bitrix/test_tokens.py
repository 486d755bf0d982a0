"""The tokens of an application: renewed once for all, whoever dies, and never to be read by anybody."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bitrix.support import Kit

from b24migrate.bitrix.application import HELD_S, Application, Keys, Tokens, application_door, seal, unseal
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.webhook import parse_webhook
from b24migrate.model.errors import GateUnmet, Transient
from b24migrate.ports import TOKENS, Clock, RegisterRow, Store
from b24migrate.stores import open_store
from b24sim import Portal as Simulated
from b24sim import Running, serve
from b24sim.faults import Faults
from b24sim.native.applications import LocalApplication

LIST = "bizproc.workflow.template.list"


class Waiting:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self._at = datetime(2026, 3, 1, tzinfo=UTC)
        self.slept = 0.0

    def now(self) -> datetime:
        return self._at + timedelta(seconds=self.slept)

    def monotonic(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


class Standing(Waiting):
    """A clock that stands still, while others get on with what they do."""

    def sleep(self, seconds: float) -> None:
        threading.Event().wait(min(seconds, 0.005))


@pytest.fixture
def box() -> Iterator[Running]:
    with serve(Simulated(role="box", application=LocalApplication())) as running:
        yield running


def keys(box: Running, **other: str) -> Keys:
    application = known(box)
    tokens = Keys(
        application.client_id,
        application.client_secret,
        application.refresh_token,
        application.access_token,
        box.token_url,
    )
    return tokens._replace(**other)


def known(box: Running) -> LocalApplication:
    assert box.portal.application is not None
    return box.portal.application


@contextmanager
def opened(folder: Path, clock: Clock | None = None) -> Iterator[Store]:
    store = open_store(f"sqlite:///{folder / 'b24migrate.db'}", (), clock or Waiting()).store
    try:
        yield store
    finally:
        store.close()


def life(box: Running, store: Store, tokens: Keys, clock: Clock | None = None) -> tuple[Application, Portal]:
    """What one process has."""
    webhook = parse_webhook(box.webhook())
    kit = Kit([box.webhook()])
    portal = Portal(
        (webhook, application_door(webhook, tokens.client_id)),
        governor=kit.governor,
        breaker=kit.breaker,
        clock=clock or Waiting(),
        redactor=kit.redactor,
        name="target",
    )
    return Application(portal, Tokens(tokens, store, portal), via=1), portal


def test_an_expired_token_is_renewed_once_and_the_call_repeated(box: Running, tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        application, _ = life(box, store, keys(box))
        application.call(LIST, {})
        known(box).expire()
        application.call(LIST, {})
        application.call(LIST, {})
    assert known(box).refreshes == 1
    assert box.portal.stats.methods[LIST] == 4


def test_the_next_process_goes_on_with_what_the_last_one_got(box: Running, tmp_path: Path) -> None:
    tokens = keys(box)
    for _ in range(2):
        known(box).expire()
        with opened(tmp_path) as store:
            life(box, store, tokens)[0].call(LIST, {})
    assert known(box).refreshes == 2
    with opened(tmp_path) as store:
        life(box, store, tokens)[0].call(LIST, {})
    assert known(box).refreshes == 2


def test_an_access_token_may_be_left_out(box: Running, tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        life(box, store, keys(box, access_token=""))[0].call(LIST, {})
    assert known(box).refreshes == 1


def test_many_workers_renew_once(box: Running, tmp_path: Path) -> None:
    tokens = keys(box)
    known(box).expire()
    with opened(tmp_path) as store:
        processes = [life(box, store, tokens, Standing())[0] for _ in range(3)]
        failures: list[Exception] = []

        def work(application: Application) -> None:
            try:
                application.call(LIST, {})
            except Exception as error:  # noqa: BLE001 - of whatever kind
                failures.append(error)

        threads = [threading.Thread(target=work, args=(processes[number % 3],)) for number in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
    assert failures == []
    assert known(box).refreshes == 1


def test_whoever_died_while_renewing_is_waited_for_and_no_longer(box: Running, tmp_path: Path) -> None:
    clock, tokens = Waiting(), keys(box)
    until = (clock.now() + timedelta(seconds=HELD_S)).isoformat()
    with opened(tmp_path) as store:
        store.write(TOKENS, [RegisterRow(tokens.client_id, {"Holder": "the dead", "HeldUntilUtc": until})])
        known(box).expire()
        life(box, store, tokens, clock)[0].call(LIST, {})
    assert HELD_S <= clock.slept < HELD_S + 2
    assert known(box).refreshes == 1


def test_whoever_was_only_slow_leaves_a_token_that_is_good(box: Running, tmp_path: Path) -> None:
    """Two renew with the same token, and one is refused: the other has the new pair."""
    tokens = keys(box)
    known(box).expire()
    with opened(tmp_path) as store:
        slow, portal = life(box, store, tokens)
        asked = portal.wire.exchange

        def late(*args: Any, **kwargs: Any) -> Any:
            if args[0] == "GET" and not known(box).refreshes:
                life(box, store, tokens, clock_after_the_lease)[0].call(LIST, {})
            return asked(*args, **kwargs)

        clock_after_the_lease = Waiting()
        clock_after_the_lease.sleep(HELD_S + 1)
        portal.wire.exchange = late  # type: ignore[method-assign]
        slow.call(LIST, {})
    assert known(box).refreshes == 1


def test_a_token_that_somebody_writes_into_the_settings_counts_more_than_the_store(
    box: Running, tmp_path: Path
) -> None:
    with opened(tmp_path) as store:
        known(box).expire()
        life(box, store, keys(box))[0].call(LIST, {})
        known(box).issue(known(box).expires_at)  # the application was installed anew
        known(box).expire()
        life(box, store, keys(box))[0].call(LIST, {})
    assert known(box).refreshes == 2


def test_a_refusal_says_what_to_do_and_frees_the_place(box: Running, tmp_path: Path) -> None:
    tokens = keys(box)
    known(box).revoke()
    with opened(tmp_path) as store:
        for _ in range(2):
            with pytest.raises(GateUnmet) as caught:
                life(box, store, tokens)[0].call(LIST, {})
            assert caught.value.code == "APPLICATION_REFUSED"
            assert "answered invalid_grant" in caught.value.message
            assert tokens.refresh_token not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "response"), [("reset", "did not answer"), ("502html", "returned no tokens (HTTP 502)")]
)
def test_a_server_that_does_not_answer_may_do_so_later(box: Running, tmp_path: Path, kind: str, response: str) -> None:
    box.portal.faults = Faults([{"method": "oauth.token", "kind": kind, "at": [1]}])
    known(box).expire()
    with opened(tmp_path) as store:
        application, _ = life(box, store, keys(box))
        with pytest.raises(Transient) as caught:
            application.call(LIST, {})
        assert response in caught.value.message
        assert not caught.value.own
        application.call(LIST, {})


def test_other_refusals_are_not_answered_by_a_new_token(box: Running, tmp_path: Path) -> None:
    with opened(tmp_path) as store, pytest.raises(GateUnmet) as caught:
        life(box, store, keys(box, access_token="nonsense1234"))[0].call(LIST, {})
    assert caught.value.code == "invalid_token"
    assert f"the target application {known(box).client_id}" in caught.value.message
    assert known(box).refreshes == 0


def test_no_token_is_logged_or_lies_readable_in_the_store(
    box: Running, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "urllib3")
    tokens = keys(box)
    secrets = {tokens.client_secret, tokens.access_token, tokens.refresh_token}
    with opened(tmp_path) as store:
        application, portal = life(box, store, tokens)
        portal.redactor.learn(tokens.client_secret)  # as the settings' own redactor does
        for _ in range(2):
            known(box).expire()
            application.call(LIST, {})
            secrets |= {known(box).access_token, known(box).refresh_token}
        assert portal.redactor.redact(known(box).access_token) != known(box).access_token
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "/oauth/token/" in logged
    connection = sqlite3.connect(tmp_path / "b24migrate.db")
    stored = "\n".join(connection.iterdump())
    connection.close()
    assert "Sealed" in stored
    assert not [one for one in secrets if one in logged or one in stored]


def test_a_seal_opens_with_its_own_key_only_and_only_unbroken() -> None:
    sealed = seal("тайна", "key")
    assert unseal(sealed, "key") == "тайна"
    assert sealed != seal("тайна", "key")
    assert unseal(sealed, "other") is None
    assert unseal(("A" if sealed[40] != "A" else "B").join((sealed[:40], sealed[41:])), "key") is None
    assert unseal("", "key") is None
    assert unseal("nonsense", "key") is None


@pytest.mark.parametrize("path", ["rest", "webhook", "portal/rest"])
def test_an_application_calls_beside_the_webhook(path: str) -> None:
    door = application_door(parse_webhook(f"https://box.example/{path}/1/secret123/"), "local.1")
    above = "portal/" if path.startswith("portal") else ""
    assert door.url("profile") == f"https://box.example/{above}rest/profile"
    assert "secret123" not in repr(door)
