"""The demo shows a whole migration, leaves its results, and leaves nobody running."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from b24migrate import cli

SMALL = ["--users", "15", "--groups", "3", "--chats", "5", "--messages", "100", "--tasks", "5", "--deals", "8"]
SMALLEST = ["--users", "5", "--groups", "0", "--chats", "0", "--messages", "0", "--tasks", "0", "--deals", "0"]


def demo(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "b24migrate", "demo", *SMALL, *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def children_of(pid: int) -> list[int]:
    output = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return [int(line) for line in output.split()]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_demo_migrates_verifies_and_ends(tmp_path: Path) -> None:
    (tmp_path / "demo-out").mkdir()
    for name in ("b24migrate.toml", "b24migrate.db"):
        (tmp_path / "demo-out" / name).write_text("of the demo before")
    child = demo(tmp_path)
    out, err = child.communicate(timeout=600)
    assert (child.returncode, err) == (0, ""), out + err
    assert "Completed without issues." in out
    assert re.search(r"^Watch it at http://127\.0\.0\.1:\d+/login#\S{32,}$", out, re.MULTILINE)
    assert "verified ✓" in out
    assert (tmp_path / "demo-out" / "b24migrate.db").exists()
    assert (tmp_path / "demo-out").stat().st_mode & 0o077 == 0  # the webhooks are in it


def test_the_demo_of_a_larger_company_refuses_workflows_that_run_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    child = demo(tmp_path, *SMALLEST, "--users", "50")
    out, _ = child.communicate(timeout=600)
    assert child.returncode == 5, out
    assert cli.execute(["--config", "demo-out/b24migrate.toml", "errors"]) == 0
    output = capsys.readouterr().out
    assert "4 × ACTIVITY_NOT_ALLOWED" in output
    assert "Activities not allowed: " in output


def test_without_the_simulator_the_demo_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("b24migrate.cli.demo.find_spec", lambda name: None if name == "b24sim" else object())
    monkeypatch.chdir(tmp_path)
    assert cli.execute(["demo"]) == 2
    output = capsys.readouterr().err
    assert "pip install ./simulator" in output
    assert "make demo" in output
    assert not (tmp_path / "demo-out").exists()


def test_the_demo_leaves_a_folder_alone_that_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "demo-out").mkdir()
    (tmp_path / "demo-out" / "thesis.doc").write_text("years of work")
    child = demo(tmp_path)
    _, err = child.communicate(timeout=600)
    assert child.returncode == 2
    assert "demo-out" in err
    assert (tmp_path / "demo-out" / "thesis.doc").exists()


@pytest.mark.parametrize(
    ("number", "moment"), [(signal.SIGINT, "until Ctrl-C"), (signal.SIGTERM, "Watch it at")], ids=["kept", "at work"]
)
def test_the_demo_ends_its_portals_however_it_ends(tmp_path: Path, number: signal.Signals, moment: str) -> None:
    child = demo(tmp_path, *SMALLEST, "--keep")
    assert child.stdout
    for line in child.stdout:
        if moment in line:
            break
    portals = children_of(child.pid)
    assert len(portals) == 2
    child.send_signal(number)
    child.communicate(timeout=600)
    assert child.returncode == 4
    deadline = time.monotonic() + 60
    while any(map(alive, portals)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, portals))
