"""Actions of the dashboard: start, resume, retry, analyze. Each runs a command of this program in its own process,
which outlives the page. Its message is kept and shown if it ends before it has a run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from b24migrate.messages import pack, plain, say, unpack
from b24migrate.model.errors import Halted
from b24migrate.model.prepared import prepared
from b24migrate.private_files import open_private

if sys.platform != "win32":
    import fcntl

BUSY = "ACTION_UNDER_WAY"
MESSAGES = "messages"  # in the file: keys and values of its messages
LOOKED_AT_S = 0.1  # another process may hold it only to check it
BETWEEN_S = 0.02


@prepared
@dataclass(frozen=True, slots=True)
class LastAction:
    """The last action. `exit_code` is null while it runs; `message`, `hint` and `code` say why it stopped, if it
    did."""

    what: str
    at: str
    exit_code: int | None = None
    message: str = ""
    hint: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class ActionFiles:
    """Next to the store: the output of the process, its state, and the file that one process at a time locks."""

    log: Path
    note: Path
    lock: Path

    @classmethod
    def next_to(cls, log_file: Path) -> ActionFiles:
        return cls(*(log_file.with_suffix(ending) for ending in (".started.log", ".started.json", ".started.lock")))


@contextmanager
def hold_lock(path: Path, patience_s: float = LOOKED_AT_S) -> Iterator[int | None]:
    """The process inherits it and holds it as long as it lives, however it ends. Raises Halted while another does."""
    with open_empty(path) as file:
        if sys.platform == "win32":
            yield None
            return
        until_s = time.monotonic() + patience_s
        while not _try_lock(file):
            if time.monotonic() > until_s:
                raise busy_error()
            time.sleep(BETWEEN_S)
        yield file


def busy_error() -> Halted:
    hint = say("web.busy_fix")
    return Halted(say("web.busy"), code=BUSY, hint=hint)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_held(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        file = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


@contextmanager
def open_empty(path: Path) -> Iterator[int]:
    """An empty file that only its owner can read."""
    try:
        file = open_private(path, "wb+", buffering=0)
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:
        yield file.fileno()


def write_action(path: Path, action: LastAction) -> None:
    """It appears whole. Raises Halted when the disk is full, for one."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    texts = {name: getattr(action, name).encode("utf-8", "replace").decode() for name in ("message", "hint", "code")}
    try:
        with open_empty(fresh) as file:
            kept = asdict(action) | texts | {MESSAGES: pack([action.message, action.hint])}
            os.write(file, msgspec.json.encode(kept, enc_hook=plain))
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> Halted:
    hint = say("web.notes_fix")
    return Halted(say("web.unwritable", path=path, why=error.strerror), code="STORE_REFUSED", hint=hint)


def read_action(path: Path) -> LastAction | None:
    try:
        kept = path.read_bytes()
        found = msgspec.json.decode(kept, type=LastAction)
        message, hint = unpack([found.message, found.hint], msgspec.json.decode(kept).get(MESSAGES))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return replace(found, message=message, hint=hint)


LEAVING_S = 5.0
LAST_WORDS = 2000  # characters of the output of a process that ended without a message
LAST_BYTES = 64 * 1024  # of its log are read
WELL_TOLD = (0, 3, 4, 5)  # the front page shows how a run ended
VANISHED = "ACTION_VANISHED"
RUN, RESUME, RETRY, ANALYZE, SYNC = "run", "resume", "retry", "analyze", "sync"
BY = "dashboard"  # in the checklist of the cutover
CUTOVER = {  # the command of each step; a person has confirmed on the page
    "rehearsal": ("rehearse",),
    "freeze": ("freeze", "--yes"),
    "finish": ("finish",),
    "live": ("live", "--yes"),
}


class Starter(Protocol):
    """`able`: the actions that it can start, of start, resume, retry, analyze and cutover. Each raises a MigrationError
    if it cannot start; Halted with ACTION_UNDER_WAY while another runs."""

    able: Sequence[str]

    def run(self, entities: Sequence[str], phases: Sequence[str], test_limit: int | None) -> None: ...

    def resume(self) -> None: ...

    def retry(self, entities: Sequence[str], code: str) -> None: ...

    def analyze(self) -> None: ...

    def sync(self, *, report_only: bool) -> None: ...

    def cutover(self, step: str) -> None: ...

    def last(self) -> LastAction | None: ...


class ProcessStarter:
    """`places` is called each time, since the configuration may name another store by now."""

    able: Sequence[str] = ("start", "resume", "retry", "analyze", "cutover")

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
        self._begin(RUN, [RUN, *named, *limit])

    def resume(self) -> None:
        self._begin(RESUME, [RESUME])

    def retry(self, entities: Sequence[str], code: str) -> None:
        named = [text for name in entities for text in ("--entity", name)]
        self._begin(RETRY, [RETRY, *named, *([f"--code={code}"] if code else [])])

    def analyze(self) -> None:
        self._begin(ANALYZE, [ANALYZE])

    def sync(self, *, report_only: bool) -> None:
        self._begin(SYNC, [SYNC, *(["--report-only"] if report_only else [])])

    def cutover(self, step: str) -> None:
        """The certificate is written next to the store."""
        out = ["--out", str(self._places().log.with_name("certificate.jsonl"))] if step == "finish" else []
        self._begin(step, ["cutover", *CUTOVER[step], "--by", BY, *out])

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
            child = self._process(places, arguments, lock)
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
                output = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return self._redact(output)[-LAST_WORDS:].strip()


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
