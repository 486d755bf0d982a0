"""The command line from an empty folder to a verified migration."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import socket
import struct
import termios
import urllib.request
from pathlib import Path

import pytest
from tests.cli.command import Scene, box, cloud, held_cloud, until_something_runs

from b24migrate.monitor.metrics import KINDS, serve

COUNTS = {
    "reported",
    "retrieved",
    "new",
    "import_ok",
    "import_err",
    "error_retry",
    "excluded",
    "deleted",
    "conflicts",
    "impossible",
    "mismatch",
}


def test_a_company_is_moved_and_verified(company: Scene) -> None:
    result = company.run("run")
    assert result.code == 0, result.all
    assert "Completed without issues." in result.out
    assert result.err == ""
    status = company.run("status", "--json").json
    assert {name for name, entity in status["entities"].items() if entity["verified"]} == {"users", "groups", "chats"}


def test_the_status_has_the_promised_shape(moved: Scene) -> None:
    status = moved.run("status", "--json").json
    assert set(status) == {"run", "entities"}
    groups = status["entities"]["groups"]
    assert set(groups) == {"verified", "phases", "streams", "notes"}
    assert {"get", "set", "verify"} <= set(groups["phases"])
    assert set(groups["streams"]) == {"groups", "group_members"}
    assert set(groups["streams"]["groups"]) == COUNTS
    assert groups["streams"]["groups"] == {
        name: 4 if name in ("reported", "retrieved", "import_ok") else 0 for name in COUNTS
    }


def test_json_output_is_nothing_but_json_and_ends_with_the_verdict(company: Scene) -> None:
    result = company.run("run", "--json")
    assert result.json["exit_code"] == result.code == 0
    assert result.json["message"] == ""
    assert set(result.json) == {"run", "entities", "exit_code", "message"}


def test_a_second_run_changes_nothing(company: Scene) -> None:
    first = company.run("run", "--json").json["entities"]
    second = company.run("run", "--json").json["entities"]
    assert {name: one["streams"] for name, one in first.items()} == {
        name: one["streams"] for name, one in second.items()
    }


def test_mini_tasks_and_phases_do_the_same_as_a_run(company: Scene) -> None:
    assert company.run("run", "--entity", "users").code == 0
    assert company.run("do", "groups-get").code == 0
    status = company.run("status", "--json").json["entities"]["groups"]
    assert status["phases"]["get"] == "done"
    assert status["phases"]["set"] == "pending"
    assert company.run("set", "groups").code == 0
    assert company.run("verify", "groups", "--full").code == 0
    assert company.run("custom-fields", "users").code == 0
    assert company.run("status", "--json").json["entities"]["groups"]["verified"] is True


def test_an_entity_alone_stops_at_the_gate_of_what_it_needs(company: Scene) -> None:
    result = company.run("run", "--entity", "groups")
    assert result.code == 3
    assert "users.import.completed" in result.out
    assert "b24migrate run --entity users" in result.out


def test_a_try_out_reads_only_the_first_records(company: Scene) -> None:
    result = company.run("run", "--test-limit", "2", "--json")
    assert result.code == 0, result.all
    assert result.json["entities"]["groups"]["streams"]["groups"]["import_ok"] == 2


def test_doctor_says_that_a_run_can_begin(company: Scene) -> None:
    result = company.run("doctor")
    assert result.code == 0
    assert "Ready" in result.out
    checks = company.run("doctor", "--json").json["checks"]
    assert {check["level"] for check in checks} == {"ok"}


def test_failed_records_are_explained_and_can_be_tried_again(scene: Scene) -> None:
    refuse = '[{"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1}]'
    with cloud() as source, box("--faults", refuse) as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        result = scene.run("run")
        assert result.code == 5, result.all
        assert "groups: 1 failed" in result.out
        listed = scene.run("errors")
        assert "VALIDATION" in listed.out
        assert "Fix  " in listed.out
        cause = next(one for one in scene.run("errors", "--json").json["errors"] if one["place"] == "groups")
        assert (cause["code"], cause["count"]) == ("VALIDATION", 1)
        assert cause["fix"]
        again = scene.run("retry")
        assert again.code in (0, 5), again.all
        assert not [one for one in scene.run("errors", "--json").json["errors"] if one["place"] == "groups"]
        assert scene.run("retry", "--entity", "groups").out.startswith("Nothing to retry.")


def test_the_user_map_is_written_edited_and_loaded(company: Scene) -> None:
    assert company.run("users", "export", "map.csv").code == 3
    company.run("get", "users")
    command = company.run("users", "export", "map.csv", "--json")
    assert (command.code, command.json) == (0, {"users": 12, "file": "map.csv"})
    lines = Path("map.csv").read_text("utf-8-sig").splitlines()
    assert lines[0] == "source_id,email,name,target_id"
    assert len(lines) == 13
    first = lines[1].split(",")[0]
    Path("map.csv").write_text(f"source_id;email;name;target_id\n{first};;;1\n", "utf-8-sig")
    result = company.run("users", "load", "map.csv")
    assert (result.code, "1 users" in result.out) == (0, True)
    assert company.run("run", "--entity", "users").code == 0
    assert company.run("users", "export", "map.csv").code == 0
    assert Path("map.csv").read_text("utf-8-sig").splitlines()[1].endswith(",1")
    assert company.run("users", "load", "map.csv", "--json").json == {"linked": 0}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a,b\n1,2\n", "source_id"),
        ("source_id,target_id\nx,1\n", "Line 2"),
        ("source_id,target_id\n1\n", "Line 2"),
        ("source_id,target_id\n99999,1\n", "99999"),
    ],
)
def test_a_bad_user_map_is_refused_whole(company: Scene, text: str, wanted: str) -> None:
    company.run("get", "users")
    Path("map.csv").write_text(text)
    result = company.run("users", "load", "map.csv")
    assert result.code == 2
    assert wanted in result.err


def test_metrics_have_the_promised_names_and_survive_a_restart(moved: Scene) -> None:
    text = moved.run("metrics").out
    for name in KINDS:
        assert f"# TYPE {name} " in text
    assert 'records_import_ok_total{entity="groups"} 4.0' in text
    assert 'duration_ms{entity="groups",phase="get"}' in text
    assert moved.run("metrics", "--out", "metrics.prom").code == 0
    assert 'records_import_ok_total{entity="groups"} 4.0' in Path("metrics.prom").read_text()


def test_metrics_are_told_in_json_too(moved: Scene) -> None:
    data = moved.run("metrics", "--json").json["metrics"]
    assert {one["name"] for one in data} <= KINDS.keys()
    assert {"name": "records_import_ok_total", "labels": {"entity": "groups"}, "value": 4} in data
    assert moved.run("metrics", "--json", "--out", "metrics.json").out == ""
    assert {one["name"] for one in json.loads(Path("metrics.json").read_text())["metrics"]} <= KINDS.keys()


def test_metrics_are_served_meanwhile(company: Scene) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        taken = company.run("run", "--metrics-port", str(port))
        assert (taken.code, "another port" in taken.err) == (2, True)
    assert company.run("run", "--metrics-port", str(port)).code == 0
    stop = serve(lambda: [("inventory_drift", {"entity": "groups"}, 2.0)], port)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            assert 'inventory_drift{entity="groups"} 2.0' in str(answer.read(), "utf-8")
    finally:
        stop()


def test_a_worker_finishes_what_a_killed_run_left(scene: Scene) -> None:
    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run")
        until_something_runs(scene)
        child.kill()
        child.communicate(timeout=300)
        hold.let_go()
        assert scene.run("worker", "--once").code == 0
        entities = scene.run("status", "--json").json["entities"]
        assert {entities[name]["phases"]["verify"] for name in ("users", "groups", "chats")} == {"done"}
        result = scene.run("run", "--json")
        assert result.code == 0, result.all


def test_on_a_terminal_it_is_readable_at_80_columns_and_colourless_on_request(company: Scene) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environ = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {
        "NO_COLOR": "1",
        "TERM": "xterm",
    }
    child = company.process("run", on=theirs, env=environ)
    os.close(theirs)
    text = drained(ours)
    child.communicate(timeout=300)
    assert child.returncode == 0, text
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", text), "a colour"
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "━" in plain
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= 80


def drained(terminal: int) -> str:
    chunks = []
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes any more
        while chunk := os.read(terminal, 65536):
            chunks.append(chunk)
    os.close(terminal)
    return b"".join(chunks).decode()


def test_a_stopped_run_says_so_and_goes_on_later(scene: Scene) -> None:
    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run")
        until_something_runs(scene)
        child.send_signal(signal.SIGINT)
        hold.let_go()
        out, err = child.communicate(timeout=300)
        assert (child.returncode, err.strip()) == (
            4,
            "Stopped. Progress is saved: run the same command to continue.",
        ), out + err
        result = scene.run("run", "--json")
        assert result.code == 0, result.all


def test_the_log_has_exactly_the_promised_keys(moved: Scene) -> None:
    keys = {"ts", "level", "run", "entity", "op", "sourceId", "status", "attempt", "latency_ms", "error_code", "msg"}
    lines = [json.loads(line) for line in (moved.folder / "b24migrate.log").read_text("utf-8").splitlines()]
    assert lines
    assert all(set(line) == keys for line in lines)
    assert len({line["run"] for line in lines} - {""}) == 1


def test_a_delta_run_explains_itself_lists_and_brings_what_changed(company: Scene) -> None:
    assert company.run("run").code == 0
    explained = company.run("sync", "--explain")
    assert (explained.code, "Changes: all records are read and compared." in explained.out) == (0, True)
    quiet = company.run("sync", "--report-only")
    assert (quiet.code, "Nothing changed." in quiet.out) == (0, True), quiet.all
    result = company.run("sync")
    assert result.code == 0, result.all
    wrong = company.run("sync", "--every", "soon")
    assert (wrong.code, "soon" in wrong.err) == (2, True), wrong.all
