"""The application of a process: opened when first needed, shared by its threads, reopened after an error that
stopped the work (a setting may have been fixed) and for another run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import NamedTuple

from b24migrate.app import App, open_app
from b24migrate.config import load
from b24migrate.engine import plan
from b24migrate.engine.conductor import Conductor
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Run
from b24migrate.engine.worker import LOOK_S
from b24migrate.model.errors import MigrationError, Stop
from b24migrate.monitor.logs import log, log_bugs, log_line, log_stream, quiet_libraries

Open = Callable[[], AbstractContextManager[App]]


class ActiveRun(NamedTuple):
    """An active run, and the objects to work on it."""

    app: App
    run: Run
    context: RunContext
    conductor: Conductor


@dataclass(eq=False, slots=True)
class _Opened:
    app: App
    closing: ExitStack
    users: int = 0
    retired: bool = False
    conductors: dict[str, Conductor] = field(default_factory=dict)  # by run: its threads do not get in each other's way


class AppCache:
    def __init__(self, opens: Open) -> None:
        self._opens = opens
        self._lock = Lock()
        self._held: _Opened | None = None

    @contextmanager
    def app(self, *, fresh: bool = False) -> Iterator[App]:
        """Raises BadConfiguration or Halted when it cannot be opened. After a Stop within the block the next one gets
        another; so does this one, if it asks for a fresh one."""
        with self._use(fresh=fresh) as held:
            yield held.app

    @contextmanager
    def active_run(self) -> Iterator[ActiveRun | App]:
        """Only the application if no run is active, or the run has stopped or is paused."""
        while True:
            with self._use() as held:
                run = plan.current(held.app.context.store)
                if run is None or not run.under_way:
                    yield held.app
                    return
                if held.app.runner.current.id in ("", run.id):
                    yield self._attend(held, run)
                    return
                self._retire(held)  # it keeps state of another run

    def close(self) -> None:
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            self._retire(held)

    @contextmanager
    def _use(self, *, fresh: bool = False) -> Iterator[_Opened]:
        held = self._take(fresh)
        try:
            yield held
        except Stop:
            self._retire(held)
            raise
        finally:
            self._leave(held)

    def _take(self, fresh: bool) -> _Opened:
        if fresh:
            self.close()
        with self._lock:  # a second caller waits and gets the same one
            if self._held is None:
                closing = ExitStack()
                self._held = _Opened(closing.enter_context(self._opens()), closing)
            self._held.users += 1
            return self._held

    def _attend(self, held: _Opened, run: Run) -> ActiveRun:
        app = held.app
        joined = app.runner.join(run)
        keep_bug = log_bugs(app.settings.redactor.redact)
        context = replace(joined, leaving=dismissal_check(joined, run), keep_bug=keep_bug)
        conductor = held.conductors.get(run.id) or held.conductors.setdefault(run.id, app.runner.conductor(run))
        return ActiveRun(app, run, context, conductor)

    def _retire(self, held: _Opened) -> None:
        """Not shared."""
        with self._lock:
            if self._held is held:
                self._held = None
            held.retired = True
            unused = not held.users
        if unused:
            _close(held)

    def _leave(self, held: _Opened) -> None:
        """The last one closes what is retired."""
        with self._lock:
            held.users -= 1
            unused = held.retired and not held.users
        if unused:
            _close(held)


def dismissal_check(context: RunContext, run: Run) -> Callable[[], bool]:
    """Whether the run was paused or replaced since. Long jobs call it often; it reads the store once a second."""
    looked, found = context.clock.monotonic(), False

    def look() -> bool:
        nonlocal looked, found
        if context.clock.monotonic() - looked >= LOOK_S:
            looked = context.clock.monotonic()
            with suppress(MigrationError):  # the next look may succeed
                found = plan.find_dismissal(context.store, run.id) is not None
        return found

    return look


def _close(held: _Opened) -> None:
    try:
        held.closing.close()
    except MigrationError as error:  # it is gone either way, and so is perhaps the store
        log_line(logging.WARNING, f"The store could not be closed: {error}", error_code=error.code)


@contextmanager
def open_from_environment() -> Iterator[App]:
    """By the app settings of the function app, which are environment variables, or a b24migrate.toml next to it."""
    quiet_libraries()
    settings = load()
    opened: list[App] = []
    observer = log(
        log_stream(), run=lambda: opened[0].runner.current.id if opened else "", redact=settings.redactor.redact
    )
    with open_app(settings, observers=(observer,)) as app:
        opened.append(app)
        yield app
