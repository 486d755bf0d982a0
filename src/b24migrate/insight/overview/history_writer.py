"""Keeps the history: called by whoever conducts a run."""

from __future__ import annotations

import time
from dataclasses import replace

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.overview import history
from b24migrate.insight.overview.look import Looking
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.events import Noted

LOOKING_SHARE = 0.02  # of the time, at most: a look at a far store takes a while


def remember(context: RunContext, every_s: float = history.STEP_S) -> None:
    """This moment; `every_s` it is done."""
    HistoryWriter(context, every_s).now()


class HistoryWriter:
    """Called again and again, it looks about every ten seconds; less often where a look is dear."""

    def __init__(self, context: RunContext, every_s: float = history.STEP_S) -> None:
        self._context = context
        self._every_s = every_s
        self._looking = Looking(context)
        self._due = self._due_really = 0.0  # by the clock, which may be fast, and by the time that a look costs
        self._cost_s = 0.0
        self._told = False

    def tick(self) -> None:
        if self._context.clock.monotonic() >= self._due and time.monotonic() >= self._due_really:
            self.now()

    def now(self) -> None:
        """Should the store not answer, the moment is not remembered; those who work will say so."""
        began = time.monotonic()
        try:
            _, moment = self._looking.see()
            step_s = max(self._every_s, self._cost_s / LOOKING_SHARE)
            history.keep(self._context.store, replace(moment, step_s=step_s))
            history.thin(self._context.store)
        except MigrationError:
            pass
        except Exception as bug:  # noqa: BLE001 (a chart with a gap is better than a migration that stops)
            self._tell(bug)
        ended = time.monotonic()
        self._cost_s = ended - began
        self._due = self._context.clock.monotonic() + self._every_s
        self._due_really = ended + self._cost_s / LOOKING_SHARE

    def _tell(self, bug: Exception) -> None:
        """Once."""
        if not self._told:
            self._told = True
            self._context.tell(Noted("warning", say("work.no_history", kind=type(bug).__name__)))
