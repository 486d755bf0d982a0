"""What is begun from the page: in a process of its own, once, and what it says is shown."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Hold, answering
from tests.web.dashboard import LEAST, NOBODY, TOKEN, Desk, configured, dashboard, portals

from b24migrate import cli
from b24migrate.cli import serve as serving
from b24migrate.web.actions import (
    LAST_WORDS,
    ActionFiles,
    LastAction,
    ProcessStarter,
    hold_lock,
    is_held,
    read_action,
    write_action,
)
from b24sim.serve import Running

PATIENCE_S = 90.0


def until(desk: Desk, holds: Callable[[Any], bool]) -> Any:
    """Looks again and again, as the page does."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        view = desk.look("overview")
        if holds(view):
            return view
        time.sleep(0.1)
    raise AssertionError(f"it never came: {view['now']}, {view['last_action']}")


def ended(view: Any) -> bool:
    return view["last_action"] is not None and view["last_action"]["exit_code"] is not None


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Running, Running, Hold]]:
    with portals(*LEAST) as (source, target):
        source.portal.clock, source.portal.latency_s = Hold(), 1.0
        yield source, target, source.portal.clock


@pytest.fixture
def company(tmp_path: Path, pair: tuple[Running, Running, Hold]) -> Iterator[tuple[Desk, Hold]]:
    """Nothing is moved yet; its portals are those of the other tests."""
    source, target, hold = pair
    with dashboard(configured(tmp_path, source.webhook(), target.webhook(), ("users", "groups"))) as desk:
        try:
            yield desk, hold
        finally:
            hold.let_go()
        until(desk, lambda view: view["last_action"] is None or ended(view))


def test_a_run_is_started_once_paused_and_gone_on_with(company: tuple[Desk, Hold]) -> None:
    """Clicked many times, on two dashboards; one of them is closed before the run has ended."""
    desk, hold = company
    hold.on = lambda: has_jobs(desk.folder)  # what comes before a run is answered
    wish = {"entities": ["users"], "phases": ["get", "set"], "test_limit": 3}
    with dashboard(desk.folder / "b24migrate.toml") as other:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda one: one.post("run", wish), (desk, other) * 4))
        assert sorted(reply.status for reply in found) == [202, *[409] * 7]
        assert all(reply.json["message"] for reply in found)
        child = the_child(desk.folder)
        assert os.getsid(child) == child  # a Ctrl-C in our terminal is not for it
        under_way = until(other, lambda view: "pause" in view["can"])
        assert under_way["last_action"]["what"] == "run"
        assert "start" not in under_way["can"]
        assert other.post("pause").status == 202
        assert desk.look("overview")["last_action"] == other.look("overview")["last_action"]
    hold.let_go()
    paused = until(desk, ended)
    assert paused["now"]["verdict"] == "paused"
    assert paused["last_action"]["code"] == "RUN_PAUSED"
    assert "resume" in paused["can"]
    assert desk.post("run").code == "RUN_UNDER_WAY"
    assert desk.post("resume").status == 202
    view = until(desk, ended)
    assert view["last_action"]["what"] == "resume"
    assert view["last_action"]["exit_code"] == 0
    assert view["now"]["verdict"] == "done"
    assert view["run"]["entities"] == ["users"]
    assert view["run"]["phases"] == ["get", "set"]
    assert view["run"]["test_limit"] == 3
    for_nobody_else(desk.folder)


def for_nobody_else(folder: Path) -> None:
    """The files of a process."""
    found = list(folder.glob("*.started.*"))
    assert len(found) == 3
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert SOURCE_SECRET.encode() not in path.read_bytes()


def test_an_analysis_is_made_from_the_page_also_after_one_that_was_killed(company: tuple[Desk, Hold]) -> None:
    desk, hold = company
    hold.on = lambda: True
    assert desk.look("analysis") == {"survey": None, "compared": [], "running": False}
    assert desk.post("analysis").status == 202
    child = the_child(desk.folder)
    os.kill(child, signal.SIGKILL)
    assert until(desk, ended)["last_action"]["code"] == "ACTION_VANISHED"
    assert desk.post("analysis").status == 202
    assert desk.look("analysis")["running"] is True
    hold.let_go()
    assert until(desk, ended)["last_action"]["exit_code"] == 0
    answer = desk.look("analysis")
    assert answer["running"] is False
    assert answer["survey"]["forecast"]["total_s"] > 0
    assert desk.look("overview")["forecast_s"] > 0


