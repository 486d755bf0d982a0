"""Runs the migration again and again, and kills or pauses it at random moments of every phase."""

from __future__ import annotations

import contextlib
import csv
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from tests.chaos.portals import ROOT
from tests.chaos.store_reader import Cell, Peek

ENTITIES = (
    *("users", "groups", "chats", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems"),
    *("tasks", "feed", "workflows", "crm_catalog", "crm_leads", "crm_quotes", "crm_invoices", "crm_requisites"),
    *("crm_recurring", "crm_calls", "crm_activities", "crm_comments", "crm_notes"),
)
ANY = "any"
# A process is killed in every get and every set, and in some of the phases that are the same for all entities.
CELLS: tuple[Cell, ...] = (
    *((entity, phase) for entity in ENTITIES for phase in ("get", "set")),
    *[(ANY, "custom-fields-set")] * 2,
    *[(ANY, "late")] * 3,
    *[(ANY, "verify")] * 3,
)
FINISHED = (0, 5)
PAUSED = BLOCKED = 3
KILLS_PER_PAUSE = 3
SENDING = ("custom-fields-set", "set", "late")  # phases in which the box is killed before the process that sends to it
LEAVES_S = 5.0  # a paused process that has not ended by then is killed again
REPORT = "report"
PASSES = 2  # over the whole plan, to catch the phases that are over in a moment


class Migration:
    """One store and one configuration; every command is a process of its own."""

    def __init__(
        self,
        folder: Path,
        config: Path,
        speed: float,
        peek: Peek,
        *,
        habits: Mapping[str, tuple[str, ...]] | None = None,
        repair: Callable[[Path, str], bool] = lambda _config, _output: False,
    ) -> None:
        """`habits`: the options that each command gets besides. `repair`: what a person does when a run is blocked."""
        self._config = config
        self._repair = repair
        self._repaired = 0  # the size of the output then
        self.repairs = 0
        self._command = [sys.executable, "-m", "tests.chaos.fast_clock", str(time.time()), str(speed), "--config"]
        self._command.append(str(config))
        self._habits = habits or {}
        self.folder = folder
        self._environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
        self._peek = peek
        self.look_every_s = peek.pace_s
        self._said = folder / "said.txt"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self._said.open("ab") as out:
            command = [*self._command, *arguments, *self._habits.get(arguments[0], ())]
            return subprocess.Popen(command, cwd=self.folder, env=self._environ, stdout=out, stderr=out)

    def finish(self, *arguments: str, timeout_s: float = 400.0) -> int:
        """A blocked run that a person can repair is started again."""
        until = time.monotonic() + timeout_s
        while True:
            process = self.start(*arguments)
            try:
                code = process.wait(max(0.0, until - time.monotonic()))
            finally:
                end(process)
            if code != BLOCKED or not self.repair():
                return code

    def output(self, *arguments: str) -> str:
        command = [*self._command, *arguments]
        return subprocess.check_output(command, cwd=self.folder, env=self._environ, timeout=60).decode()

    def repair(self) -> bool:
        """Whether a person did what the output since the last time asks for."""
        output = self._said.read_text("utf-8", "replace")
        if not self._repair(self._config, output[self._repaired :]):
            return False
        self._repaired = len(output)
        self.repairs += 1
        return True

    def report(self) -> None:
        self.finish("report", "--out", REPORT, "--force")

    def table(self, name: str) -> list[dict[str, str]]:
        """Of the last report."""
        with (self.folder / REPORT / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def last_words(self) -> str:
        return self._said.read_text("utf-8", "replace")[-2000:]

    def files_failed(self) -> int:
        return self._peek.files_failed()

    def running(self) -> list[Cell]:
        return self._peek.running()


def end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait(10)


class Tally:
    """The places of its kills, their number, and how often it ended without one."""

    def __init__(
        self,
        wanted: int,
        chance: random.Random,
        kills_per_pause: int = KILLS_PER_PAUSE,
        aims: Sequence[Cell] = (),
        without: Collection[str] = (),
    ) -> None:
        """`aims`: where, instead of everywhere in turn. `without`: entities that the plan leaves out."""
        cells = [one for one in CELLS if one[0] not in without]
        rounds, rest = divmod(wanted, len(cells))
        self.wanted = wanted
        self.kills_per_pause = kills_per_pause
        self.passes = 0 if aims else PASSES
        self.kills = 0
        self.pauses = 0
        self.box_killed: set[Cell] = set()
        self.aims = Counter(aims or [*cells * rounds, *chance.sample(cells, rest)])
        self.killed: Counter[Cell] = Counter()
        self.met: Counter[str] = Counter()
        self.exits: Counter[int] = Counter()

    def aim(self, running: list[Cell]) -> Cell | None:
        """A phase under way in which a process is still to be killed."""
        cells = [one for cell in running for one in (cell, (ANY, cell[1]))]
        return next((cell for cell in cells if self.killed[cell] < self.aims[cell]), None)

    @property
    def everywhere(self) -> bool:
        return all(self.killed[cell] >= count for cell, count in self.aims.items())

    def count(self, aim: Cell | None, running: list[Cell]) -> None:
        self.kills += 1
        self.killed.update([aim] if aim else [])
        self.met.update("-".join(cell) for cell in running)
        self.met.update(["between phases"] * (not running))

    @property
    def pause_is_due(self) -> bool:
        return self.kills >= (self.pauses + 1) * self.kills_per_pause

    def __str__(self) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(self.met.items()))


class Company:
    """The processes at work: one that runs the plan, and any number that help. One at a time is killed, and put back."""

    def __init__(self, migration: Migration, helpers: int, command: str = "run") -> None:
        self._migration = migration
        self._tasks = ((command,), *[("worker",)] * helpers)
        self._processes = [migration.start(*task) for task in self._tasks]

    def kill_one(self, chance: random.Random) -> None:
        victim = chance.randrange(len(self._processes))
        end(self._processes[victim])
        if victim:
            self._processes[victim] = self._migration.start(*self._tasks[victim])

    def pause(self, tally: Tally, chance: random.Random) -> None:
        """A person pauses them all. Whoever runs the plan leaves by himself, unless he is killed while he does, or was
        only just being started: then it is he who came last."""
        if self._migration.finish("pause") != 0:
            return  # it has ended, or has not started yet
        tally.pauses += 1
        if chance.random() < 0.3:
            end(self._processes[0])
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._processes[0].wait(LEAVES_S)

    def run_again(self, code: int) -> None:
        """As whoever ended with this code would be begun again."""
        self._processes[0] = self._migration.start(*(("resume",) if code == PAUSED else self._tasks[0]))

    @property
    def ended(self) -> int | None:
        """How the one that runs the plan ended, if it did."""
        for place, process in enumerate(self._processes[1:], 1):
            code = process.poll()
            if code is not None:  # a helper leaves with what stopped the run: it is needed again for the next
                self._processes[place] = self._migration.start(*self._tasks[place])
        return self._processes[0].poll()

    def dismiss(self) -> None:
        for process in self._processes:
            end(process)


def run_and_kill(
    migration: Migration,
    tally: Tally,
    chance: random.Random,
    *,
    meanwhile: Callable[[], object],
    deadline: float,
    helpers: int = 0,
    strike_box: Callable[[], None] | None = None,
) -> None:
    """Runs until it was killed as often as planned and then ended normally. Raises TimeoutError otherwise."""
    company = Company(migration, helpers)
    try:
        while True:
            while (code := company.ended) is None:
                aim = _watch(company, migration, tally, chance, deadline)
                if company.ended is not None:
                    continue
                if tally.pause_is_due:
                    company.pause(tally, chance)
                elif strike_box and aim and aim[1] in SENDING and aim not in tally.box_killed:
                    strike_box()
                    tally.box_killed.add(aim)
                else:
                    company.kill_one(chance)
                    tally.count(aim, migration.running())
                meanwhile()
            if code != -signal.SIGKILL and _was_the_last(code, migration, tally):
                return
            company.run_again(code)
    finally:
        company.dismiss()


def _was_the_last(code: int, migration: Migration, tally: Tally) -> bool:
    tally.exits[code] += 1
    if code not in (*FINISHED, 4) and (code != PAUSED or not tally.pauses) and not migration.repair():
        raise RuntimeError(f"the migration ended with exit code {code}:\n{migration.last_words()}")
    return code in FINISHED and tally.kills >= tally.wanted and (tally.everywhere or tally.exits[code] > tally.passes)


def _watch(company: Company, migration: Migration, tally: Tally, chance: random.Random, deadline: float) -> Cell | None:
    """Returns when the run has ended, or when it is time to kill: some time after the beginning of a phase that is still
    to be killed in, which is returned."""
    blow: float | None = time.monotonic() + chance.uniform(0.3, 1.5) if chance.random() < 0.1 else None
    aim: Cell | None = None
    while company.ended is None:
        now = time.monotonic()
        if now > deadline:
            raise TimeoutError(f"the migration does not come to its end:\n{migration.last_words()}")
        if blow is None and (aim := tally.aim(migration.running())):
            blow = now + chance.choice((0.0, 0.02, 0.1, 0.4)) * chance.random()
        if blow is not None and now >= blow:
            break
        time.sleep(migration.look_every_s)
    return aim
