"""`status --watch`: the same look again and again, until the run is at its end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol

from b24migrate.errors import Transient
from b24migrate.hosts.cli.pace import Pace, at, clock_time, number
from b24migrate.hosts.cli.plain import harmless, harmless_json
from b24migrate.hosts.cli.progress import can_redraw, shortened, table
from b24migrate.records import Json, Status

if TYPE_CHECKING:
    from b24migrate.pipeline.plan import Run
    from b24migrate.wiring import App

EVERY_S = 1.0
LOOKING_SHARE = 0.1  # a look at a far store takes a second; then it is done less often
LINE_EVERY_S = 10.0  # in a pipe
STILL_S = 120.0
ROOM_AFTER = 2  # the shell's prompt, so that the head is still there at the end
NAMED = 3  # so many methods and mini-tasks are named

Redact = Callable[[str], str]


class Look(NamedTuple):
    """What one look at the store shows."""

    run: Run | None
    status: Mapping[str, Json]
    counters: Mapping[str, float]
    files: tuple[int, int]  # on the target, and known
    now: datetime

    @classmethod
    def at(cls, app: App) -> Look:
        from b24migrate.pipeline import plan
        from b24migrate.pipeline.status import snapshot

        run = plan.current(app.work.store)
        store = app.work.store
        counts = store.counts(app.work.streams["files"].table)
        files = counts.get(Status.IMPORT_OK, 0), sum(counts.values())
        return cls(run, snapshot(app.work).to_json(), store.counters(), files, app.work.clock.now())

    @property
    def waited_s(self) -> Mapping[str, float]:
        """For a limit, by method, since the work began."""
        waits = ((name.partition(":"), value) for name, value in self.counters.items())
        return {method: value for (kind, _, method), value in waits if kind == "limit_wait"}

    @property
    def over(self) -> bool:
        """Ended, stopped before its end, or never begun; one that is beginning or paused is not."""
        return self.run is None or self.run.state == "ended" or self.run.exit_code is not None


class Shown(Protocol):
    def show(self, look: Look, verdict: str) -> None: ...

    def close(self) -> None: ...


def watch(app: App, redact: Redact, *, as_json: bool = False, sleep: Callable[[float], None] = time.sleep) -> None:
    """Returns when the run is at its end, or at Ctrl-C."""
    shown: Shown = JsonLines(redact) if as_json else Screen(redact) if can_redraw() else Lines(redact)
    verdicts = Verdicts()
    try:
        while True:
            began_s = time.monotonic()
            try:
                look = Look.at(app)
            except Transient:  # a far store may miss a beat
                sleep(EVERY_S)
                continue
            shown.show(look, redact(verdicts.of(look, time.monotonic())))
            if look.over:
                return
            sleep(max(EVERY_S, (time.monotonic() - began_s) / LOOKING_SHARE))
    except KeyboardInterrupt:
        return
    finally:
        shown.close()


# ---------------------------------------------------------------- what it does now


class Verdicts:
    """Says what the work does and what it waits for: by what changed since the last looks."""

    def __init__(self) -> None:
        self._waited_s: Mapping[str, float] = {}
        self._moved_s = 0.0
        self._seen: object = None

    def of(self, look: Look, now_s: float) -> str:
        limited = [name for name, value in look.waited_s.items() if value > self._waited_s.get(name, value)]
        self._waited_s = look.waited_s
        seen = (look.status, look.counters, look.files)
        if self._seen != seen:
            self._seen, self._moved_s = seen, now_s
        if look.run is None:
            return "No run yet. Begin with `b24migrate doctor`, then `b24migrate run`."
        if look.over:
            return ending(look.run)
        if look.run.state == "paused":
            return "Paused. `b24migrate resume` goes on."
        return under_way(look, look.run, limited, now_s - self._moved_s)


def ending(run: Run) -> str:
    from b24migrate.hosts.cli.tables import ENDINGS

    words, _ = ENDINGS.get(run.exit_code or 0, ("Stopped.", ""))
    again = "" if run.state == "ended" else " The same command goes on from here."
    return f"{words} {run.message}".rstrip() + again


def under_way(look: Look, run: Run, limited: list[str], still_s: float) -> str:
    places = {name: at(one["phases"]) for name, one in look.status["entities"].items()}
    busy = [f"{name} {phase}" for name, (phase, state) in places.items() if state == "running"]
    stuck = [f"{name} {phase} {state}" for name, (phase, state) in places.items() if state in ("failed", "blocked")]
    spent_s = (look.now - datetime.fromisoformat(run.started)).total_seconds() if run.started else 0.0
    said = [f"Running for {clock_time(spent_s)}: {_named(busy) or 'about to begin'}."]
    there, known = look.files
    if there < known:
        said.append(f"Files: {number(there)} of {number(known)} on the target.")
    if limited:
        said.append(f"Waits for a limit of the portal: {_named(limited)}.")
    if stuck:
        said.append(f"Stuck: {_named(stuck)}.")
    if still_s >= STILL_S:
        said.append(f"Nothing has moved for {clock_time(still_s)}: if nobody works on it, `b24migrate run` goes on.")
    return " ".join(said)


def _named(names: list[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


# ---------------------------------------------------------------- how it is shown


class Screen:
    """For a terminal: the verdict above, the streams below, drawn over again and again."""

    def __init__(self, redact: Redact) -> None:
        from rich.console import Console
        from rich.live import Live

        self._pace = Pace()
        self._redact = redact
        self._live = Live(console=Console(file=sys.stdout, highlight=False), auto_refresh=False)
        self._live.start()

    def show(self, look: Look, verdict: str) -> None:
        from rich.console import Group
        from rich.text import Text

        console = self._live.console
        head = Text(harmless(verdict if look.over else shortened(verdict)), style="bold")
        lines = len(head.wrap(console, console.width)) + ROOM_AFTER
        lanes = self._pace.of(look.status, time.monotonic())
        self._live.update(Group(head, table(lanes, console.width, console.height - lines)), refresh=True)

    def close(self) -> None:
        self._live.stop()


class Lines:
    """For a pipe: what changed in the verdict's kind, and every ten seconds how far it is."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._said_s: float | None = None

    def show(self, look: Look, verdict: str) -> None:
        now_s = time.monotonic()
        if self._said_s is None or look.over or now_s - self._said_s >= LINE_EVERY_S:
            self._said_s = now_s
            print(harmless(f"{look.now:%H:%M:%S} {verdict} {totals(look.status)}".rstrip()), flush=True)  # noqa: T201

    def close(self) -> None: ...


class JsonLines:
    """One status in each line."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact

    def show(self, look: Look, verdict: str) -> None:
        text = json.dumps({**look.status, "verdict": verdict}, ensure_ascii=False)
        print(harmless_json(self._redact(text)), flush=True)  # noqa: T201

    def close(self) -> None: ...


def totals(status: Mapping[str, Json]) -> str:
    counts = [one for entity in status["entities"].values() for one in entity["streams"].values()]
    read, imported, failed = (sum(one[name] for one in counts) for name in ("retrieved", "import_ok", "import_err"))
    return f"({number(read)} read, {number(imported)} imported, {number(failed)} failed)" if read else ""