def test_what_makes_no_sense_is_refused(desk: Desk) -> None:
    assert desk.post("pause").code == "NO_RUN"
    assert desk.post("resume").code == "NO_RUN"
    assert desk.post("retry").code == "NOTHING_FAILED"
    assert desk.look("overview")["last_action"] is None


def test_a_closed_gate_is_shown_with_its_fix(tmp_path: Path, pair: tuple[Running, Running, Hold]) -> None:
    """The portals answer, and refuse: what the process says before it has a run stands on the page."""
    wrong = {"error": "NO_AUTH_FOUND", "error_description": "Wrong authorization data"}
    source, _, _ = pair
    with answering({}, default=wrong) as target:
        config = configured(tmp_path, source.webhook().replace(SOURCE_SECRET, "wrongsecret99"), target)
        with dashboard(config) as desk:
            assert desk.post("run").status == 202
            last = until(desk, ended)["last_action"]
            assert last["exit_code"] == 3
            assert last["message"]
            assert last["hint"]
            assert desk.look(f"errors/{last['code']}")["cause"]
            assert "wrongsecret99" not in desk.get("/api/v1/overview").text
            assert TARGET_SECRET not in desk.get("/api/v1/overview").text


def test_a_configuration_that_broke_meanwhile_is_told(desk: Desk) -> None:
    desk.look("overview")
    config = desk.folder / "b24migrate.toml"
    config.write_text(config.read_text("utf-8").replace("[run]", "[rum]"), "utf-8")
    for reply in (desk.get("/api/v1/session"), desk.post("run")):
        assert reply.status == 422
        assert "rum" in reply.json["message"]


def has_jobs(folder: Path) -> bool:
    """Whether a run has begun. The store itself is asked: what a page shows of it may be a moment old."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'b24migrate.db'}?mode=ro", uri=True, timeout=60)) as store:
            return store.execute("SELECT 1 FROM Jobs LIMIT 1").fetchone() is not None
    except sqlite3.OperationalError:  # not made yet
        return False


def the_child(folder: Path) -> int:
    """The one process that was started on this folder; it may not have its command line yet."""
    while not (found := started(folder)):
        time.sleep(0.05)
    (child,) = found
    return child


def started(folder: Path) -> list[int]:
    """The processes that were started on this folder."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdecimal():
            try:
                command = (one / "cmdline").read_bytes().decode()
            except OSError:
                continue
            if "b24migrate.cli.web_action" in command and str(folder) in command:
                found.append(int(one.name))
    return found


def test_a_note_appears_whole_and_what_is_none_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "note"
    assert read_action(path) is None
    write_action(path, LastAction("run", "now", 3, "a", "b", "c"))
    assert read_action(path) == LastAction("run", "now", 3, "a", "b", "c")
    path.write_bytes(b"\xff{")
    assert read_action(path) is None


def test_half_a_character_does_not_keep_an_end_from_being_noted(tmp_path: Path) -> None:
    write_action(tmp_path / "note", LastAction("run", "now", 4, "a \ud83d", "b", "c"))
    assert read_action(tmp_path / "note") == LastAction("run", "now", 4, "a ?", "b", "c")


