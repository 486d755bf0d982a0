"""What stops, what is stopped by it, and what goes on; and the exit code that says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.test_odd_values import altering
from tests.engine.world import World, world

from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, Halted
from b24migrate.stores.sqlite import SqliteStore
from b24sim.company.chats import Chat
from b24sim.company.messages import Correspondence
from b24sim.errors import RestError
from b24sim.methods.system import ALL_SCOPES


def states(made: World, entity: str) -> dict[str, str]:
    return {phase: one.state for phase, one in made.entity(entity).phases.items()}


def test_groups_without_users_stop_at_the_gate(small: World) -> None:
    ended = small.run("groups")
    assert ended.exit_code == 3
    assert "users.import.completed" in ended.message
    assert "b24migrate run --entity users" in ended.message
    assert small.imported("groups") == {}


def test_groups_go_on_where_users_are_there(small: World) -> None:
    assert small.run("users").exit_code == 0
    assert small.run("groups").exit_code == 0


def test_too_few_users_stop_what_refers_to_them(small: World) -> None:
    small.change("users", id=9, fields={"EMAIL": ""})
    ended = small.run()
    assert ended.exit_code == 3
    assert "users.import.completed" in ended.message
    assert "11 of 12" in ended.message
    assert states(small, "users")["verify"] == "done"
    assert small.imported("groups") == {}
    assert small.imported("chats") == {}


def test_the_wanted_share_of_users_can_be_lowered(small: World) -> None:
    small.change("users", id=9, fields={"EMAIL": ""})
    assert small.run(run={"user_coverage": 0.9}).exit_code == 5
    assert small.imported("groups")


def test_what_was_blocked_goes_on_when_the_cause_is_gone(small: World) -> None:
    small.change("users", id=9, fields={"EMAIL": ""})
    small.run()
    small.change("users", id=9, fields={"EMAIL": "nine@company.example"})
    small.run("users")
    small.retry("users")
    assert small.run().exit_code == 0
    assert {created for created, _ in small.effects().values()} == {1}


def test_a_missing_scope_blocks_that_entity_only(tmp_path: Path) -> None:
    with world(tmp_path, scopes=[scope for scope in ALL_SCOPES if scope != "im"]) as made:
        ended = made.run()
        assert ended.exit_code == 3
        assert "auth.cloud.chats" in ended.message
        assert "`im`" in ended.message
        assert made.entity("users").verified
        assert made.entity("groups").verified
        assert states(made, "chats")["get"] == "blocked"


def test_a_further_webhook_without_the_scope_blocks_before_anything_is_read(tmp_path: Path) -> None:
    lesser = [scope for scope in ALL_SCOPES if scope != "im"]
    with world(tmp_path, webhooks=(1, 2), scopes_of={2: lesser}) as made:
        with made.app() as app:
            (failed,) = app.runner.examine(app.catalog.entities).failed
        assert (failed.gate, failed.entity, failed.exit_code) == ("auth.cloud.chats", "chats", 3)
        assert "user 2" in failed.message
        assert "`im`" in failed.message
        ended = made.run()
        assert ended.exit_code == 3
        assert "auth.cloud.chats" in ended.message
        assert states(made, "chats")["get"] == "blocked"
        asked = {*made.cloud.portal.stats.methods, *made.cloud.portal.stats.inner}
        assert [name for name in asked if name.startswith("im.")] == ["im.chat.message.list"]  # the doctor's probe
        assert made.entity("users").verified
        assert made.entity("groups").verified
        made.cloud.portal.scopes_of = {}
        assert made.run().exit_code == 0


def test_a_further_webhook_that_is_refused_is_a_failed_check(tmp_path: Path) -> None:
    with world(tmp_path, webhooks=(1, 2)) as made:
        with made.app() as app:
            app.context.source.owners  # noqa: B018 (asked before the portal forgets the second webhook)
            made.cloud.portal._secrets[2] = "another"
            failed = [one for one in app.runner.examine(app.catalog.entities).failed if "user 2" in one.name]
        assert [(one.gate, one.fatal) for one in failed] == [("auth.cloud", True)]


def test_a_store_that_cannot_be_used_is_a_gate(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: SqliteStore) -> None:
        raise Halted("The disk is full.", code="STORE_FULL")

    with small.app() as app:
        monkeypatch.setattr(SqliteStore, "describe", full)
        (failed,) = app.runner.examine(app.catalog.entities).failed
        assert (failed.gate, failed.fatal, failed.code) == ("infra.storage.ready", True, "STORE_FULL")
        assert failed.message == "The disk is full."


def test_a_further_webhook_needs_no_other_scope(tmp_path: Path) -> None:
    with world(tmp_path, webhooks=(1, 2), scopes_of={2: ("im",)}) as made:
        assert made.run().exit_code == 0


def test_a_missing_scope_for_custom_fields_skips_them_and_says_so(tmp_path: Path) -> None:
    with world(tmp_path, scopes=[scope for scope in ALL_SCOPES if scope != "user.userfield"]) as made:
        assert made.run().exit_code == 0
        assert states(made, "users")["custom-fields-get"] == "skipped"
        assert any("user.userfield" in note for note in made.entity("users").notes)


def test_a_target_that_does_not_serve_an_entity_blocks_that_entity_only(small: World) -> None:
    small.box.portal.imports._entities = ("users", "groups")
    ended = small.run()
    assert ended.exit_code == 3
    assert "auth.target.import.chats" in ended.message
    assert "(it serves: users, groups)" in ended.message
    assert small.entity("groups").verified
    assert small.imported("chats") == {}


def test_a_wrong_secret_is_a_gate(small: World) -> None:
    small.cloud.portal._secrets[1] = "another"
    broken = small.cloud.webhook()
    small.cloud.portal._secrets[1] = "changed-since"
    with pytest.raises(GateUnmet) as stopped, small.app(source={"webhook": broken}) as app:
        app.runner.run(app.chosen())
    assert (stopped.value.exit_code, stopped.value.code) == (3, "INVALID_CREDENTIALS")
    assert "another" not in str(stopped.value)


@pytest.mark.parametrize("server_time", ["soon", "2026-11-16T12:00:00", None])
def test_a_portal_whose_clock_tells_no_time_is_told(small: World, server_time: str | None) -> None:
    altering(small, "server.time", lambda _: server_time)
    with small.app() as app:
        checks = app.runner.examine(app.catalog.entities).checks
    (clock,) = [one for one in checks if one.name == say("doctor.name.clock")]
    assert (clock.ok, clock.message) == (False, say("doctor.no_time"))


def test_a_portal_that_does_not_answer_is_no_gate(small: World) -> None:
    small.strike_box({"kind": "502html"})
    with pytest.raises(Halted) as stopped:
        small.run()
    assert stopped.value.exit_code == 4


# ---------------------------------------------------------------- pages that cannot be read


def test_a_page_that_always_fails_fails_its_phase_and_nothing_else(small: World) -> None:
    small.strike_cloud({"method": "im.recent.list", "kind": "500"})
    ended = small.run()
    assert ended.exit_code == 4
    assert states(small, "chats")["get"] == "failed"
    assert small.entity("users").verified
    assert small.entity("groups").verified
    assert [(scope, code) for scope, _, code, _ in small.letters()] == [("chats-get", "INTERNAL_SERVER_ERROR")]
    assert small.imported("chats") == {}


def test_a_page_gets_three_attempts(small: World) -> None:
    small.strike_cloud({"method": "im.recent.list", "kind": "500"})
    small.run("users")
    small.run("chats")
    assert small.cloud.portal.stats.inner["im.recent.list"] + small.cloud.portal.stats.methods["im.recent.list"] < 20
    ((attempts,),) = small.sql("SELECT Attempts FROM DeadLetters")
    assert attempts == 2  # before the third


def test_what_depends_on_a_failed_phase_is_blocked(small: World) -> None:
    small.strike_cloud({"method": "sonet_group.get", "kind": "500"})
    ended = small.run()
    assert ended.exit_code == 4
    assert states(small, "groups")["get"] == "failed"
    assert states(small, "chats")["get"] in ("blocked", "pending")
    assert small.imported("chats") == {}


@pytest.mark.parametrize("method", ["im.recent.list", "sonet_group.get", "user.get", "im.dialog.messages.get"])
def test_a_later_run_completes_what_failed(small: World, method: str) -> None:
    small.strike_cloud({"method": method, "kind": "500"})
    assert small.run().exit_code == 4
    small.strike_cloud()
    assert small.run().exit_code == 0
    assert small.letters() == []
    assert {created for created, _ in small.effects().values()} == {1}


def test_one_chat_that_cannot_be_read_does_not_stop_the_others(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page goes to the dead letters; the messages of all other chats are staged."""
    bad = max(small.cloud.portal.company.chats.values(), key=len)
    page = Correspondence.page

    def broken(correspondence: Correspondence, chat: Chat, places: range) -> Any:
        if chat is bad:
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        return page(correspondence, chat, places)

    with monkeypatch.context() as sick:
        sick.setattr(Correspondence, "page", broken)
        assert small.run().exit_code == 4
    assert len(small.letters()) == 1
    staged = {key.partition(":")[0] for key in small.records("ChatMessages")}
    filled = {str(chat.id) for chat in small.cloud.portal.company.chats.values() if len(chat)}
    assert staged == filled - {str(bad.id)}
    assert small.run().exit_code == 0


def test_a_chat_whose_messages_are_refused_is_counted_with_the_messages(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = max(small.cloud.portal.company.chats.values(), key=len)
    page = Correspondence.page

    def refused(correspondence: Correspondence, chat: Chat, places: range) -> Any:
        if chat is bad:
            raise RestError("ACCESS_ERROR", "You do not have access to the specified dialog", 403)
        return page(correspondence, chat, places)

    monkeypatch.setattr(Correspondence, "page", refused)
    small.run()
    assert (f"impossible:chat_messages:{bad.id}",) in small.sql("SELECT RowKey FROM SetAside")
