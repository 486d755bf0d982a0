"""Runs that are paused at a given job, and go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tests.engine.world import World

from b24migrate.app import App
from b24migrate.engine import plan
from b24migrate.engine.plan import Paused
from b24migrate.engine.run import RunResult
from b24migrate.model.records import Job
from b24migrate.ports import Lease

WORDS = "Paused by Anna at "


def pause(app: App) -> plan.Run:
    run = plan.pause(app.context.store, app.context.clock, "Anna")
    assert run is not None
    return run


def pause_and_be_told(app: App) -> None:
    """For a worker: pauses the run, and continues when all workers know it."""
    pause(app)
    hand: Any = threading.current_thread()
    over: threading.Event = hand._target.__self__._over
    assert over.wait(60)


def after(app: App, wanted: Callable[[Job], bool], jobs: int, then: Callable[[App], None]) -> None:
    """When so many jobs of this kind are done."""
    finish, left = app.context.queue.finish, [jobs]
    lock = threading.Lock()

    def counted(lease: Lease, follow: Any) -> None:
        finish(lease, follow)
        with lock:
            left[0] -= wanted(lease.job)
            now = left[0] == 0 and wanted(lease.job)
        if now:
            then(app)

    app.context.queue.finish = counted  # type: ignore[method-assign]


def run_until_paused(
    made: World, wanted: Callable[[Job], bool], jobs: int = 1, *, again: bool = False
) -> RunResult | None:
    """None when it was paused."""
    with made.app() as opened:
        app = opened.with_context(opened.context.with_options(verify_all=True))
        after(app, wanted, jobs, pause_and_be_told)
        try:
            if again:
                return app.runner.resume(tick=made.leap())
            return app.runner.run(app.chosen(()), tick=made.leap())
        except Paused as paused:
            last = paused
    assert (last.exit_code, last.code) == (3, plan.ON_PAUSE)
    assert last.message.startswith(WORDS)
    return None


def resume(made: World) -> RunResult:
    with made.app() as opened:
        app = opened.with_context(opened.context.with_options(verify_all=True))
        return app.runner.resume(tick=made.leap())
