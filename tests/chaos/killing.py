"""Runs the migration again and again, and kills it at random moments of every phase."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.portals import ROOT

ENTITIES = ("users", "groups", "chats")
CELLS = tuple((entity, phase) for entity in ENTITIES for phase in ("get", "set", "verify"))
Cell = tuple[str, str]
LOOK_EVERY_S = 0.004
FINISHED = (0, 5)
PASSES = 3  # over the whole plan, to catch the phases that are over in a moment


class Migration:
    """One store and one configuration; every command is a process of its own."""

    def __init__(self, folder: Path, config: Path, speed: float) -> None:
        self._command = [sys.executable, "-m", "tests.chaos.hurried", str(time.time()), str(speed), "--config"]
        self._command.append(str(config))
        self._folder = folder
        self._environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
        self._store = folder / "b24migrate.db"
        self._said = folder / "said.txt"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self._said.open("ab") as out:
            command = [*self._command, *arguments]
            return subprocess.Popen(command, cwd=self._folder, env=self._environ, stdout=out, stderr=out)

    def finish(self, *arguments: str, timeout_s: float = 120.0) -> int:
        process = self.start(*arguments)
        try:
            return process.wait(timeout_s)
        finally:
            end(process)

    def output(self, *arguments: str) -> str:
        command = [*self._command, *arguments]
        return subprocess.check_output(command, cwd=self._folder, env=self._environ, timeout=60).decode()

    def last_words(self) -> str:
        return self._said.read_text("utf-8", "replace")[-2000:]

    def running(self) -> list[Cell]:
        """The phases that the store says are under way; nothing when it cannot be asked at this instant."""
        if not self._store.exists():
            return []
        with contextlib.suppress(sqlite3.Error):
            connection = sqlite3.connect(f"file:{self._store}?mode=ro", uri=True, timeout=0.2)
            with contextlib.closing(connection):
                rows = connection.execute("SELECT RowKey, Phases FROM EntitiesState").fetchall()
            return [
                (entity, phase)
                for entity, phases in rows
                for phase, said in json.loads(phases or "{}").items()
                if said.get("state") == "running"
            ]
        return []


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait(10)


@dataclass(slots=True)
class Tally:
    """How often it was killed, and in which phases; how often it ended by itself."""

    wanted: int
    kills: int = 0
    cells: Counter[str] = field(default_factory=Counter)
    exits: Counter[int] = field(default_factory=Counter)

    def owes(self, cell: Cell) -> bool:
        enough = self.wanted < len(CELLS) and self.kills >= self.wanted
        return not enough and self.cells["-".join(cell)] < -(-self.wanted // len(CELLS))

    @property
    def everywhere(self) -> bool:
        """In every phase of every entity, where so many kills are wanted at all."""
        return self.wanted < len(CELLS) or all(self.cells["-".join(cell)] for cell in CELLS)

    def count(self, cells: list[Cell]) -> None:
        self.kills += 1
        self.cells.update("-".join(cell) for cell in cells)
        self.cells.update(["between phases"] * (not cells))

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(self.cells.items()))


def run_and_kill(
    migration: Migration, tally: Tally, chance: random.Random, *, meanwhile: Callable[[], object], deadline: float
) -> None:
    """Until it was killed as often as wanted and then ended by itself. Raises TimeoutError when it does not."""
    while True:
        process = migration.start("run")
        try:
            _watch(process, migration, tally, chance, deadline)
        finally:
            end(process)
        code = process.returncode
        if code == -signal.SIGKILL:
            tally.count(migration.running())
            meanwhile()
            continue
        tally.exits[code] += 1
        if code not in (*FINISHED, 4):
            raise RuntimeError(f"the migration ended with exit code {code}:\n{migration.last_words()}")
        if code in FINISHED and tally.kills >= tally.wanted and (tally.everywhere or tally.exits[code] > PASSES):
            return


def _watch(
    process: subprocess.Popen[bytes], migration: Migration, tally: Tally, chance: random.Random, deadline: float
) -> None:
    """Returns when the process has ended, by itself or by us: some time after a phase began that is still owed."""
    blow: float | None = time.monotonic() + chance.uniform(0.3, 1.0) if chance.random() < 0.1 else None
    while process.poll() is None:
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"the migration does not come to its end:\n{migration.last_words()}")
        if blow is None and any(map(tally.owes, migration.running())):
            blow = now + chance.choice((0.0, 0.02, 0.1, 0.4)) * chance.random()
        if blow is not None and now >= blow:
            process.kill()
            process.wait(10)
            return
        time.sleep(LOOK_EVERY_S)
