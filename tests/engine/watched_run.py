"""Runs that are observed while they run, or while no worker performs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Lock
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.insight.status import StatusReader, remember
from b24migrate.insight.status.model import Overview
from b24migrate.model.events import Event, Extracted, PhaseChanged, Sent

LASTS_S = 15.0  # every page and every call, on the clock of the test


def watched(made: World, *, lasts_s: float = LASTS_S, **settings: dict[str, Any]) -> list[Overview]:
    """A run that one reader observes after each of its steps."""
    views: list[Overview] = []
    lock = Lock()
    record_event = made._saw
    with pytest.MonkeyPatch.context() as patched:

        def slowly(event: Event) -> None:
            record_event(event)
            if not isinstance(event, Extracted | Sent | PhaseChanged) or not looking:
                return
            with lock:
                made.clock.sleep(0.0 if isinstance(event, PhaseChanged) else lasts_s)
                views.append(looking[0].overview())
                remember(looking[0]._context)

        looking: list[StatusReader] = []
        patched.setattr(made, "_saw", slowly)
        with made.app(**{"run": {"workers": 1, "entities": ["users", "groups", "chats"]}, **settings}) as app:
            looking.append(StatusReader(app.context))
            app.runner.run(app.chosen(), tick=made.leap())
            return [*views, looking[0].overview()]


@contextmanager
def under_way(made: World) -> Iterator[App]:
    """A run without workers."""
    with made.app() as app:
        plan.begin(app.context.store, made.clock, plan.Plan(("users", "groups")))
        yield app


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