def test_a_full_disk_is_a_sentence_and_leaves_what_was_noted(tmp_path: Path) -> None:
    from b24migrate.model.errors import Halted

    before = LastAction("run", "now", 0)
    write_action(tmp_path / "note", before)
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, allowed[1]))
    try:
        with pytest.raises(Halted, match="cannot be written"):
            write_action(tmp_path / "note", LastAction("resume", "later"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert read_action(tmp_path / "note") == before
    assert [one.name for one in tmp_path.iterdir()] == ["note"]


def test_last_words_are_cut_when_they_are_clean(tmp_path: Path) -> None:
    places = ActionFiles.next_to(tmp_path / "b24migrate.log")
    write_action(places.note, LastAction("run", "now", 1))
    places.log.write_text(f"{'x' * 100_000} s3cretofthesource {'y' * (LAST_WORDS - 10)}", "utf-8")
    starter = ProcessStarter(None, lambda: places, redact=lambda text: text.replace("s3cretofthesource", "***"))
    last = starter.last()
    assert last is not None
    assert "thesource" not in last.message
    assert last.message.endswith("y" * 1900)
    assert len(last.message) <= LAST_WORDS


def test_one_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    from b24migrate.model.errors import Halted

    path = tmp_path / "lock"
    assert not is_held(path)
    with hold_lock(path):
        assert is_held(path)
        with pytest.raises(Halted, match="still running"), hold_lock(path):
            pass
    assert not is_held(path)


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    from b24migrate.model.errors import Halted

    starter = ProcessStarter(None, lambda: ActionFiles.next_to(tmp_path / "nowhere" / "b24migrate.log"))
    with pytest.raises(Halted, match="cannot be written"):
        starter.resume()


# ---------------------------------------------------------------- the command


@contextmanager
def process_of(*arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    """A test that fails in the block does not wait for its end."""
    command = [sys.executable, "-m", "b24migrate", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more) as process:
        try:
            yield process
        finally:
            process.kill()


def serve(config: Path, *arguments: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return process_of("--config", str(config), "serve", *arguments, stderr=subprocess.PIPE)


@pytest.mark.parametrize(
    ("host", "ending"),
    [("127.0.0.1", signal.SIGINT), ("0.0.0.0", signal.SIGTERM)],  # noqa: S104
)
def test_the_command_says_where_it_listens_and_ends_cleanly(
    tmp_path: Path, host: str, ending: signal.Signals, printed: set[str]
) -> None:
    """The link carries the token, and each start has another."""
    with serve(configured(tmp_path, *NOBODY), "--port", "0", "--host", host) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        assert lines[0].startswith("The dashboard is at http://")
        assert lines[1].startswith("Open http://")
        url, link = lines[0].split()[4], lines[1].split()[1]
        assert url.startswith("http://127.0.0.1:") or host != "127.0.0.1"
        token = link.removeprefix(f"{url}/login#")
        assert len(token) >= 32
        assert token not in printed
        printed.add(token)
        known = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{url}/api/v1/session", headers=known)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{url}/api/v1/session", timeout=120)  # noqa: S310
        process.send_signal(ending)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def printed() -> set[str]:
    """The tokens of the starts before."""
    return set()


def test_a_port_that_is_taken_is_a_sentence(quiet: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(quiet.folder / "b24migrate.toml")
    assert cli.execute(["--config", config, "serve", "--port", str(quiet.port)]) == 2
    err = capsys.readouterr().err
    assert f"Port {quiet.port}" in err
    assert "--port" in err


def test_a_token_that_is_kept_somewhere_is_not_printed(tmp_path: Path) -> None:
    kept = tmp_path / "token"
    kept.write_text("a-token-that-is-long-enough")
    kept.chmod(0o644)
    with serve(configured(tmp_path, *NOBODY), "--port", "0", "--token", f"file:{kept}") as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=300)
    assert lines[1] == f"Sign in with the token from file:{kept}.\n"
    assert "long-enough" not in "".join(lines) + out + err
    assert f"chmod 600 {kept}" in err


def test_the_browser_is_opened_without_the_token_on_a_command_line(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user of the machine can read command lines."""
    launched: list[str] = []
    monkeypatch.setattr("typer.launch", launched.append)
    link = serving.link_to(desk.url, desk.context.sessions)
    with serving.opened(link, desk.context):
        (command,) = launched
        file = Path(command)
        assert TOKEN not in command
        assert f"{desk.url}/login#{TOKEN}" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
    assert not file.exists()


@pytest.mark.parametrize(
    ("token", "message"),
    [("plainly-written-token-000", "not the token itself"), ("env:NO_SUCH_ONE", "NO_SUCH_ONE"), ("file:gone", "gone")],
)
def test_a_token_that_cannot_be_had_is_a_sentence(
    quiet: Desk, token: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = str(quiet.folder / "b24migrate.toml")
    assert cli.execute(["--config", config, "serve", "--port", "0", "--token", token]) == 2
    assert message in capsys.readouterr().err


def test_the_demo_can_be_watched(tmp_path: Path) -> None:
    sizes = ["--users", "5", "--groups", "1", "--chats", "1", "--messages", "3", "--tasks", "1", "--deals", "1"]
    environ = {**os.environ, "PYTHONUNBUFFERED": "1", "B24MIGRATE_RUN__WORKERS": "nonsense"}
    with process_of("demo", "--serve", *sizes, cwd=tmp_path, env=environ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout)
        link = next(line for line in lines if line.startswith("Watch it at")).split()[-1]
        next(line for line in lines if "until Ctrl-C" in line)
        url, _, token = link.partition("/login#")
        known = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"{url}/api/v1/overview", headers=known)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            assert json.load(answer)["now"]["verdict"] in ("done", "findings")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
