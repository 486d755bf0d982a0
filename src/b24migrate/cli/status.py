"""`status`: the progress of every entity, once or until the run ends (`--watch`)."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, NamedTuple, Protocol

import typer

from b24migrate.cli.session import Session
from b24migrate.messages.terminal import harmless, harmless_json, phrase, wrapped
from b24migrate.model.errors import Transient
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.insight.status import StatusReader
    from b24migrate.insight.status.model import Overview

AsJson = Annotated[bool, typer.Option("--json")]
EVERY_S = 1.0
LOOKING_SHARE = 0.1  # of the time: a remote store takes a second to read, so it is read less often
LINE_EVERY_S = 10.0  # in a pipe
ROOM_AFTER = 2  # lines for the shell's prompt
OVER = ("no_run", "stopped", "blocked", "done", "findings")  # one that is beginning or paused is not
Redact = Callable[[str], str]


def status(
    context: typer.Context,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", "-w")] = False,
) -> None:
    """Show the progress of every entity."""
    from b24migrate.cli.errors import follow_line
    from b24migrate.cli.open_app import open_to_read
    from b24migrate.cli.tables import console, print_status
    from b24migrate.engine import plan
    from b24migrate.insight.causes import Chains, chains
    from b24migrate.insight.status import snapshot

    session: Session = context.obj
    with open_to_read(session) as app:
        if watch:
            watch_run(app, session.redact, as_json=as_json)
            return
        found = snapshot(app.context).to_json()
        chained = Chains() if as_json else chains(app.context)
        run = plan.current(app.context.store)
    paused = run if run is not None and run.state == plan.PAUSED else None
    if as_json:
        more = {"state": paused.state} if paused else {}
        typer.echo(session.redact(json.dumps({**found, **more}, ensure_ascii=False)))
        return
    out = console()
    if paused:
        wrapped(out, harmless(phrase("cli.status.paused", message=paused.message)))
    print_status(found, out)
    if chained.chains:
        wrapped(out, follow_line(chained))
        wrapped(out, phrase("cli.advice.findings"))


# ---------------------------------------------------------------- status --watch


class Look(NamedTuple):
    """The overview, and the same moment as `status --json` prints it."""

    overview: Overview
    status: Mapping[str, Json]

    @classmethod
    def by(cls, reader: StatusReader) -> Look:
        return cls(reader.overview(), reader.snapshot.to_json())

    @property
    def over(self) -> bool:
        return self.overview.now.verdict in OVER


class Sentences(NamedTuple):
    """The verdict with its advice, and the progress."""

    verdict: str
    progress: str

    @classmethod
    def of(cls, overview: Overview, redact: Redact) -> Sentences:
        from b24migrate.messages import render
        from b24migrate.messages.measures import NARROW_SPACE
        from b24migrate.messages.terminal import words
        from b24migrate.report.status_text import advice, progress_sentence, sentence

        spoken = words()
        message = render(overview.now.message, spoken.language) if overview.now.verdict == "findings" else ""
        verdict = " ".join(part for part in (sentence(spoken, overview), message, advice(spoken, overview)) if part)
        return cls(*(redact(one.replace(NARROW_SPACE, " ")) for one in (verdict, progress_sentence(spoken, overview))))


class Shown(Protocol):
    def show(self, look: Look, sentences: Sentences) -> None: ...

    def close(self) -> None: ...


def watch_run(app: App, redact: Redact, *, as_json: bool = False, sleep: Callable[[float], None] = time.sleep) -> None:
    """Shows the status again and again. Returns when the run ends, or at Ctrl-C."""
    from b24migrate.cli.progress import can_redraw
    from b24migrate.insight.status import StatusReader

    shown: Shown = JsonLines(redact) if as_json else Screen() if can_redraw() else Lines()
    reader = StatusReader(app.context)
    try:
        while True:
            began_s = time.monotonic()
            try:
                look = Look.by(reader)
            except Transient:  # a remote store may fail once
                sleep(EVERY_S)
                continue
            shown.show(look, Sentences.of(look.overview, redact))
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

        from b24migrate.cli.lanes import LaneReader

        self._lanes = LaneReader()
        self._live = Live(console=Console(file=sys.stdout, highlight=False), auto_refresh=False)
        self._live.start()

    def show(self, look: Look, sentences: Sentences) -> None:
        from rich.console import Group
        from rich.text import Text

        from b24migrate.cli.progress import shortened, table

        console = self._live.console
        head = Text(harmless(sentences.verdict if look.over else shortened(sentences.verdict)), style="bold")
        head.append_text(Text(f"\n{harmless(sentences.progress)}", style="not bold"))
        lines = len(head.wrap(console, console.width)) + ROOM_AFTER
        run = look.overview.run
        status = {**look.status, "delta": run is not None and run.delta}
        lanes = self._lanes.read(status, time.monotonic())
        self._live.update(Group(head, table(lanes, console.width, console.height - lines)), refresh=True)

    def close(self) -> None:
        self._live.stop()


class Lines:
    """For a pipe: every ten seconds what it does and how far it is."""

    def __init__(self) -> None:
        from b24migrate.cli.tables import console

        self._out = console()
        self._shown_s: float | None = None

    def show(self, look: Look, sentences: Sentences) -> None:
        now_s = time.monotonic()
        if self._shown_s is None or look.over or now_s - self._shown_s >= LINE_EVERY_S:
            self._shown_s = now_s
            wrapped(
                self._out,
                harmless(f"{sentences.verdict} {sentences.progress}".rstrip()),
                first=f"{look.overview.at[11:19]} ",
            )
            sys.stdout.flush()

    def close(self) -> None: ...


class JsonLines:
    """One status in each line."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact

    def show(self, look: Look, sentences: Sentences) -> None:
        text = json.dumps({**look.status, "verdict": sentences.verdict}, ensure_ascii=False)
        print(harmless_json(self._redact(text)), flush=True)  # noqa: T201

    def close(self) -> None: ...
