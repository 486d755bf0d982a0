"""`pause` and `resume` on the command line, beside the process that runs the plan."""

from __future__ import annotations

import getpass
import subprocess

import pytest
from tests.cli.command import Scene, box, held_cloud, until_something_runs

from b24migrate.cli import session


def wait_for_exit(child: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = child.communicate(timeout=300)
    return child.returncode, out, err


def test_without_a_run_there_is_nothing_to_pause_and_nothing_to_go_on_with(company: Scene) -> None:
    for command, sentence in (("pause", "nothing to pause"), ("resume", "no run to resume")):
        result = company.run(command)
        assert result.code == 2
        assert sentence in result.err.splitlines()[0]
        assert result.out == ""


def test_a_run_is_paused_from_another_terminal_and_goes_on(scene: Scene) -> None:
    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run", "--test-limit", "40")
        until_something_runs(scene)
        result = scene.run("pause")
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(f"Paused by {getpass.getuser()}@")
        assert "b24migrate resume" in result.out
        hold.let_go()
        code, out, err = wait_for_exit(child)
        assert code == 3, out + err
        sentence, hint = err.splitlines()
        assert sentence == result.out.splitlines()[0].partition(" Running jobs")[0]
        assert "`b24migrate resume` continues it" in hint
        assert "Traceback" not in out + err

        first = scene.run("status").out.splitlines()[0]
        assert first.startswith(sentence)
        assert "`b24migrate resume` continues it" in first
        status = scene.run("status", "--json").json
        assert status["state"] == "paused"

        ended = scene.run("resume", "--json")
        assert ended.code == 0, ended.all
        assert ended.json["run"] == status["run"]
        assert "40 records of each type" in ended.json["message"]  # the limit went with it
        assert set(scene.run("status", "--json").json) == {"run", "entities"}
        nothing = scene.run("resume")
        assert (nothing.code, "has finished" in nothing.err) == (2, True)
        assert "b24migrate run" in nothing.err


def test_as_json_a_paused_run_says_its_exit_code_and_the_pause_whom_it_paused(scene: Scene) -> None:
    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run", "--json")
        until_something_runs(scene)
        data = scene.run("pause", "--json").json
        assert data["state"] == "paused"
        again = scene.run("pause", "--json").json
        assert again == data
        hold.let_go()
        code, out, _ = wait_for_exit(child)
        assert code == 3
        assert f'"exit_code": 3, "message": "{data["message"]}' in out
        assert f'"run": "{data["run"]}"' in out


def test_the_command_that_began_a_paused_run_goes_on_with_it_too(scene: Scene) -> None:
    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run", "--entity", "users", "--entity", "groups")
        until_something_runs(scene)
        paused = scene.run("pause", "--json").json["run"]
        hold.let_go()
        wait_for_exit(child)
        ended = scene.run("run", "--entity", "users", "--entity", "groups", "--json")
        assert (ended.code, ended.json["run"]) == (0, paused), ended.all


def test_only_the_entities_and_phases_of_the_run_are_gone_on_with(company: Scene) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("b24migrate.engine.run.Runner.conclude", _interrupted)
        company.run("do", "users-get")
    ended = company.run("resume", "--json")
    assert ended.code == 0, ended.all
    phases = ended.json["entities"]["users"]["phases"]
    assert (phases["get"], phases["set"]) == ("done", "pending")


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_somebody_without_a_name_can_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nameless)
    assert session.local_user()
