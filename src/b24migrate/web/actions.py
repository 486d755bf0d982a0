"""What can be done from a page: begin, go on, try again, analyze. Each is a command of this very program, in a process
of its own that outlives the page; what it says before it has a run (a closed gate, a wrong setting) is kept and shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.web.action_files import (
    ActionFiles,
    LastAction,
    busy_error,
    hold_lock,
    is_held,
    open_empty,
    read_action,
    write_action,
)

LEAVING_S = 5.0
LAST_WORDS = 2000  # characters of what a process said that ended without an explanation
LAST_BYTES = 64 * 1024  # of its log are read
WELL_TOLD = (0, 3, 4, 5)  # how a run ended, the front page says
VANISHED = "ACTION_VANISHED"
RUN, RESUME, RETRY, ANALYZE = "run", "resume", "retry", "analyze"


class Starter(Protocol):
    """`able`: what it can begin, of start, resume, retry and analyze. Each raises a MigrationError when it cannot be
    begun; Halted with ACTION_UNDER_WAY while another is under way."""

    able: Sequence[str]

    def run(self, entities: Sequence[str], phases: Sequence[str], test_limit: int | None) -> None: ...

    def resume(self) -> None: ...

    def retry(self, entities: Sequence[str], code: str) -> None: ...

    def analyze(self) -> None: ...

    def last(self) -> LastAction | None: ...


class ProcessStarter:
    """`places` is asked each time, since the configuration may name another store by now."""

    able: Sequence[str] = ("start", "resume", "retry", "analyze")

    def __init__(
        self,
        config: Path | None,
        places: Callable[[], ActionFiles],
        *,
        environ: Mapping[str, str] | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._config = config
        self._places = places
        self._environ = environ
        self._redact = redact
        self._one = threading.Lock()

    def run(self, entities: Sequence[str], phases: Sequence[str], test_limit: int | None) -> None:
        named = [text for name in entities for text in ("--entity", name)]
        named += [text for name in phases for text in ("--phase", name)]
        limit = [] if test_limit is None else ["--test-limit", str(test_limit)]
        self._begin(RUN, [*named, *limit])

    def resume(self) -> None:
        self._begin(RESUME, [])

    def retry(self, entities: Sequence[str], code: str) -> None:
        named = [text for name in entities for text in ("--entity", name)]
        self._begin(RETRY, [*named, *([f"--code={code}"] if code else [])])

    def analyze(self) -> None:
        self._begin(ANALYZE, [])

    def last(self) -> LastAction | None:
        places = self._places()
        found = _current_action(places)
        if found is None or found.message or (found.exit_code in WELL_TOLD and found.code != VANISHED):
            return found
        return found if found.exit_code is None else replace(found, message=self._last_output(places))

    def _begin(self, what: str, arguments: Sequence[str]) -> None:
        places = self._places()
        with self._one, _wait_turn(places) as lock:
            write_action(places.note, LastAction(what, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"))
            child = self._process(places, [what, *arguments], lock)
        threading.Thread(target=child.wait, name="b24migrate-started", daemon=True).start()  # leaves no zombie

    def _process(self, places: ActionFiles, arguments: Sequence[str], lock: int | None) -> subprocess.Popen[bytes]:
        config = ["--config", str(self._config.absolute())] if self._config else []
        command = [sys.executable, "-m", "b24migrate.cli.web_action", str(places.note), *config, *arguments]
        kept = (lock,) if lock is not None else ()
        with open_empty(places.log) as out:
            try:
                return subprocess.Popen(  # noqa: S603 - our own interpreter and our own module, no shell
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    env=None if self._environ is None else dict(self._environ),
                    start_new_session=True,
                    pass_fds=kept,
                )
            except OSError as error:
                message = say("web.cannot_start", why=error.strerror)
                raise Halted(message, code=VANISHED, hint=say("web.cannot_start_fix")) from None

    def _last_output(self, places: ActionFiles) -> str:
        """Cut when they are clean: half a secret is not known for one."""
        try:
            with places.log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LAST_BYTES))
                said = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return self._redact(said)[-LAST_WORDS:].strip()


@contextmanager
def _wait_turn(places: ActionFiles) -> Iterator[int | None]:
    """One that has noted its end may take a moment to go. Who waited for that is not the first when another one
    began something meanwhile."""
    last = _current_action(places)
    if last is not None and last.exit_code is None:
        raise busy_error()
    before = read_action(places.note)
    with hold_lock(places.lock, LEAVING_S) as lock:
        if read_action(places.note) != before:
            raise busy_error()
        yield lock


def _current_action(places: ActionFiles) -> LastAction | None:
    """One that has not noted its end and holds the lock no longer was killed."""
    found = read_action(places.note)
    if found is None or found.exit_code is not None or is_held(places.lock):
        return found
    found = read_action(places.note)  # it may have ended between the two looks
    if found is None or found.exit_code is not None:
        return found
    hint = say("web.vanished")
    return replace(found, exit_code=4, code=VANISHED, hint=hint)
