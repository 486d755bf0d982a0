"""What was begun from a page, kept in files beside the store: how it stands, what it says, and who holds it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec

from b24migrate.messages import pack, plain, say, unpack
from b24migrate.model.errors import Halted
from b24migrate.private_files import open_private

if sys.platform != "win32":
    import fcntl

BUSY = "ACTION_UNDER_WAY"
MESSAGES = "messages"  # of a note: keys and values of what it says
LOOKED_AT_S = 0.1  # somebody may only look whether it is held
BETWEEN_S = 0.02


@dataclass(frozen=True, slots=True)
class LastAction:
    """What was last begun from a page. `exit_code` is null while it is under way; `message`, `hint` and `code` say why
    it ended, if it was stopped."""

    what: str
    at: str
    exit_code: int | None = None
    message: str = ""
    hint: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class ActionFiles:
    """Beside the store: what the process says, how it stands, and the file that one process at a time holds."""

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
    """Empty, and for nobody else to read."""
    try:
        file = open_private(path, "wb+", buffering=0)
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:
        yield file.fileno()


def write_action(path: Path, action: LastAction) -> None:
    """It appears whole. Raises Halted when the disk is full, for one."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    said = {name: getattr(action, name).encode("utf-8", "replace").decode() for name in ("message", "hint", "code")}
    try:
        with open_empty(fresh) as file:
            kept = asdict(action) | said | {MESSAGES: pack([action.message, action.hint])}
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
