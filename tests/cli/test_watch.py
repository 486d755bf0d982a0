"""`status --watch`: a look again and again, until the run ends or the reader has seen enough."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from tests.cli.command import Scene

from b24migrate.app import App, open_app
from b24migrate.cli import status
from b24migrate.cli.session import Session
from b24migrate.cli.status import Look, Sentences
from b24migrate.clock import SystemClock
from b24migrate.engine import plan
from b24migrate.insight.status import StatusReader, snapshot


@pytest.fixture
def app(scene: Scene) -> Iterator[App]:
    """A store with a run that is under way."""
    scene.source, scene.target = (
        "https://cloud.example/rest/1/s3cretsource/",
        "https://box.example/rest/1/s3crettarget/",
    )
    scene.write()
    session = Session()
    session.config = scene.config
    with open_app(session.settings(portals=False)) as opened:
        plan.begin(opened.context.store, SystemClock(), plan.Plan(("users",)))
        yield opened


def finish(app: App) -> None:
    run = plan.current(app.context.store)
    assert run is not None
    plan.end(app.context.store, SystemClock(), run, complete=True, exit_code=0, message="")


def test_in_a_pipe_it_is_a_line_now_and_then_and_ends_with_the_run(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            finish(app)

    status.watch_run(app, str, sleep=pause)
    first, last = capsys.readouterr().out.splitlines()
    assert "Running for" in first
    assert "Completed without issues." in last
    assert min(waits) >= 1.0


def test_a_slow_look_is_taken_less_often(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    times = iter(range(0, 1000, 2))
    monkeypatch.setattr(status, "time", SimpleNamespace(monotonic=lambda: float(next(times))))

    def pause(seconds: float) -> None:
        waits.append(seconds)
        finish(app)

    status.watch_run(app, str, sleep=pause)
    assert waits[0] > 10.0


def test_as_json_each_line_is_a_status(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    status.watch_run(app, str, as_json=True, sleep=lambda _: finish(app))
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(line) for line in lines] == [{"run", "entities", "verdict"}] * 2


def on_a_terminal(scene: Scene, *arguments: str, **environ: str) -> tuple[int, subprocess.Popen[str]]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    child = scene.process(*arguments, on=theirs, env={**known, "TERM": "xterm", **environ})
    os.close(theirs)
    return ours, child


def read_until(terminal: int, words: str) -> str:
    text = b""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes any more
        while words.encode() not in text:
            text += os.read(terminal, 65536)
    return text.decode()


@pytest.mark.usefixtures("app")
def test_on_a_terminal_ctrl_c_ends_it_with_0(scene: Scene) -> None:
    terminal, child = on_a_terminal(scene, "status", "--watch", NO_COLOR="1")
    text = read_until(terminal, "Running for")
    child.send_signal(signal.SIGINT)
    text += read_until(terminal, "\0")
    os.close(terminal)
    _, err = child.communicate(timeout=300)
    assert (child.returncode, err) == (0, "")
    assert "Running for" in text
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", text), "a colour"


def test_on_a_dumb_terminal_nothing_is_drawn_over(scene: Scene, app: App) -> None:
    finish(app)
    for command in (["status", "--watch"], ["status"], ["errors"], ["errors", "DUPLICATE_EMAIL"]):
        terminal, child = on_a_terminal(scene, *command, TERM="dumb")
        text = read_until(terminal, "\0")
        os.close(terminal)
        child.communicate(timeout=300)
        assert child.returncode == 0
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_a_look_says_the_same_as_status(app: App) -> None:
    assert Look.by(StatusReader(app.context)).status == snapshot(app.context).to_json()


@pytest.mark.parametrize(
    ("exit_code", "message", "wanted"),
    [
        (
            5,
            "users: 1 failed",
            "Completed with issues. Review errors and differences. users: 1 failed Run `b24migrate errors`",
        ),
        (4, "disk full.", "because of an error. disk full. Run the same command"),
        (3, "auth.cloud: no scope.", "not met. auth.cloud: no scope. Fix the cause"),
    ],
)
def test_how_it_ended_comes_with_what_to_do(app: App, exit_code: int, message: str, wanted: str) -> None:
    run = plan.current(app.context.store)
    assert run is not None
    plan.end(app.context.store, SystemClock(), run, complete=exit_code == 5, exit_code=exit_code, message=message)
    look = Look.by(StatusReader(app.context))
    assert look.over
    assert wanted in Sentences.of(look.overview, str).verdict


def test_no_secret_and_no_narrow_space_reaches_the_terminal(app: App) -> None:
    run = plan.current(app.context.store)
    assert run is not None
    plan.end(app.context.store, SystemClock(), run, complete=False, exit_code=4, message="s3cret")
    sentences = Sentences.of(Look.by(StatusReader(app.context)).overview, lambda text: text.replace("s3cret", "***"))
    assert "***" in sentences.verdict
    assert "s3cret" not in sentences.verdict
    assert "\N{NARROW NO-BREAK SPACE}" not in sentences.verdict + sentences.progress
