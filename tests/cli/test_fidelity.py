"""`fidelity` and `run --accept-fidelity`: the list before anything is written, and who accepts it."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.cli.command import Result, Scene, box, cloud

from b24sim.imports.forgetful import Forgetful
from b24sim.serve import Running

REASON = "The box has no place for a second telephone number, so that this one is left behind for good and all."
PHONE = {"users:WORK_PHONE": REASON}
PATIENCE_S = 30.0  # with a process that says nothing
PEOPLE = '[run]\nentities = ["users"]\n'


def forgets(target: Running, losses: dict[str, str]) -> None:
    portal = target.portal
    box_itself = getattr(portal.imports, "_box", portal.imports)
    portal.imports = Forgetful(box_itself, losses)  # type: ignore[assignment]


@contextmanager
def places(scene: Scene, losses: dict[str, str] = PHONE) -> Iterator[Running]:
    with cloud() as source, box() as target:
        forgets(target, losses)
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), PEOPLE
        yield target


def imported(target: Running) -> int:
    return len(target.portal.imports.dump("users"))


def test_a_box_that_keeps_everything_says_so_in_one_sentence(company: Scene) -> None:
    result = company.run("fidelity")
    assert result == Result(0, "The target keeps every field of every record.\n", "")
    assert company.run("fidelity", "--json").json["all_kept"] is True
    assert "the target keeps every field" in company.run("doctor").out


def test_the_list_fits_eighty_columns_without_colour_and_says_what_to_do(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with places(scene, {**PHONE, "users:": REASON, "users:UF_*": REASON}):
        assert scene.run("run", "--phase", "get").code == 0
        for language in ("en", "ru"):
            process, out = on_a_terminal(scene, "", "fidelity", "--lang", language)
            assert process.returncode == 3
            assert max(map(len, out.splitlines())) <= 80
            assert "WORK_PHONE" in out
            assert "--accept" in out
            assert not re.search("\x1b\\[[0-9;]*3[0-9]m", out)


def test_numbers_are_those_of_the_source_and_say_what_they_rest_on(scene: Scene) -> None:
    with places(scene) as target:
        (before,) = scene.run("fidelity", "--json").json["items"]
        assert (before["records"], before["basis"]) == (None, "unknown")
        shown = scene.run("fidelity").out
        assert "records:" not in shown  # that nothing is known yet is said once
        assert "Records affected" in shown
        assert scene.run("run", "--phase", "get").code == 0
        (counted,) = scene.run("fidelity", "--json").json["items"]
        assert scene.run("run", "--accept-fidelity").code == 0
        assert scene.run("report", "--out", "out").code == 0
        filled = [row for row in target.portal.imports.dump("users") if row["fields"].get("WORK_PHONE")]  # type: ignore[attr-defined]
        assert filled
        assert (counted["records"], counted["basis"]) == (len(filled), "counted")
        assert f",{len(filled)},counted,yes" in (scene.folder / "out" / "fidelity.csv").read_text("utf-8")


def test_before_anything_is_read_the_analysis_says_how_many_there_are_at_most(scene: Scene) -> None:
    with places(scene):
        assert scene.run("analyze").code == 0
        (line,) = scene.run("fidelity", "--json").json["items"]
        assert line["basis"] == "at_most"
        assert line["records"] >= 12
        assert "at most" in scene.run("fidelity").out
        assert "не более" in scene.run("fidelity", "--lang", "ru").out


def test_a_script_is_told_in_one_sentence_and_nothing_is_written(scene: Scene) -> None:
    with places(scene) as target:
        result = scene.run("run")
        assert result.code == 3
        assert "fidelity.accepted" in result.err
        assert "--accept-fidelity" in result.err
        assert imported(target) == 0
        assert scene.run("set", "users").code == 3
        assert scene.run("get", "users").code == 0
        data = scene.run("run", "--json").json
        assert data["exit_code"] == 3
        assert imported(target) == 0


def test_what_was_accepted_once_is_not_asked_again_until_the_list_grows(scene: Scene) -> None:
    with places(scene) as target:
        assert scene.run("fidelity", "--accept").code == 0
        assert scene.run("run").code == 0
        assert imported(target) > 0
        forgets(target, {**PHONE, "users:PERSONAL_CITY": "Cities are not kept."})
        again = scene.run("run")
        assert again.code == 3
        assert "fidelity.accepted" in again.err
        items = scene.run("fidelity", "--json").json["items"]
        assert {one["field"]: one["accepted"] for one in items} == {"WORK_PHONE": True, "PERSONAL_CITY": False}
        forgets(target, {})
        assert scene.run("run").code == 0


def test_a_reason_is_said_once_and_what_concerns_no_record_is_only_counted(scene: Scene) -> None:
    with places(scene, {**PHONE, "users:PERSONAL_CITY": REASON, "users:PERSONAL_ICQ": "Nobody has one."}):
        assert scene.run("run", "--phase", "get").code == 0
        out = " ".join(scene.run("fidelity").out.split())
        assert out.count("for good and all") == 1
        assert "PERSONAL_CITY" in out
        assert "PERSONAL_ICQ" not in out
        assert "1 more" in out
        assert len(scene.run("fidelity", "--json").json["items"]) == 3


def test_rules_for_what_is_not_migrated_stop_nobody(scene: Scene) -> None:
    with places(scene, {"tasks:title": "No titles.", "users:stageId": "No.", "unheard_of:field": "Whatever."}):
        assert scene.run("fidelity").code == 0
        assert scene.run("run").code == 0


def test_doctor_warns_and_names_the_command(scene: Scene) -> None:
    with places(scene):
        result = scene.run("doctor")
        assert result.code == 0
        assert "lost 1" in result.out
        assert "b24migrate fidelity" in result.out
        scene.run("fidelity", "--accept")
        assert "accepted by" in scene.run("doctor").out


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 3), ("\n", 3), ("\x04", 3)])
def test_a_terminal_shows_the_list_and_asks(scene: Scene, answer: str, code: int) -> None:
    with places(scene) as target:
        process, out = on_a_terminal(scene, answer, "run")
        assert "WORK_PHONE" in out
        assert "[y/N]" in out
        assert process.returncode == code
        assert (imported(target) > 0) == (code == 0)


def on_a_terminal(scene: Scene, answer: str, *arguments: str) -> tuple[subprocess.Popen[str], str]:
    ours, theirs = pty.openpty()
    process = scene.process(*arguments, on=theirs, stdin=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "80"})
    os.close(theirs)
    heard, answered = b"", False
    while select.select([ours], [], [], PATIENCE_S)[0]:
        try:
            heard += os.read(ours, 4096)
        except OSError:
            break
        if not answered and b"[y/N]" in heard:
            os.write(ours, answer.encode())
            answered = True
    os.close(ours)  # whoever still waits for an answer gets none
    process.communicate(timeout=PATIENCE_S)
    return process, heard.decode()
