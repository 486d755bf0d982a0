"""The bytes of attachments, in a folder next to the database."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from b24migrate.messages import say
from b24migrate.model.errors import Halted, Permanent
from b24migrate.model.prepared import prepared
from b24migrate.ports import Clock
from b24migrate.private_files import make_folder, narrow, open_private

if sys.platform != "win32":
    import fcntl

_PART, _NOTE = ".part", ".json"
_STALE_S = 24 * 3600
_STALE_PART_S = 7 * _STALE_S
_BLOCK_BYTES = 4 << 20  # so much of a part is written before it is made sure
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
_HINTS = {
    errno.ENOSPC: say("store.do.space"),
    errno.EDQUOT: say("store.do.quota"),
    errno.EROFS: say("store.do.folder"),
    errno.EACCES: say("store.do.folder"),
    errno.EPERM: say("store.do.folder"),
}


class FolderFiles:
    """A file's name is the SHA-256 of its key: nothing a portal sends can choose where we write."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._unfinished = folder / "unfinished"
        narrow(folder)  # of a store that an earlier version made
        with self._translated():
            self._sweep(clock.now().timestamp() - _STALE_S)

    @contextmanager
    def writer(self, key: str) -> Iterator[BinaryIO]:
        unfinished = self._unfinished / f"{os.getpid()}-{secrets.token_hex(8)}"
        with self._translated():
            make_folder(self._unfinished)
            out = open_private(unfinished, "xb")
        try:
            with out:
                # The caller's block may also raise a lost connection: only errors of the disk are ours.
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

    @contextmanager
    def part(self, key: str, size: int | None = None) -> Iterator[_Part]:  # noqa: ARG002 - asking costs nothing here
        place = self._unfinished / f"{_named(key)}{_PART}"
        with self._translated():
            make_folder(self._unfinished)
            part = _Part.taken_up(place) or _Part.unshared(place.with_name(f"{os.getpid()}-{secrets.token_hex(8)}"))
        try:
            with self._translated(_DISK):
                yield part
            if part.whole:
                with self._translated():
                    part.make_sure()
                    part.forget()
                    self._publish(part.place, self._path(key))
        finally:
            part.leave()

    def open(self, key: str) -> BinaryIO:
        with self._translated():
            try:
                return self._path(key).open("rb")
            except FileNotFoundError as error:
                raise Permanent(
                    say("store.no_file", key=key), code="FILE_MISSING", hint=say("store.no_file_fix")
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
        name = _named(key)
        return self._folder / name[:2] / name[2:4] / name

    def _publish(self, unfinished: Path, path: Path) -> None:
        """The rename is atomic; the folder is synced so that it also outlives a power cut."""
        make_folder(path.parent)
        unfinished.replace(path)
        if os.name == "posix":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _sweep(self, before: float) -> None:
        """Deletes files that killed processes left."""
        if self._unfinished.is_dir():
            for left in self._unfinished.iterdir():
                with suppress(FileNotFoundError):  # another process has just finished it
                    part_of_a_file = left.suffix in (_PART, _NOTE)
                    if left.stat().st_mtime < before - (_STALE_PART_S - _STALE_S) * part_of_a_file:
                        left.unlink()

    @contextmanager
    def _translated(self, only: frozenset[int] | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if only is not None and error.errno not in only:
                raise
            way_out = _HINTS.get(error.errno or 0, say("store.do.disk"))
            raise Halted(
                say("store.folder_io", folder=self._folder, why=error.strerror or error),
                code="STORE_FULL" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "STORE_IO",
                hint=say("store.saved", do=way_out),
            ) from error


def _named(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


@prepared
class _Note(msgspec.Struct):
    """Next to a part: its version, and how many of its bytes are synced to disk."""

    version: str
    sure: int


class _Part:
    """A file and a note next to it. The lock on the file covers both and ends with its process."""

    def __init__(self, place: Path, out: BinaryIO, *, shared: bool) -> None:
        self.place = place
        self.whole = False
        self._out = out
        self._note_at = place.with_suffix(_NOTE) if shared else None
        self._version = ""
        self.sure = self.length = 0

    @classmethod
    def taken_up(cls, place: Path) -> _Part | None:
        """None while another process has it, and on Windows, where every download restarts."""
        if sys.platform == "win32":
            return None
        while True:
            out = open_private(place, "ab+")
            try:
                fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(out.fileno()), place.stat()):
                    part = cls(place, out, shared=True)
                    part._recall()
                    return part
            except BlockingIOError:
                out.close()
                return None
            except FileNotFoundError:
                pass  # the process that had it has published it meanwhile
            out.close()

    @classmethod
    def unshared(cls, place: Path) -> _Part:
        return cls(place, open_private(place, "xb"), shared=False)

    def holds(self, version: str) -> bool:
        return bool(self.length) and bool(version) and version == self._version

    def begin(self, version: str) -> None:
        self.forget()
        self._out.truncate(0)
        self._out.seek(0)
        self._version = version if self._note_at else ""
        self.sure = self.length = 0

    def write(self, data: bytes) -> int:
        self._out.write(data)
        self.length += len(data)
        if self._version and self.length - self.sure >= _BLOCK_BYTES:
            self.make_sure()
            self._note()
        return len(data)

    def publish(self) -> None:
        self.whole = True

    def make_sure(self) -> None:
        self._out.flush()
        os.fsync(self._out.fileno())
        self.sure = self.length

    def forget(self) -> None:
        if self._note_at:
            self._note_at.unlink(missing_ok=True)

    def leave(self) -> None:
        """A published part has left its place; a part that cannot be continued is deleted too."""
        try:
            if self._note_at is None or not self._note_at.exists():
                self._drop()
        finally:
            self._out.close()

    def _drop(self) -> None:
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._out.fileno()), self.place.stat()):
                self.place.unlink()

    def _note(self) -> None:
        assert self._note_at is not None  # noqa: S101 (only what has one has a version)
        fresh = self._note_at.with_suffix(".new")
        with open_private(fresh, "wb") as out:
            out.write(msgspec.json.encode(_Note(self._version, self.sure)))
        fresh.replace(self._note_at)

    def _recall(self) -> None:
        """After a power cut, bytes beyond the synced ones may be anything."""
        try:
            assert self._note_at is not None  # noqa: S101
            note = msgspec.json.decode(self._note_at.read_bytes(), type=_Note)
        except (FileNotFoundError, msgspec.DecodeError):
            note = _Note("", 0)
        if note.sure <= os.fstat(self._out.fileno()).st_size:
            self._version, self.sure, self.length = note.version, note.sure, note.sure
        self._out.truncate(self.length)
        self._out.seek(self.length)
