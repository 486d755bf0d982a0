"""The file with the details of a bug, for the developers: without secrets, readable only by its owner."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from b24migrate.private_files import open_private

Redact = Callable[[str], str]
NOWHERE = "nowhere: no folder can be written"


def bug_keeper(redact: Redact) -> Callable[[BaseException, str], str]:
    """Keeps the details of bugs in jobs. Thousands of jobs may meet the same one: it has one file."""

    def keep(bug: BaseException, about: str) -> str:
        path = write_bug(bug, redact, about)
        return path.name if path.parent == Path.cwd() else str(path)

    return keep


def write_bug(bug: BaseException, redact: Redact, about: str = "") -> Path:
    """The file with the details. A bug is identified by its type and its place in the program."""
    name = f"b24migrate-bug-{bug_id(bug)}"
    details = redact(f"{about}\n" * bool(about) + "".join(traceback.format_exception(bug)))
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        for path in (folder / f"{name}.txt", folder / f"{name}-{secrets.token_hex(4)}.txt"):
            try:
                _create(path, details)
            except FileExistsError:
                if _is_ours(path):
                    return path
            except OSError:
                break
            else:
                return path
    return Path(NOWHERE)


def bug_id(bug: BaseException) -> str:
    """The same for every exception of one type at one place of the program, however deep a recursion was."""
    places = (f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(bug.__traceback__))
    return hashlib.sha256("\n".join([type(bug).__name__, *dict.fromkeys(places)]).encode()).hexdigest()[:8]


def _create(path: Path, details: str) -> None:
    """Never through a link, and never over a file that is there: in a shared folder others may have put one."""
    with open_private(path, "x", encoding="utf-8", errors="replace") as out:
        out.write(details)


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
