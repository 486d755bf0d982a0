"""One seed: a small company, two portals that change their answers, and the way to the proof.

Every command is a process of its own that is forked from this one, which has read the whole program already.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.fast_clock import HurriedClock
from tests.chaos.oracle import source_of
from tests.chaos.portals import Portal
from tests.chaos.proof import EXTRA, prove
from tests.fuzz.mutations import Mutator
from tests.fuzz.portal import OddApp

from b24migrate import app as wiring
from b24migrate import cli
from b24migrate.bitrix import client
from b24migrate.engine import worker
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import serve

Json = Any
SPEED = 40.0
RATE = 0.03  # of the answers are changed
COMMAND_S = 150.0  # a command that takes longer hangs; alone on a machine it takes two
MEMORY_MB = 300
FINE = (0, 5)
BUG = 1
TIMEOUTS = client.Timeouts(connect_s=2.0, read_s=3.0, probe_s=2.0)
COMPANY = (
    *("--users=8", "--departments=3", "--groups=2", "--chats=3", "--messages=25", "--files=3", "--companies=3"),
    *("--contacts=4", "--deals=8", "--smart-items=3", "--tasks=6", "--posts=4", "--templates=2", "--limits=off"),
    *("--leads=4", "--quotes=3", "--invoices=3", "--products=6", "--requisites=4", "--recurring=2", "--calls=3"),
    *("--crm-activities=8", "--crm-comments=5", "--log-entries=3", "--crm-notes"),
)
CONFIG = """
[source]
webhook = "{cloud}"
requests_per_second = 0
operating_seconds = 0
[target]
webhook = "{box}"
[store]
url = "sqlite:///b24migrate.db"
[run]
workers = 2
user_coverage = 0.1
[mapping]
placeholder_user = "1"
"""
# Between the first run and the delta run: a text of one record of each, and a new record.
EDITS = {
    **dict.fromkeys(("crm_companies", "crm_contacts", "crm_deals", "crm_leads", "crm_quotes", "crm_invoices"), "title"),
    "crm_contacts": "name",
    "crm_requisites": "NAME",
    "crm_activities": "SUBJECT",
    "crm_comments": "COMMENT",
    "crm_products": "name",
    "users": "WORK_POSITION",
    "groups": "NAME",
    "tasks": "TITLE",
}
ADDED = ("crm_deals", "crm_activities", "crm_requisites", "crm_products")
LATER = "came after a later one of their chat"  # a message that is tried again has been passed over
# An answer without OBJECT_ID leaves only the attachment to fetch. Later the object is there as well.
ATTACHED = re.compile(rf"source:file:attached:\d+ {EXTRA}")


@dataclass(slots=True)
class Report:
    """The result of a seed. `faults`: the reasons of a failure."""

    seed: int
    exits: list[int] = field(default_factory=list)
    memory_mb: float = 0.0
    seconds: float = 0.0
    made: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        made = ", ".join(f"{name} {count}" for name, count in sorted(self.made.items()))
        lines = [f"seed {self.seed}: exits {self.exits}, {self.memory_mb:.0f} MB, {self.seconds:.1f} s; {made}"]
        return "\n".join([*lines, *(f"  {one}" for one in self.faults[:20])])


def fuzz(seed: int, *, rate: float = RATE, keep: Path | None = None, due: Sequence[str] = ()) -> Report:
    report = Report(seed)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="b24fuzz-") as place:
        folder = Path(place)
        with _portals(seed, rate, due) as (cloud, box, switch):
            config = CONFIG.format(cloud=cloud.webhook, box=box.webhook)
            (folder / "b24migrate.toml").write_text(config)
            _through(folder, cloud, box, switch, report)
        if report.faults and keep:
            _keep(folder, keep / str(seed))
    report.seconds = time.monotonic() - started
    return report


def _through(folder: Path, cloud: Portal, box: Portal, switch: Callable[[], Json], report: Report) -> None:
    def do(*arguments: str) -> int:
        code, memory = command(folder, arguments)
        report.exits.append(code)
        report.memory_mb = max(report.memory_mb, memory)
        if code == BUG:
            report.faults.append(f"{' '.join(arguments)} ended with exit code 1: {_last_words(folder)}")
        if code < 0:
            report.faults.append(f"{' '.join(arguments)} did not end within {COMMAND_S:.0f} s or was killed ({code})")
        return code

    if do("run") not in FINE:
        do("run")  # as a person would; it goes further
    _work(cloud, report.seed)
    do("sync")
    report.made.update(dict(switch()))
    bugs = list(folder.glob("b24migrate-bug-*"))
    report.faults += [f"{one.name}: {one.read_text()[-1500:]}" for one in bugs]
    code = do("run")
    left = _find_defects(folder, cloud, box)
    if code not in FINE or left:
        do("retry")
        code = do("run")
        left = _find_defects(folder, cloud, box)
    if code not in FINE:
        report.faults.append(f"the honest run ends with exit code {code}: {_last_words(folder)}")
    if report.memory_mb > MEMORY_MB:
        report.faults.append(f"{report.memory_mb:.0f} MB of memory")
    report.faults += left


def _work(cloud: Portal, seed: int) -> None:
    chance = random.Random(seed)
    for stream, name in EDITS.items():
        chosen = chance.choice(cloud.dump(stream))["id"]
        cloud.mutate(stream=stream, op="update", id=int(chosen.rpartition(":")[2]), fields={name: f"Edited {seed}"})
    for stream in ADDED:
        cloud.mutate(stream=stream, op="add", fields={})


def _find_defects(folder: Path, cloud: Portal, box: Portal) -> list[str]:
    """Records that are missing, doubled or different on the box, and wrong values in the store."""
    status = json.loads(_read_output(folder, ("status", "--json")))
    source = source_of(cloud)
    source.placeholder = "1"
    return [one for one in prove(source, box, status).differences if LATER not in one and not ATTACHED.search(one)]


# ---------------------------------------------------------------- processes


@contextmanager
def _portals(seed: int, rate: float, due: Sequence[str]) -> Iterator[tuple[Portal, Portal, Callable[[], Json]]]:
    """Both portals, in a process of their own. The last value stops the mutations and returns those so far."""
    ready_in, ready_out = os.pipe()
    wish_in, wish_out = os.pipe()
    child = os.fork()
    if not child:
        _serve(seed, rate, due, ready_out, wish_in)
    ready = os.fdopen(ready_in)
    os.close(ready_out)
    try:
        ends = json.loads(ready.readline())

        def switch() -> Json:
            os.write(wish_out, b"\n")
            return json.loads(ready.readline())

        yield Portal(*ends["cloud"]), Portal(*ends["box"]), switch
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ready.close()
        for one in (wish_in, wish_out):
            os.close(one)


def _serve(seed: int, rate: float, due: Sequence[str], out: int, wishes: int) -> None:
    try:
        with ExitStack() as stack:
            apps: list[OddApp] = []

            def begin(number: int, *arguments: str) -> tuple[str, str]:
                portal = portal_from(parser().parse_args([*arguments, f"--speed={SPEED}"]))

                def made(one: Any) -> OddApp:
                    apps.append(OddApp(one, Mutator(seed * 2 + number, rate, () if number else due)))
                    return apps[-1]

                running = stack.enter_context(serve(portal, app=made, warm=True))
                return running.control, running.webhook(1)

            ends = {"cloud": begin(0, "--seed", str(seed), *COMPANY), "box": begin(1, "--role=box")}
            os.write(out, json.dumps(ends).encode() + b"\n")
            os.read(wishes, 1)
            for app in apps:
                app.honest = True
            done = Counter(f"{side}:{kind}" for side, app in zip("sb", apps, strict=True) for kind, _ in app.made)
            os.write(out, json.dumps(sorted(done.items())).encode() + b"\n")
            while True:
                time.sleep(60)
    finally:
        os._exit(0)


def command(folder: Path, arguments: tuple[str, ...], out: str = "said.txt") -> tuple[int, float]:
    """The exit code, negative when it hung, and the largest memory in megabytes."""
    child = os.fork()
    if not child:
        _run(folder, arguments, out)
    deadline = time.monotonic() + COMMAND_S
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_maxrss / 1024
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def _run(folder: Path, arguments: tuple[str, ...], out: str) -> None:
    code = 70
    try:
        os.chdir(folder)
        log = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for one in (1, 2):
            os.dup2(log, one)
        vars(wiring)["SystemClock"] = lambda: HurriedClock(ORIGIN, SPEED)
        vars(worker)["IDLE_GLANCES"] = worker.IDLE_GLANCES / SPEED
        (client.Portal.__init__.__kwdefaults__ or {})["timeouts"] = TIMEOUTS
        code = cli.execute(["--config", "b24migrate.toml", *arguments])
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the last one who hears of it
        traceback.print_exc()
    finally:
        os._exit(code)


ORIGIN = time.time()


def _read_output(folder: Path, arguments: tuple[str, ...]) -> str:
    name = f"out-{time.monotonic_ns()}.txt"
    command(folder, arguments, name)
    return (folder / name).read_text()


def _last_words(folder: Path) -> str:
    return (folder / "said.txt").read_text("utf-8", "replace")[-1500:]


def _keep(folder: Path, to: Path) -> None:
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
