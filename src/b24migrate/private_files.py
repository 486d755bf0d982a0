"""Files and folders that only their owner can read, whatever the umask, from the moment they exist."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FILE, FOLDER = 0o600, 0o700
OTHERS = 0o077
_creating = threading.Lock()


def open_private(path: Path, mode: str, **options: Any) -> Any:
    """Like `open`. A file that exists and that other users can read is narrowed before anything is written."""
    return open(path, mode, opener=_opener, **options)


@contextmanager
def replace_private(path: Path, mode: str = "w", *, permissions: int = FILE, **options: Any) -> Iterator[Any]:
    """The file appears complete, on disk, when the block ends without an error; otherwise the old one stays. Special
    files such as /dev/stdout are written directly."""
    if path.exists() and not path.is_file():
        with path.open(mode, **options) as out:
            yield out
        return
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)  # left by a killed process; "x" follows no link of another user
    try:
        with open_private(fresh, mode.replace("w", "x"), **options) as out:
            if permissions != FILE:
                fresh.chmod(permissions)
            yield out
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(path)
    finally:
        with suppress(OSError):  # renamed, or never made
            fresh.unlink()


def make_folder(path: Path) -> None:
    """With its missing parents. An existing folder keeps its permissions."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(FOLDER)
    except FileExistsError:
        if not path.is_dir():
            raise


def create(path: Path) -> None:
    """An empty file, where there is none. An existing one is not opened: closing a file ends the locks that this
    process has on it, and SQLite relies on its locks. For the same reason one thread at a time creates."""
    with _creating, suppress(FileExistsError):
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
    narrow(path)


def narrow(path: Path) -> None:
    """Takes the permissions of other users away, if the file is there and ours."""
    with suppress(OSError):
        if is_exposed(path):
            path.chmod(path.stat().st_mode & ~OTHERS & 0o7777)


def is_exposed(path: Path) -> bool:
    """Other users of this machine can read or change it. Windows keeps that in other ways."""
    try:
        about = path.stat()
    except OSError:
        return False
    return os.name == "posix" and bool(about.st_mode & OTHERS)


def _opener(path: str, flags: int) -> int:
    file = os.open(path, flags, FILE)
    if os.name == "posix":
        about = os.fstat(file)
        if stat.S_ISREG(about.st_mode) and about.st_mode & OTHERS:
            with suppress(OSError):  # owned by another user, but writable
                os.fchmod(file, about.st_mode & ~OTHERS & 0o7777)
    return file
