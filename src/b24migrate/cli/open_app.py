"""Opens the application for a command: to read only, or to work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

from b24migrate.cli.progress import Display
from b24migrate.cli.session import Session
from b24migrate.cli.signals import interruptible
from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import Json
from b24migrate.private_files import make_folder, open_private

if TYPE_CHECKING:
    from b24migrate.app import App
    from b24migrate.config import Settings


class Current:
    """The current run, once an application is open."""

    app: App | None = None

    def run(self) -> str:
        return self.app.runner.current.id if self.app else ""


@contextmanager
def open_to_read(session: Session, *, portals: bool = False) -> Iterator[App]:
    """To read the store, and with `portals` also both portals."""
    from b24migrate.app import open_app

    with open_app(session.settings(portals=portals)) as app, interruptible(app.context.interrupt.request):
        yield app


@contextmanager
def open_to_work(
    session: Session, display: Display, *, verify_all: bool = False, **overrides: Mapping[str, Json]
) -> Iterator[App]:
    """To work on a run: logs every event next to the store, shows the important ones, and ends calls on SIGTERM and
    Ctrl-C."""
    from b24migrate.app import open_app
    from b24migrate.monitor.bug_file import bug_keeper
    from b24migrate.monitor.logs import log

    settings = session.settings(portals=True, **overrides)
    with ExitStack() as stack:
        current = Current()
        out = stack.enter_context(log_file(settings))
        written = log(out, run=current.run, redact=session.redact)
        stack.callback(display.close)
        observers, keep_bug = (written, display.note), bug_keeper(session.redact)
        app = stack.enter_context(open_app(settings, observers=observers, verify_all=verify_all, keep_bug=keep_bug))
        current.app = app
        stack.enter_context(interruptible(app.context.interrupt.request))
        yield app


@contextmanager
def log_file(settings: Settings) -> Iterator[TextIO]:
    path = settings.store.log_file
    try:
        make_folder(path.parent)
        out = open_private(path, "a", encoding="utf-8", buffering=1)
    except OSError as error:
        raise Halted(say("cli.log", path=path, why=error.strerror), hint=say("cli.log_fix")) from None
    with out:
        yield out
