"""What a request is answered."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from tests import azurite
from tests.cli.command import answering
from tests.engine.world import TALK, World
from tests.functions.host import Host, Instance

from b24migrate.app_cache import ActiveRun
from b24migrate.engine import plan
from b24migrate.functions import http, open_from_environment
from b24migrate.insight import status
from b24migrate.ports import RUNS
from b24sim.imports.forgetful import Forgetful


def test_nothing_has_begun(host: Host) -> None:
    code, answer = host.ask("status")
    assert code == 200
    assert (answer["run"], answer["state"], answer["exit_code"]) == ("", "none", None)


def test_the_status_is_that_of_the_command_line(small: World, host: Host) -> None:
    host.ask("start")
    result = host.run()
    with small.app() as app:
        assert {name: result[name] for name in ("run", "entities")} == status.snapshot(app.context).to_json()


def test_a_start_says_which_run_it_is_and_another_of_the_same_goes_on_with_it(host: Host) -> None:
    code, first = host.ask("start", {"entities": ["users"], "phases": ["get"]})
    again, second = host.ask("start", {"entities": ["users"], "phases": ["get"]})
    assert (code, again) == (202, 202)
    assert first == second


def test_another_plan_is_refused_while_one_is_under_way(host: Host) -> None:
    _, first = host.ask("start", {"entities": ["users"]})
    code, answer = host.ask("start", {"entities": ["groups"]})
    assert code == 409
    assert answer["code"] == "RUN_UNDER_WAY"
    assert first["run"] in answer["message"]
    assert host.ask("do", mini_task="groups-get")[0] == 409
    assert host.ask("retry", {"entities": ["chats"]})[0] == 409


def test_a_start_that_is_refused_changes_nothing_for_those_at_work(host: Host) -> None:
    host.ask("start", {"entities": ["users"]})
    with host.one.keeper.active_run() as at_work:
        assert isinstance(at_work, ActiveRun)
        assert host.ask("start", {"entities": ["users"], "test_limit": 2})[0] == 409
        with host.one.keeper.app() as app:
            assert app.context.options.test_limit == at_work.run.plan.test_limit == 0


def test_a_run_that_is_being_started_keeps_others_from_starting(small: World, host: Host) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with small.app() as app, pytest.raises(KeyboardInterrupt):
        plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)), die)
    assert host.ask("start", {"entities": ["users"]})[0] == 409
    small.clock.sleep(3600)
    assert host.ask("start", {"entities": ["users"]})[0] == 202  # whoever was at it is dead


def test_a_mini_task_is_done_by_its_name(host: Host) -> None:
    code, answer = host.ask("do", mini_task="users-get")
    assert (code, answer["entities"], answer["phases"]) == (202, ["users"], ["get"])
    users = host.run()["entities"]["users"]
    assert users["phases"]["get"] == "done"
    assert users["phases"]["set"] == "pending"


def test_a_test_limit_goes_with_its_run(host: Host) -> None:
    host.ask("start", {"test_limit": 2})
    limited = host.run()
    assert limited["entities"]["groups"]["streams"]["groups"]["import_ok"] == 2
    host.ask("start", {})
    assert host.run()["entities"]["groups"]["streams"]["groups"]["import_ok"] == 4


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "cannot be used"),
        (b"[]", "cannot be used"),
        (b"\xff", "cannot be used"),
        (b'{"entitis": ["users"]}', "entitis"),
        (b'{"entities": ["user"]}', "Did you mean users?"),
        (b'{"phases": ["gets"]}', 'no phase "gets"'),
        (b'{"test_limit": -1}', "below 0"),
        (b'{"test_limit": "many"}', "cannot be used"),
    ],
)
def test_a_mistaken_request_is_told_what_is_wrong(host: Host, body: bytes, says: str) -> None:
    code, answer = host.ask("start", body)
    assert code == 400
    assert says in answer["message"]
    assert answer["hint"]
    assert answer["code"] == "USAGE"


def test_a_misspelt_mini_task_is_told_what_it_may_have_been(host: Host) -> None:
    code, answer = host.ask("do", mini_task="group-get")
    assert code == 400
    assert "Did you mean groups-get?" in answer["message"]


def test_a_closed_gate_is_named(small: World, host: Host) -> None:
    small.strike_cloud({"kind": "error", "code": "INVALID_CREDENTIALS", "status": 401})
    code, answer = host.ask("start")
    assert code == 412
    assert answer["message"].startswith("auth.cloud")
    assert answer["exit_code"] == 3
    assert host.ask("status")[1]["state"] == "none"


def test_what_the_box_does_not_keep_is_accepted_by_the_request_or_stops_it(small: World, host: Host) -> None:
    losses = {"users:WORK_PHONE": "No telephones."}
    small.box.portal.imports = Forgetful(small.box.portal.imports, losses)  # type: ignore[assignment]
    code, answer = host.ask("start")
    assert (code, answer["code"]) == (412, "fidelity.accepted")
    assert "fidelity" in answer["hint"]
    assert not small.imported("users")
    assert host.ask("start", {"accept_fidelity": True})[0] == 202
    assert host.run()["exit_code"] == 0
    assert small.imported("users")
    assert host.ask("start")[0] == 202  # accepted once


def test_a_portal_that_does_not_answer_is_no_fault_of_the_request(small: World, host: Host) -> None:
    small.strike_cloud({"kind": "502html"})
    code, answer = host.ask("start")
    assert (code, answer["exit_code"]) == (503, 4)


def test_what_failed_is_told_and_can_be_retried(small: World, host: Host) -> None:
    small.strike_box(
        {"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1}
    )
    host.ask("start")
    ended = host.run()
    assert ended["exit_code"] == 5
    code, answer = host.ask("errors")
    assert code == 200
    assert ("groups", "VALIDATION", 1) in [(one["place"], one["code"], one["count"]) for one in answer["errors"]]
    code, answer = host.ask("retry", {"scope": "groups-set"})
    assert code == 202
    assert answer["records"] > 1
    assert host.run()["exit_code"] == 0
    code, answer = host.ask("retry")
    assert (code, answer["message"]) == (200, "Nothing to retry.")


def test_a_bug_is_answered_with_a_reference_to_the_log(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, small: World
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(f"broken at {small.cloud.webhook()}")

    monkeypatch.setattr(http, "snapshot", fail)
    code, answer = host.ask("status")
    assert code == 500
    assert "RuntimeError" not in json.dumps(answer)
    assert "Traceback" not in json.dumps(answer)
    logged = [json.loads(one.message) for one in caplog.records if one.levelno == logging.ERROR]
    assert [one["reference"] for one in logged] == [answer["reference"]]
    assert "Traceback" in logged[0]["details"]
    assert small.cloud.webhook() not in logged[0]["details"]


def test_settings_come_from_the_environment_and_a_corrected_one_is_noticed(
    small: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("B24MIGRATE_SOURCE__WEBHOOK", small.cloud.webhook())
    monkeypatch.setenv("B24MIGRATE_TARGET__WEBHOOK", "env:NOT_THERE")
    monkeypatch.setenv("B24MIGRATE_RUN__ENTITIES", ",".join(TALK))
    instance = Instance(open_from_environment)
    try:
        code, answer = instance.ask("start")
        assert code == 422
        assert "NOT_THERE" in answer["message"]
        monkeypatch.setenv("NOT_THERE", small.box.webhook())
        assert instance.ask("start")[0] == 202
    finally:
        instance.close()


def test_requests_to_the_store_are_not_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The address of a table row contains its key, and the host of the functions keeps whatever is logged."""
    monkeypatch.setenv("B24MIGRATE_STORE__URL", azurite.url())
    for name in ("source", "target"):
        monkeypatch.setenv(f"B24MIGRATE_{name.upper()}__WEBHOOK", f"https://{name}.example/rest/1/aaaaaaaaaaaaaaaa/")
    for name, port in azurite.start().items():
        monkeypatch.setenv(f"AZURITE_{name.upper()}_PORT", str(port))
    monkeypatch.chdir(tmp_path)
    with caplog.at_level(logging.INFO), open_from_environment() as app:
        app.context.store.read(RUNS, "some key")
    assert not [record for record in caplog.records if record.name.startswith("azure")]


def test_an_answer_has_no_secret(small: World, host: Host) -> None:
    """Also where a portal answers something with a secret in it."""
    with answering({}, default=f"<html>{small.box.webhook()}</html>") as strange:
        small.settings["target"] = {"webhook": strange}
        _, answer = host.ask("start")
    for webhook in (small.cloud.webhook(), small.box.webhook(), strange):
        assert webhook.rstrip("/").rsplit("/", 1)[-1] not in json.dumps(answer)
