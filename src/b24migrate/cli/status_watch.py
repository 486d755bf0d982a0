"""`status --watch`: the same look again and again, until the run is at its end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from b24migrate.cli.lanes import LaneReader
from b24migrate.cli.progress import can_redraw, shortened, table
from b24migrate.messages.safe_text import harmless, harmless_json, wrapped
from b24migrate.model.errors import Transient
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.insight.status import StatusReader
    from b24migrate.insight.status.model import Overview

EVERY_S = 1.0
LOOKING_SHARE = 0.1  # a look at a far store takes a second; then it is done less often
LINE_EVERY_S = 10.0  # in a pipe
ROOM_AFTER = 2  # the shell's prompt, so that the head is still there at the end
OVER = ("no_run", "stopped", "blocked", "done", "findings")  # one that is beginning or paused is not

Redact = Callable[[str], str]


class Look(NamedTuple):
    """What one look shows, and what `status --json` says of it."""

    seen: Overview
    status: Mapping[str, Json]

    @classmethod
    def by(cls, looking: StatusReader) -> Look:
        return cls(looking.overview(), looking.snapshot.to_json())

    @property
    def over(self) -> bool:
        return self.seen.now.verdict in OVER


class Said(NamedTuple):
    """What it does and what can be done about it; and how far it is."""

    verdict: str
    progress: str

    @classmethod
    def of(cls, seen: Overview, redact: Redact) -> Said:
        from b24migrate.messages import render
        from b24migrate.messages.measures import NARROW_SPACE
        from b24migrate.messages.terminal import words
        from b24migrate.report.status_text import advice, progress_sentence, sentence

        spoken = words()
        message = render(seen.now.message, spoken.language) if seen.now.verdict == "findings" else ""
        verdict = " ".join(part for part in (sentence(spoken, seen), message, advice(spoken, seen)) if part)
        return cls(*(redact(one.replace(NARROW_SPACE, " ")) for one in (verdict, progress_sentence(spoken, seen))))


class Shown(Protocol):
    def show(self, look: Look, said: Said) -> None: ...

    def close(self) -> None: ...


def watch(app: App, redact: Redact, *, as_json: bool = False, sleep: Callable[[float], None] = time.sleep) -> None:
    """Returns when the run is at its end, or at Ctrl-C."""
    from b24migrate.insight.status import StatusReader

    shown: Shown = JsonLines(redact) if as_json else Screen() if can_redraw() else Lines()
    looking = StatusReader(app.context)
    try:
        while True:
            began_s = time.monotonic()
            try:
                look = Look.by(looking)
            except Transient:  # a far store may miss a beat
                sleep(EVERY_S)
                continue
            shown.show(look, Said.of(look.seen, redact))
            if look.over:
                return
            sleep(max(EVERY_S, (time.monotonic() - began_s) / LOOKING_SHARE))
    except KeyboardInterrupt:
        return
    finally:
        shown.close()


# ---------------------------------------------------------------- how it is shown


class Screen:
    """For a terminal: the verdict above, the streams below, drawn over again and again."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live

        self._lanes = LaneReader()
        self._live = Live(console=Console(file=sys.stdout, highlight=False), auto_refresh=False)
        self._live.start()

    def show(self, look: Look, said: Said) -> None:
        from rich.console import Group
        from rich.text import Text

        console = self._live.console
        head = Text(harmless(said.verdict if look.over else shortened(said.verdict)), style="bold")
        head.append_text(Text(f"\n{harmless(said.progress)}", style="not bold"))
        lines = len(head.wrap(console, console.width)) + ROOM_AFTER
        lanes = self._lanes.read(look.status, time.monotonic())
        self._live.update(Group(head, table(lanes, console.width, console.height - lines)), refresh=True)

    def close(self) -> None:
        self._live.stop()


class Lines:
    """For a pipe: every ten seconds what it does and how far it is."""

    def __init__(self) -> None:
        from b24migrate.cli.tables import console

        self._out = console()
        self._said_s: float | None = None

    def show(self, look: Look, said: Said) -> None:
        now_s = time.monotonic()
        if self._said_s is None or look.over or now_s - self._said_s >= LINE_EVERY_S:
            self._said_s = now_s
            wrapped(self._out, harmless(f"{said.verdict} {said.progress}".rstrip()), first=f"{look.seen.at[11:19]} ")
            sys.stdout.flush()

    def close(self) -> None: ...


class JsonLines:
    """One status in each line."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact

    def show(self, look: Look, said: Said) -> None:
        text = json.dumps({**look.status, "verdict": said.verdict}, ensure_ascii=False)
        print(harmless_json(self._redact(text)), flush=True)  # noqa: T201

    def close(self) -> None: ...
