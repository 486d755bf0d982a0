"""j: a look at a migration of a million records takes no time, and being looked at costs it none."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench import million
from bench.clients.ours import configured
from bench.dashboard import Dashboard, Viewer, dashboard, watched
from bench.figures import Figure, at_least, at_most
from bench.processes import ROOT, Portal, box, client, end, folder, portal
from bench.side_by_side import UNLIMITED

REFRESH_BAR_MS = 100.0
REFRESHES, REFRESHES_QUICK = 60, 15
APART_S = 1.9  # an overview is shown for almost two seconds, so every refresh reads again
PAGES = {
    "errors": "errors",
    "findings": "findings",
    "a search by id": "search?q=12345",
    "a record": "records/crm_deals/12345",
}
VIEWERS = 3
SPEED_BAR, CORE_BAR = 0.98, 0.02
COMPANY: dict[str, object] = {
    "users": 300,
    "groups": 0,
    "files": 0,
    "bad_users": 0,
    "foreign_chats": 0,
    "limits": "off",
}
STEPS = (("users", "get"), ("users", "set"), ("chats", "get"))


def measured(quick: bool) -> list[Figure]:
    return [*refreshed(quick), *undisturbed(quick)]


# ---------------------------------------------------------------- how long a look takes


def refreshed(quick: bool) -> list[Figure]:
    records, looks = (100_000, REFRESHES_QUICK) if quick else (million.MILLION, REFRESHES)
    with folder() as place:
        config = configured({"folder": str(place), "source": _nowhere("source"), "target": _nowhere("target")})
        million.main(place / "b24migrate.db", records)
        with staging(place / "b24migrate.db") as writer, dashboard(config) as server:
            viewer = Viewer(server)
            first_s = viewer.refresh()
            spent_s, began = server.cpu_s(), time.monotonic()
            took_s = [_after(APART_S, viewer) for _ in range(looks)]
            share = (server.cpu_s() - spent_s) / (time.monotonic() - began)
            pages = {name: [viewer.ask(path)[0] for _ in range(looks)] for name, path in PAGES.items()}
            viewer.close()
    p95, most = high(took_s) * 1000, max(took_s) * 1000
    figures = f"{p95:.0f} ms (median {median(took_s) * 1000:.0f}, most {most:.0f}, the first one {first_s * 1000:.0f})"
    others = {name: high(each) * 1000 for name, each in pages.items()}
    return [
        at_most("j", f"a refresh with {records:,} staged records, p95, ms", p95, REFRESH_BAR_MS, figures),
        *(at_most("j", f"{name}, p95, ms", ms, REFRESH_BAR_MS, f"{ms:.0f} ms") for name, ms in others.items()),
        Figure("j", "meanwhile", f"{writer[0]:,.0f} records/s staged; a refresh in 2 s: {share:.1%} of a core"),
    ]


def high(took_s: Sequence[float]) -> float:
    """The 95th percentile."""
    return sorted(took_s)[max(0, -(-len(took_s) * 95 // 100) - 1)]


def _after(seconds: float, viewer: Viewer) -> float:
    time.sleep(seconds)
    return viewer.refresh()


def _nowhere(name: str) -> str:
    return f"https://{name}.example/rest/1/0123456789abcdef/"


@contextmanager
def staging(store: Path) -> Iterator[list[float]]:
    """Writes as fast as possible and returns the number of records per second."""
    command = [sys.executable, "-m", "bench.clients.stager", str(store)]
    staged: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError("nobody stages")
            yield staged
        finally:
            process.terminate()
            staged.append(float(process.stdout.readline() or 0))
            end(process)


# ---------------------------------------------------------------- what being looked at costs


class Run(NamedTuple):
    """One chats-get. `looking_s` are CPU seconds of the dashboard."""

    records: int
    wall_s: float
    cpu_s: float
    looking_s: float = 0.0
    lasted_s: float = 1.0  # all steps together

    @property
    def cost_us(self) -> float:
        """CPU time of a record, with what the dashboard used meanwhile."""
        return (self.cpu_s + self.looking_s / self.lasted_s * self.wall_s) / self.records * 1_000_000


def undisturbed(quick: bool) -> list[Figure]:
    messages, rounds = (50_000, 2) if quick else (200_000, 5)
    alone: list[Run] = []
    runs: list[Run] = []
    with box() as target, portal(chats=messages // 250, messages=messages, **COMPANY) as source:
        for _ in range(rounds):
            alone.append(migrated(source, target, viewers=0))
            runs.append(migrated(source, target, viewers=VIEWERS))
    kept = median(one.cost_us for one in alone) / median(one.cost_us for one in runs)
    pace = median(one.wall_s for one in alone) / median(one.wall_s for one in runs)
    share = median(one.looking_s / one.lasted_s for one in runs)
    what = f"chats-get with {VIEWERS} viewers"
    figures = f"{kept:.3f} × by CPU time ({pace:.3f} × by the clock), median of {rounds} alternating rounds"
    return [
        at_least("j", f"{what}: speed against nobody looking", kept, SPEED_BAR, figures),
        at_most("j", f"{what}: the dashboard's part of a core", share, CORE_BAR, f"{share:.2%}"),
    ]


def migrated(source: Portal, target: Portal, *, viewers: int) -> Run:
    with folder() as place:
        options: dict[str, Any] = {"target": target.webhook, "folder": str(place), **UNLIMITED}
        options |= {"controls": [source.control, target.control], "steps": STEPS}
        if not viewers:
            return _run(client("ours", source, **options))
        config = configured({"source": source.webhook, **options})
        with dashboard(config) as server, watched(server, viewers):
            return _looked_at(server, source, options)


def _looked_at(server: Dashboard, source: Portal, options: dict[str, Any]) -> Run:
    before_s, began = server.cpu_s(), time.monotonic()
    done = client("ours", source, **options)
    return _run(done)._replace(looking_s=server.cpu_s() - before_s, lasted_s=time.monotonic() - began)


def _run(done: dict[str, Any]) -> Run:
    last = done["steps"][-1]
    return Run(int(last["records"]["chat_messages"]), float(last["phase_s"]), float(last["cpu_s"]))
