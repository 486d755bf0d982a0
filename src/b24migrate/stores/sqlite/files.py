"""The bytes of attachments, in a folder beside the database."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from b24migrate.errors import Halted, Permanent
from b24migrate.ports import Clock

_STALE_S = 24 * 3600
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
_HINTS = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space or raise the quota",
    errno.EROFS: "allow writing to the folder",
    errno.EACCES: "allow writing to the folder",
    errno.EPERM: "allow writing to the folder",
}


class FolderFiles:
    """A file's name is the SHA-256 of its key: nothing a portal sends can choose where we write."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._unfinished = folder / "unfinished"
        with self._translated():
            self._sweep(clock.now().timestamp() - _STALE_S)

    @contextmanager
    def writer(self, key: str) -> Iterator[BinaryIO]:
        unfinished = self._unfinished / f"{os.getpid()}-{secrets.token_hex(8)}"
        with self._translated():
            self._unfinished.mkdir(parents=True, exist_ok=True)
            out = unfinished.open("xb")
        try:
            with out:
                # What happens in the caller's block may be a lost connection as well: only the disk's errors are ours.
                with self._translated(_DISK):
                    yield out
                with self._translated():
                    out.flush()
                    os.fsync(out.fileno())
            with self._translated():
                self._publish(unfinished, self._path(key))
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def open(self, key: str) -> BinaryIO:
        with self._translated():
            try:
                return self._path(key).open("rb")
            except FileNotFoundError as error:
                raise Permanent(
                    f"The file {key} is not in the store.", code="FILE_MISSING", hint="Run its get phase again."
                ) from error

    def size(self, key: str) -> int | None:
        with self._translated():
            try:
                return self._path(key).stat().st_size
            except FileNotFoundError:
                return None

    def delete(self, key: str) -> None:
        with self._translated():
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / name[:2] / name[2:4] / name

    def _publish(self, unfinished: Path, path: Path) -> None:
        """The rename is atomic; the folder is synced so that it also outlives a power cut."""
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.replace(path)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _sweep(self, before: float) -> None:
        """What killed processes left behind."""
        if self._unfinished.is_dir():
            for left in self._unfinished.iterdir():
                with suppress(FileNotFoundError):  # another process has just finished it
                    if left.stat().st_mtime < before:
                        left.unlink()

    @contextmanager
    def _translated(self, only: frozenset[int] | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if only is not None and error.errno not in only:
                raise
            way_out = _HINTS.get(error.errno or 0, "check the disk")
            raise Halted(
                f"The folder {self._folder} cannot be read or written: {error.strerror or error}.",
                code="STORE_FULL" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "STORE_IO",
                hint=f"Nothing is lost: {way_out}, then run the same command again.",
            ) from error
