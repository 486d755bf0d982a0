"""`store copy` as a person uses it: what it says, and with which exit code it ends."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.cli.command import Result, Scene
from tests.cli.test_bad_input import is_clear

from b24migrate import cli
from b24migrate.clock import SystemClock
from b24migrate.entities import catalog
from b24migrate.model.records import Job, Span, Staged
from b24migrate.stores import Opened, open_store

FROM, TO = "sqlite:///b24migrate.db", "sqlite:///copy.db"


def copy(scene: Scene, *more: str, origin: str = FROM, to: str = TO) -> Result:
    return scene.run("store", "copy", origin, to, *more)


def opened(url: str) -> Opened:
    return open_store(url, catalog().tables, SystemClock())


def names() -> set[str]:
    return {path.name for path in Path().iterdir()}


def looked_at(scene: Scene, url: str) -> Result:
    scene.source, scene.target = "https://a.example/rest/1/x/", "https://b.example/rest/1/y/"
    scene.more = f"[store]\nurl = '{url}'\n"
    return scene.run("status")


def test_a_store_is_copied_and_both_are_compared(moved: Scene) -> None:
    before = moved.run("status", "--json").json
    result = copy(moved)
    is_clear(result, 0, "Copied ChatMessages: ", "Set store.url to sqlite:////")
    assert result.err == ""
    rows = {line.split()[0]: line.split() for line in result.out.splitlines() if " yes" in line}
    assert rows["Groups"][1] == "4"
    assert len(rows["Groups"][2]) == 16
    moved.more = f"[store]\nurl = '{TO}'\n"
    assert moved.run("status", "--json").json == before
    assert moved.run("run").code == 0


def test_json_is_nothing_but_json(company: Scene) -> None:
    company.run("get", "users")
    data = copy(company, "--json").json
    assert (data["equal"], data["exit_code"]) == (True, 0)
    assert data["to"].endswith("/copy.db")
    assert {"what", "rows", "digest", "equal", "note"} == set(data["lines"][0])
    again = copy(company, "--json")
    assert (again.code, again.json["exit_code"], again.json["equal"]) == (2, 2, False)
    assert "complete copy" in again.json["message"]


def test_no_configuration_is_needed(company: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    company.run("get", "users")
    company.config.unlink()
    assert cli.execute(["store", "copy", FROM, TO]) == 0
    assert "Equal." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("origin", "to", "words"),
    [
        ("sqlite:///nowhere.db", TO, ["There is no store at", "nowhere.db"]),
        (FROM, FROM, ["is the store itself"]),
        (FROM, "sqlite:///./nothing/../b24migrate.db", ["is the store itself"]),
        (FROM, "sqlite:///linked.db", ["is the store itself"]),
        (FROM, "sqlite://:memory:", ["in memory"]),
        ("sqlite://:memory:", TO, ["in memory"]),
        ("b24migrate.db", TO, ["'b24migrate.db' is not the address of a store", "sqlite:///"]),
        (FROM, "copy.db", ["'copy.db' is not the address of a store"]),
        (FROM, "azure://No_Such", ["azure://"]),
        (FROM, "sqlite:///other.db", ["is not empty", "another file"]),
        ("sqlite:///letter.db", TO, ["letter.db is not a b24migrate store"]),
    ],
)
def test_a_mistaken_address(scene: Scene, origin: str, to: str, words: list[str]) -> None:
    for url, key in ((FROM, "1"), ("sqlite:///other.db", "2")):
        store, queue, _ = opened(url)
        queue.put([Job("users-get", "read", {"n": key})])
        store.close()
    Path("linked.db").symlink_to("b24migrate.db")
    Path("letter.db").write_text("this is a letter to my mother\n" * 100)
    before = names()
    is_clear(copy(scene, origin=origin, to=to), 2, *words)
    assert names() - before == {scene.config.name}


def test_too_few_words_are_a_mistake(scene: Scene) -> None:
    is_clear(scene.run("store", "copy", FROM), 2, "TO")


def test_a_store_that_is_worked_on_is_left_alone(scene: Scene) -> None:
    store, queue, _ = opened(FROM)
    queue.put([Job("users-get", "read")])
    assert queue.claim("elsewhere:1:0", now=SystemClock().now(), lease_s=3600)
    store.close()
    is_clear(copy(scene), 4, "is in use", "Stop every worker")
    assert not Path("copy.db").exists()


def test_a_difference_is_named(scene: Scene) -> None:
    store, _, files = opened(FROM)
    content = b'{"name": "a.txt", "sha256": "00", "location": "disk:1"}'
    (table,) = (one for one in catalog().tables if one.name == "Files")
    store.stage(table, [Staged("disk:1", content)], run="r", pass_no=1)
    with files.writer("disk:1") as out:
        out.write(b"something else")
    store.close()
    is_clear(copy(scene), 5, "bytes of files", "no: missing or damaged", "disk:1", "The copy differs")
    is_clear(looked_at(scene, FROM), 0)
    is_clear(looked_at(scene, TO), 2, "is an unfinished copy of", "b24migrate store copy sqlite:////")


def test_a_place_that_cannot_be_is_no_bug(scene: Scene) -> None:
    store, _, _ = opened(FROM)
    store.close()
    Path("taken").write_text("")
    result = copy(scene, to="sqlite:///taken/copy.db")
    is_clear(result, 2, "taken")


def many(url: str, count: int) -> None:
    store, _, _ = opened(url)
    (table,) = (one for one in catalog().tables if one.name == "ChatMessages")
    for start in range(0, count, 1000):
        rows = [Staged(str(n), b'{"text": "%s"}' % (b"x" * 200)) for n in range(start + 1, start + 1001)]
        store.stage(table, rows, run="r", pass_no=1)
    store.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_copy_that_was_killed_is_continued(scene: Scene, how: signal.Signals) -> None:
    many(FROM, 20_000)
    command = [sys.executable, "-u", "-m", "b24migrate", "store", "copy", FROM, TO]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not half_there():
        assert child.poll() is None, child.communicate()
        time.sleep(0.01)
    child.send_signal(how)
    out, err = child.communicate(timeout=300)
    assert "Equal." not in out
    if how is not signal.SIGKILL:
        assert (child.returncode, "run the same command" in err) == (4, True), out + err
    is_clear(looked_at(scene, TO), 2, "unfinished copy")
    is_clear(copy(scene), 0, "Equal.")
    store, _, _ = opened(TO)
    (table,) = (one for one in catalog().tables if one.name == "ChatMessages")
    assert sum(store.counts(table).values()) == 20_000
    assert store.counters() == {"seen:ChatMessages:1": 20_000}
    assert len(store.records(table, Span(), 30_000)) == 20_000
    store.close()


@pytest.mark.slow
def test_a_copy_to_azure_that_was_killed_is_continued(scene: Scene, azure_store: str) -> None:
    many(FROM, 1000)
    command = [sys.executable, "-u", "-m", "b24migrate", "store", "copy", FROM, azure_store]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().startswith("Cop"), child.communicate()
    child.kill()
    child.communicate(timeout=300)
    is_clear(looked_at(scene, azure_store), 2, "unfinished copy", f"{azure_store}\n")
    is_clear(copy(scene, to=azure_store), 0, "Equal.", f"Set store.url to {azure_store}")
    is_clear(copy(scene, to=azure_store), 2, "complete copy")
    is_clear(copy(scene, origin=azure_store, to="sqlite:///back.db"), 0, "Equal.")
    store, _, _ = opened("sqlite:///back.db")
    assert store.counters() == {"seen:ChatMessages:1": 1000}
    store.close()


def half_there() -> bool:
    """Rows have arrived."""
    with suppress(sqlite3.Error), closing(sqlite3.connect("file:copy.db?mode=ro", uri=True, timeout=60)) as connection:
        (rows,) = connection.execute("SELECT count(*) FROM ChatMessages").fetchone()
        return int(rows) > 0
    return False
