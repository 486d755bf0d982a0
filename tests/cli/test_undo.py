"""`undo` on the command line: first what it would do, then a word, then the deed."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cli.command import TARGET_SECRET, Scene, box, cloud, held_cloud, until_something_runs
from tests.engine.migrated import Listening

from b24migrate import app, cli
from b24migrate.clock import FastClock
from b24sim import Portal
from b24sim.app import App
from b24sim.faults import Faults
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import Running, serve

STREAMS = ("departments", "users", "groups", "group_members", "chats", "chat_messages")


class Migrated(NamedTuple):
    scene: Scene
    target: Running

    def there(self) -> int:
        return sum(len(self.target.portal.imports.dump(stream)) for stream in STREAMS)

    def edit_a_group(self) -> str:
        group = self.target.portal.imports.dump("groups")[0]
        self.target.portal.imports.edit("groups", str(group["id"]), {"NAME": "Ours now"})
        return str(group["key"]).rpartition(":")[2]


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Scene], Migrated]]:
    """One migration; each test gets its folder and a box with the same content."""
    there = App(box_portal())
    there.portal.imports = heard = Listening(now=there.portal.clock.now)
    with cloud() as source, serve(there.portal, app=lambda _: there) as target, pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "SystemClock", lambda: FastClock(20))
        first = Scene(tmp_path_factory.mktemp("once"), source=source.webhook(), target=target.webhook())
        first.write()
        assert cli.execute(["--config", str(first.config), "run"]) == 0
        events = tuple(heard.told)

        def taken_up(scene: Scene) -> Migrated:
            shutil.copytree(first.folder, scene.folder, dirs_exist_ok=True)
            scene.source, scene.target = first.source, first.target
            there.portal = box_portal()
            there.portal.company.settle(target.url)
            for method, body in events:
                there.portal.imports.handle(method, json.loads(body))
            return Migrated(scene, replace(target, portal=there.portal))

        yield taken_up


@pytest.fixture
def moved(scene: Scene, once: Callable[[Scene], Migrated]) -> Migrated:
    return once(scene)


def box_portal() -> Portal:
    return portal_from(parser().parse_args(["--role", "box", "--secret", TARGET_SECRET]))


def test_a_rehearsal_says_what_would_be_deleted_and_changes_nothing(moved: Migrated) -> None:
    before = moved.there()
    result = moved.scene.run("undo", "--dry-run")
    assert result.code == 0, result.all
    lines = result.out.splitlines()
    assert lines[0].split() == ["to", "delete", "after", "others", "kept"]
    assert {line.split()[0] for line in lines[1:7]} == set(STREAMS)
    assert lines[-1] == "Dry run: nothing was changed."
    assert "uploaded files stay on the Drive of the box" in result.out
    assert moved.there() == before


def test_whoever_stops_it_is_told_how_far_it_came(moved: Migrated) -> None:
    """Nobody is told that everything is kept: that word means what stays on the box."""
    before = moved.there()
    after_the_rehearsal = {"method": "import.groups.delete", "kind": "502html", "at": range(3, 1000)}
    moved.target.portal.faults = Faults([after_the_rehearsal])
    child = moved.scene.process("undo", "--yes")
    while moved.there() == before:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 4
    assert re.search(r"Stopped\. Records deleted so far: \d+\.", err)
    assert "b24migrate run" in err


def test_in_a_script_nothing_is_done_without_yes(moved: Migrated) -> None:
    before = moved.there()
    result = moved.scene.run("undo")
    assert (result.code, moved.there()) == (3, before)
    assert result.out.splitlines()[-1].startswith("Dry run: no terminal to confirm on. Add --yes")


def test_with_yes_everything_is_gone_and_the_next_run_brings_it_back(moved: Migrated) -> None:
    before = moved.there()
    result = moved.scene.run("undo", "--yes")
    assert result.code == 0, result.all
    assert result.out.splitlines()[-1] == "Import undone. `b24migrate run` imports the records again."
    assert moved.there() == 0
    again = moved.scene.run("undo", "--yes")
    assert (again.code, again.out.splitlines()[-1]) == (0, "Nothing to undo.")
    status = moved.scene.run("status", "--json").json["entities"]["groups"]
    assert (status["verified"], status["streams"]["groups"]["import_ok"]) == (False, 0)
    assert moved.scene.run("certificate").code == 4
    assert moved.scene.run("run").code == 0
    assert moved.there() == before


def test_what_is_kept_is_told_and_written_into_a_file(moved: Migrated, tmp_path: Path) -> None:
    group = moved.edit_a_group()
    rehearsed = moved.scene.run("undo", "--dry-run", "--out", "would.csv")
    assert "changed after its import" in rehearsed.out
    assert [row[:2] for row in rows_of(tmp_path / "would.csv")] == [["groups", group]]
    result = moved.scene.run("undo", "--yes", "--out", "kept.csv")
    assert result.code == 5, result.all
    assert "records that are kept, listed in kept.csv." in result.out
    kept = rows_of(tmp_path / "kept.csv")
    assert ["groups", group] in [row[:2] for row in kept]
    assert len(kept) == moved.there()
    assert all(row[2] and row[3] for row in kept)


def rows_of(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        head, *rows = csv.reader(lines)
    assert head == ["stream", "source_id", "target_id", "reason"]
    return rows


def test_json_is_all_that_is_said(moved: Migrated) -> None:
    result = moved.scene.run("undo", "--json")
    assert (result.code, result.json["done"], result.json["exit_code"]) == (3, False, 3)
    done = moved.scene.run("undo", "--json", "--yes", "--entity", "chats")
    assert done.code == 0, done.all
    assert {one["stream"]: one["kept"] for one in done.json["streams"]} == {"chats": 0, "chat_messages": 0}
    assert done.json["stays"]["files"] == len(moved.target.portal.imports.dump("files"))


def test_only_one_entity_tells_who_refers_to_it(moved: Migrated) -> None:
    result = moved.scene.run("undo", "--yes", "--entity", "users")
    assert result.code == 5
    assert "Kept because records that stay link to them: groups (4)" in result.out


def test_an_unknown_run_names_those_that_there_are(moved: Migrated) -> None:
    run = moved.scene.run("status", "--json").json["run"]
    result = moved.scene.run("undo", "--run", "yesterday")
    assert result.code == 2
    assert 'There is no run "yesterday".' in result.err
    assert run in result.err
    assert moved.scene.run("undo", "--run", run, "--yes").code == 0
    assert moved.there() == 0


def test_another_box_is_refused_unless_it_is_the_same(moved: Migrated) -> None:
    moved.scene.more = '[run]\nentities = ["users", "groups", "chats"]\n'
    moved.scene.target = moved.scene.target.replace("127.0.0.1", "localhost")
    result = moved.scene.run("undo", "--yes")
    assert (result.code, "the configured target is http://localhost" in result.err) == (2, True)
    assert moved.scene.run("undo", "--yes", "--same-box").code == 0
    assert moved.there() == 0


def test_a_box_behind_the_same_address_that_knows_nothing_is_not_taken_for_the_same(moved: Migrated) -> None:
    with box() as other:
        moved.target.portal.imports = other.portal.imports
        result = moved.scene.run("undo", "--yes")
        assert (result.code, "None of the" in result.err) == (2, True)
        assert "--same-box" in result.err
        assert moved.scene.run("status", "--json").json["entities"]["groups"]["streams"]["groups"]["import_ok"] == 4
        again = moved.scene.run("undo", "--yes", "--same-box")
        assert (again.code, "absent" in again.out) == (0, True)


def test_it_is_refused_while_a_run_is_under_way(scene: Scene) -> None:

    with held_cloud(scene) as (source, hold), box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        child = scene.process("run")
        until_something_runs(scene)
        result = scene.run("undo", "--yes")
        assert result.code == 4
        assert "is running: the import cannot be undone" in result.err
        assert "b24migrate pause" in result.err
        scene.run("pause")
        hold.let_go()
        child.communicate(timeout=300)
        assert scene.run("undo", "--yes").code == 0


CTRL_D = "\x04"


@contextmanager
def at_a_terminal(scene: Scene, typed: str) -> Iterator[subprocess.Popen[str]]:
    ours, theirs = pty.openpty()
    try:
        child = scene.process("undo", on=theirs, stdin=theirs)
        heard = b""
        while b"delete these records" not in heard:
            heard += os.read(ours, 4096)
        os.write(ours, typed.encode() if typed == CTRL_D else f"{typed}\n".encode())
        yield child
    finally:
        os.close(theirs)
        os.close(ours)


@pytest.mark.parametrize(("typed", "code"), [("undo", 0), ("yes", 3), ("", 3), (CTRL_D, 3)])
def test_a_person_has_to_type_the_word(moved: Migrated, typed: str, code: int) -> None:
    before = moved.there()
    with at_a_terminal(moved.scene, typed) as child:
        assert child.wait(timeout=300) == code
        assert child.stderr is not None
        child.stderr.close()
    assert moved.there() == (0 if code == 0 else before)
