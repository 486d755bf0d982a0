"""SIGTERM and Ctrl-C end any state, though what it waits for lasts much longer; everything is kept, and the same command
completes afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Scene, box, cloud
from tests.cli.slow_proxy import Tampering

from b24migrate import cli

STOPPED = "Stopped. Progress is saved"


@pytest.fixture
def source(scene: Scene) -> Iterator[Tampering]:
    with cloud() as portal, box() as target, Tampering(portal.url).serving() as proxy:
        scene.source, scene.target = proxy.webhook(portal.webhook()), target.webhook()
        yield proxy


@contextlib.contextmanager
def started(scene: Scene, *command: str) -> Iterator[subprocess.Popen[str]]:
    def heed() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it

    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = scene.process(*command, preexec_fn=heed, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def heeds_signals(process: subprocess.Popen[str]) -> bool:
    """Waits until it has a handler for SIGTERM. A process that is still importing has none."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
        if caught >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.05)
    return False


def ended(process: subprocess.Popen[str], how: signal.Signals = signal.SIGTERM) -> str:
    """What it said, when it came to its end with the right exit code, before the call that it was in."""
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert STOPPED in out + err
    assert "Traceback" not in err
    return out + err


def working(scene: Scene) -> bool:
    """Whether the workers have begun."""
    log = scene.folder / "b24migrate.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return any('"get"' in line and '"running"' in line for line in lines)


@pytest.mark.parametrize(
    ("command", "slow", "how"),
    [
        pytest.param("doctor", "/", signal.SIGTERM, id="doctor"),
        pytest.param("analyze", "/batch", signal.SIGINT, id="analyze"),
        pytest.param("run", "/batch", signal.SIGTERM, id="reading"),
        pytest.param("run", "", signal.SIGTERM, id="downloading"),
    ],
)
def test_a_byte_a_second_holds_nobody(
    scene: Scene, source: Tampering, command: str, slow: str, how: signal.Signals
) -> None:
    def slowly(path: str, body: bytes) -> bool:
        if command == "run" and not working(scene):
            return False  # the main thread still asks by itself
        return slow in path if slow else not body  # a download has none

    source.slow = slowly
    with started(scene, command) as process:
        assert source.trickles.wait(300)
        time.sleep(0.5)
        ended(process, how)
    source.slow = lambda *_: False
    assert scene.run(command).code in (0, 5)
    if command == "run":
        users = scene.run("status", "--json").json["entities"]["users"]
        assert users["phases"]["verify"] == "done"
        assert users["streams"]["users"]["retrieved"] == users["streams"]["users"]["import_ok"] > 0


def test_an_upload_that_the_box_answers_slowly_is_ended_and_goes_on(scene: Scene) -> None:
    with cloud() as portal, box() as target, Tampering(target.url).serving() as proxy:
        scene.source, scene.target = portal.webhook(), proxy.webhook(target.webhook())
        proxy.slow = lambda path, _: "import.files.put" in path
        with started(scene, "run", "--json") as process:
            assert proxy.trickles.wait(300)
            time.sleep(0.5)
            assert '"exit_code": 4' in ended(process)
        proxy.slow = lambda *_: False
        assert scene.run("run").code in (0, 5)


@pytest.mark.parametrize("command", ["doctor", "run"])
def test_a_pause_that_the_portal_asks_for_is_ended(scene: Scene, source: Tampering, command: str) -> None:
    source.instead = b'{"error":"OPERATION_TIME_LIMIT","retry_after":1e18}'
    with started(scene, command) as process:
        assert source.trickles.wait(300)
        time.sleep(1.0)
        ended(process)


def test_a_store_that_somebody_locks_is_not_waited_for(scene: Scene, source: Tampering, tmp_path: Path) -> None:
    source.slow = lambda path, _: "/batch" in path
    with started(scene, "run") as process:
        assert source.trickles.wait(300)
        locked = sqlite3.connect(tmp_path / "b24migrate.db", isolation_level=None, timeout=30)
        with contextlib.closing(locked):
            locked.execute("BEGIN IMMEDIATE")
            source.over.set()  # workers come back from their calls and want to write
            time.sleep(1.0)
            ended(process)


@pytest.mark.parametrize("command", [["worker"], ["status", "--watch"]])
def test_waiting_for_work_is_ended_at_once(scene: Scene, source: Tampering, command: list[str]) -> None:
    scene.run("doctor")
    with started(scene, *command) as process:
        assert heeds_signals(process)
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode in (0, 4, -signal.SIGTERM)  # the last where it was ending by itself


def test_a_command_that_is_still_loading_ends_with_a_sentence_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("b24migrate.cli.completion.prepare", interrupt)
    assert cli.execute(["status"]) == 4
    assert capsys.readouterr().err.startswith("Stopped.")


def test_an_interrupt_in_code_that_is_made_of_text_has_the_same_exit_code() -> None:
    """Every dataclass is made of text while a module loads."""
    program = """
import b24migrate.cli
def load():
    exec("import time; print('begun', flush=True); time.sleep(100)")
b24migrate.cli._command = load
b24migrate.cli.main(["status"])
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, b"Stopped." in err) == (4, True)


FROZEN = (["cutover", "rehearse"], ["cutover", "freeze", "--yes"])


@pytest.mark.parametrize(
    ("before", "command", "how"),
    [
        pytest.param((), ["sync"], signal.SIGTERM, id="sync"),
        pytest.param((), ["sync", "--every", "15m"], signal.SIGINT, id="sync-every"),
        pytest.param((), ["cutover", "rehearse"], signal.SIGTERM, id="rehearse"),
        pytest.param(FROZEN, ["cutover", "finish"], signal.SIGTERM, id="finish"),
    ],
)
def test_a_byte_a_second_holds_no_delta_run_and_no_step_of_the_cutover(
    scene: Scene, source: Tampering, before: tuple[list[str], ...], command: list[str], how: signal.Signals
) -> None:
    scene.more = '[run]\nentities = ["users", "groups"]\n'
    for one in (["run"], *before):
        assert scene.run(*one).code == 0
    (scene.folder / "b24migrate.log").unlink()
    source.slow = lambda path, _: "/batch" in path and working(scene)
    with started(scene, *command) as process:
        assert source.trickles.wait(300)
        ended(process, how)
    source.slow = lambda *_: False
    assert scene.run(*command[:2] if command[0] == "cutover" else command[:1]).code == 0


def test_a_delta_run_that_waits_for_its_next_turn_is_ended(scene: Scene, source: Tampering) -> None:
    scene.more = '[run]\nentities = ["users", "groups"]\n'
    assert scene.run("run").code == 0
    with started(scene, "sync", "--every", "10d") as process:
        assert process.stdout is not None
        while "Completed" not in (line := process.stdout.readline()):
            assert line
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert STOPPED in out + err
    assert "Traceback" not in err
