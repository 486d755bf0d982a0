"""Where a report is written: whole, under names of our own, and never over what is not ours."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.private_files import FOLDER, make_folder

PAGE = "report.html"
MARK = b'<meta name="generator" content="b24migrate '
WITHIN = 2000  # bytes of the page's beginning that have the mark
CODE = "REPORT_NOT_WRITTEN"
FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing(out: Path, names: Sequence[str], *, force: bool) -> Iterator[Path]:
    """Gives a folder to write into. When the block ends without an error, its files appear in `out`, the page last;
    otherwise nothing is there that was not there before. Raises BadConfiguration."""
    fresh = None
    try:
        _refuse_others(out, names, force=force)
        beside = out if out.is_dir() else _parent(out)
        fresh = beside / f".b24migrate-report-{token_hex(4)}"
        fresh.mkdir(FOLDER)
        yield fresh
        _appear(fresh, out, names)
    except OSError as error:
        if error.errno in FULL:
            raise
        reason = error.strerror or str(error)
        raise BadConfiguration(
            say("report.place.unwritable", out=out, reason=reason), code=CODE, hint=say("report.place.other")
        ) from None
    finally:
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)


def _parent(out: Path) -> Path:
    make_folder(out.parent)
    return out.parent


def _refuse_others(out: Path, names: Sequence[str], *, force: bool) -> None:
    """An earlier report may be replaced; a file that only has the name of ours may not."""
    if os.path.lexists(out) and not out.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if any((out / name).is_dir() for name in names):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not out.is_dir() or force or is_ours(out / PAGE):
        return
    if taken := [name for name in names if os.path.lexists(out / name)]:
        raise BadConfiguration(
            say("report.place.taken", file=out / taken[0]),
            code=CODE,
            hint=say("report.place.taken_fix"),
        )


def is_ours(page: Path) -> bool:
    try:
        with page.open("rb") as file:
            return MARK in file.read(WITHIN)
    except OSError:
        return False


def _appear(fresh: Path, out: Path, names: Sequence[str]) -> None:
    for name in names:
        with (fresh / name).open("rb") as file:
            os.fsync(file.fileno())
    for rest in set(fresh.iterdir()) - {fresh / name for name in names}:
        rest.unlink()
    if not out.is_dir():
        fresh.rename(out)
        return
    for name in sorted(names, key=lambda one: one == PAGE):
        (fresh / name).replace(out / name)
