"""A migrated company goes on working, people change things on the box too, and every night `sync` brings what changed:
in bad weather, and killed at random. At the end a full run brings what no delta pass sees."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.chaos import storm
from tests.chaos.boxes import BOXES, NAMES, Box
from tests.chaos.company import GROUNDS, Ground, Size, failed, keep_rest, options_of, prepare, rightly_failed, status
from tests.chaos.kills import BLOCKED, FINISHED, Company, Migration
from tests.chaos.ledger import Ledger
from tests.chaos.oracle import Json, Source
from tests.chaos.portals import Portal, portal
from tests.chaos.proof import digest

SHARES = (0.01, 0.02, 0.05)  # of the records change in a day
HOURS = 20.0  # between what people do and the night's pass: more than any overlap
# The zone of the webhook's owner: the server's (Moscow), far in the west of it, and in the east.
ZONES = ("Europe/Moscow", "America/Los_Angeles", "Asia/Vladivostok", "Atlantic/Azores")
CHAT_MOVES = ("nothing", "count", "activity")
DELETIONS = ("keep", "delete")
MEANWHILE = 0.3  # how likely somebody works while a pass is killed
KILL_S = (0.5, 12.0)  # after the start of a process: as long as most passes take here


@dataclass(slots=True)
class Report:
    seed: int
    days: int
    weather: str
    ledger: Ledger
    kills: int = 0
    repairs: int = 0
    exits: Counter[int] = field(default_factory=Counter)
    faults: int = 0
    differences: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        done, verdict = self.ledger, "proven" if not self.differences else "NOT PROVEN"
        lines = [
            f"seed {self.seed}: {verdict} in {self.seconds:.0f} s, {self.days} days, {self.weather}",
            f"  {self.kills} kills, {self.faults} faults, {self.repairs} repairs by hand; passes ended by themselves: {dict(self.exits)}",
            f"  at the source: {dict(done.counts)}; {sum(map(len, done.told.values()))} told as deleted",
            f"  {len(done.conflicts)} changed on both sides, {len(done.edited)} on the box only",
            f"  {len(done.missed)} missed by a delta pass as explained, and brought by the full run",
            *(f"  DIFFERENCE {one}" for one in self.differences[:40]),
        ]
        return "\n".join(lines)


def live(
    seed: int,
    days: int,
    size: Size,
    *,
    kills: int = 3,
    seconds: float,
    ground: str = "sqlite",
    target: str = "sim",
    keep: Path | None = None,
    slower: float = 1.0,
) -> Report:
    """`kills`: in a night. Raises TimeoutError or RuntimeError when a pass does not come to its end."""
    started, chance = time.monotonic(), random.Random(f"days {seed}")
    zone, moves, policy = chance.choice(ZONES), chance.choice(CHAT_MOVES), chance.choice(DELETIONS)
    report = Report(seed, days, f"owner in {zone}, chats of tasks move {moves}, deletions {policy}", Ledger(moves))
    with tempfile.TemporaryDirectory(prefix="b24days-") as place, GROUNDS[ground](Path(place)) as usual:
        under = usual._replace(speed=usual.speed / slower)
        speed = under.speed
        habits = (
            f"--owner-zone={zone}",
            f"--task-chat-moves={moves}",
            f"--speed={speed}",
            f"--latency={0.006 * speed}",
        )
        with (
            portal("--seed", str(seed), *options_of(size), *habits) as cloud,
            BOXES[target](Path(place), speed) as box,
        ):
            settings = f'deletions = "{policy}"\ndeletions_limit = 100'
            migration, source = prepare((Path(place), under), (cloud, box), chance, settings)
            life = Life(cloud, box, migration, source, under, chance, report, started + seconds)
            life.run(days, kills, policy)
            report.repairs = migration.repairs
            if keep and report.differences:
                keep_rest(keep / f"days-{target}-{seed}", Path(place), box)
    report.seconds = time.monotonic() - started
    return report


@dataclass(slots=True)
class Life:
    cloud: Portal
    box: Box
    migration: Migration
    source: Callable[[], Source]
    under: Ground
    chance: random.Random
    report: Report
    deadline: float

    def run(self, days: int, kills: int, policy: str) -> None:
        self.finish("run")
        self.settle()
        self.compare("the first run", policy)
        for day in range(1, days + 1):
            if self.report.differences:
                return
            self.work(day)
            self.night(day, kills)
            self.finish("sync", *(("--deep",) if day == days else ()))
            self.settle()
            if day == days:
                self.report.ledger.look_deep(self.source())
            self.compare(f"day {day}", policy)
        if not self.report.differences:
            self.finish("run")
            self.settle()
            self.report.ledger.bring_all()
            self.compare("the full run", policy)
            self.nothing_more()

    # ------------------------------------------------------------ what happens

    def work(self, day: int) -> None:
        """At the source, and by hand on the box: of what changed there too, and of other records."""
        ledger, share = self.report.ledger, self.chance.choice(SHARES)
        changes = self.cloud.live(self.report.seed * 1000 + day * 10, share)
        ledger.note(changes)
        links = self.migration.table("links")
        ledger.edit(NAMES, links, changes, self.chance, partial(self.box.edit, self.box.portal))
        for one in (self.cloud, self.box.portal):
            one.wait(HOURS)

    def night(self, day: int, kills: int) -> None:
        """A pass with faults, killed so often; sometimes users change records meanwhile."""
        self.cloud.faults(storm.without_growth(storm.over_the_cloud()), self.report.seed + day)
        self.box.portal.faults(self.box.weather, self.report.seed + day)
        company, killed = Company(self.migration, self.under.helpers, "sync"), 0
        try:
            while True:
                code = self.wait_for(company, self.chance.uniform(*KILL_S) if killed < kills else None)
                if code is None:
                    self.strike(company)
                    killed += 1
                    if self.chance.random() < MEANWHILE:
                        share = self.chance.choice(SHARES) / 2
                        changes = self.cloud.live(self.report.seed * 1000 + day * 10 + killed, share)
                        self.report.ledger.note(changes)
                    continue
                if code != -signal.SIGKILL:
                    self.report.exits[code] += 1
                    if code not in (*FINISHED, 4) and not (code == BLOCKED and self.migration.repair()):
                        raise RuntimeError(f"a pass ended with exit code {code}:\n{self.migration.last_words()}")
                    if code in FINISHED:
                        break
                company.run_again(code)
        finally:
            company.dismiss()
        self.report.kills += killed
        for side in (self.cloud, self.box.portal):
            self.report.faults += sum(side.look("stats")["faults"].values())
            side.faults([])

    def strike(self, company: Company) -> None:
        if self.box.strike and self.chance.random() < 0.3:
            self.box.strike()
        else:
            company.kill_one(self.chance)

    def wait_for(self, company: Company, blow_s: float | None) -> int | None:
        """How it ended; None when it is time to strike."""
        blow = None if blow_s is None else time.monotonic() + blow_s
        while (code := company.ended) is None:
            now = time.monotonic()
            if now > self.deadline:
                raise TimeoutError(f"the pass does not come to its end:\n{self.migration.last_words()}")
            if blow is not None and now >= blow:
                return None
            time.sleep(max(0.02, self.migration.look_every_s))
        return code

    def finish(self, *command: str) -> None:
        try:
            code = self.migration.finish(*command, timeout_s=max(1.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"{' '.join(command)} does not end:\n{self.migration.last_words()}") from late
        if code not in FINISHED:
            raise RuntimeError(f"{' '.join(command)} ended with exit code {code}:\n{self.migration.last_words()}")

    def settle(self) -> None:
        """Retries records that failed three times, as an operator would."""
        before = failed(status(self.migration)) + self.migration.files_failed()
        if before > rightly_failed(self.source()):
            self.migration.finish("retry")

    # ------------------------------------------------------------ what must be

    def compare(self, when: str, policy: str) -> None:
        ledger, source, migration = self.report.ledger, self.source(), self.migration
        migration.report()
        listed = json.loads(migration.output("conflicts", "--json"))["conflicts"]
        compared = self.box.compare(source, self.box.portal, migration)
        found: list[str] = [
            *ledger.listed_conflicts(source, compared.wanted, listed),
            *ledger.differences(source, self.cloud.now(), compared),
            *ledger.deletions(source, self.cloud, migration.table("deleted"), migration.table("links"), policy),
            *ledger.accounts(compared.differences, status(migration)),
            *self.box.strays(),
        ]
        self.report.differences += [f"after {when}: {one}" for one in found]
        ledger.look(source, compared.wanted)

    def nothing_more(self) -> None:
        """One delta pass more changes nothing on the box."""
        before: Json = self.box.book(self.box.portal)
        self.finish("sync")
        if digest(before) != digest(self.box.book(self.box.portal)):
            self.report.differences.append("a further delta pass changed the box")
