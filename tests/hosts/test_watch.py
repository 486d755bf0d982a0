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
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from tests.hosts.scene import Scene

from b24migrate.clocks import SystemClock
from b24migrate.hosts.cli import watching
from b24migrate.hosts.cli.session import Session
from b24migrate.hosts.cli.watching import Look, Verdicts
from b24migrate.pipeline import plan
from b24migrate.wiring import App, open_app

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RUN = plan.Run("r", plan.Plan(("users",)), started="2026-03-01T11:00:00Z")


def look(
    run: plan.Run | None = RUN,
    *,
    waited: float = 0.0,
    state: str = "running",
    done: int = 0,
    files: tuple[int, int] = (0, 0),
) -> Look:
    counts = {"retrieved": done, "reported": 9, "import_ok": 0, "import_err": 0, "excluded": 0}
    entity = {"verified": False, "phases": {"get": state}, "streams": {"users": counts}, "notes": []}
    return Look(run, {"run": "r", "entities": {"users": entity}}, {"limit_wait:user.get": waited}, files, NOW)


def test_the_verdict_says_what_it_does_and_what_it_waits_for() -> None:
    verdicts = Verdicts()
    assert verdicts.of(look(waited=5.0), 0.0) == "Running for 1:00:00: users get."
    assert "limit of the portal: user.get" in verdicts.of(look(waited=6.5), 1.0)
    assert "limit" not in verdicts.of(look(waited=6.5), 2.0)


def test_the_verdict_says_when_nothing_moves_any_more() -> None:
    verdicts = Verdicts()
    verdicts.of(look(done=1), 0.0)
    assert "Nothing has moved" not in verdicts.of(look(done=2), 100.0)
    assert "Nothing has moved for 2:30" in verdicts.of(look(done=2), 250.0)
    assert "Nothing has moved" not in verdicts.of(look(done=2, waited=1.0), 251.0)


def test_while_files_move_the_verdict_counts_them() -> None:
    verdicts = Verdicts()
    assert "Files: 3 of 1 036 on the target." in verdicts.of(look(files=(3, 1036)), 0.0)
    verdicts.of(look(files=(3, 1036)), 119.0)
    assert "Nothing has moved" not in verdicts.of(look(files=(4, 1036)), 240.0)
    assert "Files" not in verdicts.of(look(files=(1036, 1036)), 241.0)


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        (None, "No run yet"),
        (replace(RUN, state="ended", exit_code=0), "Done and clean."),
        (
            replace(RUN, state="ended", exit_code=5, message="users: 1 failed"),
            "Finished with findings. users: 1 failed",
        ),
        (replace(RUN, exit_code=4, message="disk full."), "Not complete. disk full. The same command goes on"),
        (replace(RUN, state="paused"), "Paused. `b24migrate resume`"),
    ],
)
def test_the_verdict_says_how_it_stands(run: plan.Run | None, wanted: str) -> None:
    assert wanted in Verdicts().of(look(run), 0.0)


def test_what_is_stuck_is_named() -> None:
    assert "Stuck: users get blocked." in Verdicts().of(look(state="blocked"), 0.0)


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
        plan.begin(opened.work.store, SystemClock(), plan.Plan(("users",)))
        yield opened


def finish(app: App) -> None:
    run = plan.current(app.work.store)
    assert run is not None
    plan.end(app.work.store, SystemClock(), run, complete=True, exit_code=0, message="")


def test_in_a_pipe_it_is_a_line_now_and_then_and_ends_with_the_run(
    app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []

    def pause(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            finish(app)

    watching.watch(app, str, sleep=pause)
    first, last = capsys.readouterr().out.splitlines()
    assert "Running for" in first
    assert "Done and clean." in last
    assert min(waits) >= 1.0


def test_a_slow_look_is_taken_less_often(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    times = iter(range(0, 1000, 2))
    monkeypatch.setattr(watching, "time", SimpleNamespace(monotonic=lambda: float(next(times))))

    def pause(seconds: float) -> None:
        waits.append(seconds)
        finish(app)

    watching.watch(app, str, sleep=pause)
    assert waits[0] > 10.0


def test_as_json_each_line_is_a_status(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    watching.watch(app, str, as_json=True, sleep=lambda _: finish(app))
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
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (0, "")
    assert "Running for" in text
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", text), "a colour"


def test_on_a_dumb_terminal_nothing_is_drawn_over(scene: Scene, app: App) -> None:
    finish(app)
    for command in (["status", "--watch"], ["status"], ["errors"], ["errors", "DUPLICATE_EMAIL"]):
        terminal, child = on_a_terminal(scene, *command, TERM="dumb")
        text = read_until(terminal, "\0")
        os.close(terminal)
        child.communicate(timeout=30)
        assert child.returncode == 0
        assert "\x1b" not in text
        assert max(map(len, text.splitlines())) <= 80


def test_a_look_is_as_old_as_its_clock(app: App) -> None:
    assert abs(Look.at(app).now - SystemClock().now()) < timedelta(days=1)
