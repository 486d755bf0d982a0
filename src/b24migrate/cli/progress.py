"""The progress of a run: bars on a terminal, a line from time to time in a pipe, nothing with `--json`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TextIO

from b24migrate.cli.lanes import Lane, LaneReader, amount, brief, left, speed
from b24migrate.messages.terminal import harmless, phrase, spoken
from b24migrate.model.events import Event, Noted, PhaseChanged, PortalDown, PortalMoved
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from rich.table import Table

Status = Mapping[str, Json]
Redact = Callable[[str], str]
MARKS = {"done": "✓", "running": "•", "failed": "✗", "blocked": "✗", "skipped": "-", "pending": " "}
EVERY_S = 10.0
LONGEST = 230
NARROWEST, WIDEST = 4, 16  # a bar
ROOM_BELOW = 2  # for the line of the cursor, and a head above
DUMB = ("dumb", "unknown")


class Display(Protocol):
    def show(self, status: Status) -> None: ...

    def note(self, event: Event) -> None: ...

    def close(self) -> None: ...


class Silent:
    def show(self, status: Status) -> None: ...

    def note(self, event: Event) -> None: ...

    def close(self) -> None: ...


class Lines:
    """Output for a pipe: the start and end of each step, and the progress every ten seconds."""

    def __init__(self, out: TextIO, redact: Redact) -> None:
        self._out = out
        self._redact = redact
        self._lanes = LaneReader()
        self._said_s = time.monotonic()

    def show(self, status: Status) -> None:
        now_s = time.monotonic()
        lanes = self._lanes.read(status, now_s)
        if now_s - self._said_s >= EVERY_S:
            self._said_s = now_s
            for lane in lanes:
                if lane.state == "running":
                    self._say(_line(lane))

    def note(self, event: Event) -> None:
        if isinstance(event, PhaseChanged) and event.state not in ("pending", "skipped"):
            self._say(f"{event.entity} {event.phase}: {event.state} {spoken(event.message)}".rstrip())
        if text := worth_saying(event):
            self._say(text)

    def close(self) -> None:
        pass

    def _say(self, text: str) -> None:
        print(harmless(self._redact(text)), file=self._out, flush=True)


class Bars:
    """For a terminal."""

    def __init__(self, out: TextIO, redact: Redact) -> None:
        from rich.console import Console
        from rich.live import Live

        self._redact = redact
        self._lanes = LaneReader()
        self._live = Live(console=Console(file=out), refresh_per_second=8, transient=False)

    def show(self, status: Status) -> None:
        if lanes := self._lanes.read(status, time.monotonic()):
            if not self._live.is_started:
                self._live.start()
            self._live.update(table(lanes, *self._live.console.size))

    def note(self, event: Event) -> None:
        from rich.text import Text

        if text := worth_saying(event):
            self._live.console.print(Text(f"! {harmless(self._redact(text))}", style="yellow"))

    def close(self) -> None:
        self._live.stop()


def table(lanes: list[Lane], width: int, height: int) -> Table:
    """No wider than the terminal, and so low that it can be drawn over: lanes that are done are the first to go."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    shown, folded = _fitting(lanes, height - ROOM_BELOW)
    rows = [(MARKS[one.state], one.stream, brief(one.phase), amount(one), speed(one), left(one)) for one in shown]
    taken = sum(max((len(row[column]) for row in rows), default=0) + 1 for column in range(6))
    bar = max(NARROWEST, min(WIDEST, width - taken))
    grid = Table.grid(padding=(0, 1))
    for justify in ("left", "left", "left", "left", "right", "right", "right"):
        grid.add_column(justify=justify, no_wrap=True)
    for lane, (mark, stream, phase, *numbers) in zip(shown, rows, strict=True):
        over = lane.state != "running"
        done = max(lane.done, 1) if over else lane.done
        total = done if over else lane.total or None
        drawn = ProgressBar(total=total, completed=done, width=bar, pulse=not lane.total)
        grid.add_row(mark, stream, phase, drawn, *numbers)
    if folded:
        grid.add_row("…", f"{folded} more")
    return grid


def _fitting(lanes: list[Lane], height: int) -> tuple[list[Lane], int]:
    """Those to show, and how many are hidden: first the finished ones, then the last ones."""
    too_many = len(lanes) - height
    if too_many <= 0:
        return lanes, 0
    over = [lane for lane in lanes if lane.state in ("done", "skipped")][: too_many + 1]
    shown = [lane for lane in lanes if lane not in over][: max(1, height - 1)]
    return shown, len(lanes) - len(shown)


def worth_saying(event: Event) -> str:
    """Messages that the user needs at once; the others are in the log."""
    if isinstance(event, Noted) and event.level != "info":
        return shortened(f"{event.entity}: {spoken(event.message)}" if event.entity else spoken(event.message))
    if isinstance(event, PortalDown):
        return phrase("cli.progress.down", portal=event.portal, since_s=event.since_s)
    if isinstance(event, PortalMoved):
        return phrase("cli.progress.moved", portal=event.portal, before=event.before, now=event.now)
    return ""


def shortened(text: str) -> str:
    """Some notes are long lists of names; `status --json` has them complete."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"


def _line(lane: Lane) -> str:
    more = [part for part in (speed(lane), f"{left(lane)} left" if left(lane) else "") if part]
    return f"{lane.stream} {lane.phase} {amount(lane)}" + (f" ({', '.join(more)})" if more else "")


def display(redact: Redact, *, silent: bool = False) -> Display:
    if silent:
        return Silent()
    return Bars(sys.stdout, redact) if can_redraw() else Lines(sys.stdout, redact)


def can_redraw() -> bool:
    """Whether it is a terminal on which a line can be written over."""
    return sys.stdout.isatty() and os.environ.get("TERM", "").lower() not in DUMB
