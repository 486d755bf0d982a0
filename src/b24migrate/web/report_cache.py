"""The report of the dashboard: made in the background, one at a time, and shown to all viewers of a language."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration, Halted
from b24migrate.report import Request, Site, make_report
from b24migrate.report.write import CODE
from b24migrate.web.context import Context

LEAST_S = 30.0  # a report is shown for at least so long, unless the run changes
MAKING_SHARE = 0.1  # of the time; a report of a large store takes minutes
PATIENCE_S = 3.0  # a viewer waits so long, then sees that the report is being prepared
ERROR_S = 10.0  # the next viewer after that tries again
LINES_AT_ONCE = 500


class _Made(NamedTuple):
    folder: Path
    state: object  # of the run when the making started
    due_s: float


class ReportCache:
    """Reports are in a private folder, which is removed when the dashboard ends."""

    def __init__(self, context: Context, site: Site, now: Callable[[], float] = time.monotonic) -> None:
        self._context = context
        self._site = site
        self._now = now
        self._lock = threading.Lock()
        self._made: dict[str, _Made] = {}  # by language
        self._errors: dict[str, tuple[Exception, float]] = {}  # and until when it is shown
        self._making: threading.Thread | None = None

    def look(self, language: str) -> Path | None:
        """The folder of the report; None while it is being made. A report of an earlier state of the run is not
        shown. Raises the error that prevented it."""
        state = self._run_state()
        with self._lock:
            self._raise_error(language)
            made = self._made.get(language)
            if made is not None and made.state == state and self._now() < made.due_s:
                return made.folder
            making = self._making = self._making or self._start(language, state)
        making.join(PATIENCE_S)
        with self._lock:
            self._raise_error(language)
            made = self._made.get(language)
            return made.folder if made is not None and made.state == state else None

    def last(self, language: str) -> Path | None:
        """The folder of the last report, without making one."""
        with self._lock:
            made = self._made.get(language)
            return made.folder if made is not None else None

    def _raise_error(self, language: str) -> None:
        error, until_s = self._errors.pop(language, (None, 0.0))
        if error is not None and self._now() < until_s:
            raise error

    def _run_state(self) -> object:
        with self._context.app() as app:
            return self._context.actions.last(), plan.current_version(app.context.store)

    def _start(self, language: str, state: object) -> threading.Thread:
        making = threading.Thread(target=self._make, args=(language, state), name="b24migrate-report", daemon=True)
        making.start()
        return making

    def _make(self, language: str, state: object) -> None:
        started_s = self._now()
        made, error = None, None
        try:
            folder = self._context.scratch() / language
            with self._context.app() as app:
                make_report(app, Request(folder, language, self._context.redact, site=self._site))
            now_s = self._now()
            made = _Made(folder, state, now_s + max(LEAST_S, (now_s - started_s) / MAKING_SHARE))
        except Exception as found:  # noqa: BLE001 - a viewer gets it
            error = _refusal(found)
        with self._lock:
            self._making = None
            if made is not None:
                self._made[language] = made
            if error is not None:
                self._errors[language] = error, self._now() + ERROR_S


def _refusal(error: Exception) -> Exception:
    """An error of the disk is not a bug, and the dashboard has no `--out`."""
    if isinstance(error, OSError):
        return Halted(say("web.no_report", why=error.strerror or error), code=CODE, hint=say("web.no_report_fix"))
    if isinstance(error, BadConfiguration) and error.code == CODE:
        return Halted(error.message, code=CODE, hint=say("web.no_report_fix"))
    return error


def read_table(file: Path) -> Iterator[str]:
    """In parts of whole lines, with the mark by which spreadsheets know UTF-8."""
    with file.open(encoding="utf-8", newline="") as lines:
        while part := "".join(islice(lines, LINES_AT_ONCE)):
            yield part
