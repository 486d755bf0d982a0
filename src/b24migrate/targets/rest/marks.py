"""Few records of which something must be remembered that nobody could foretell: rules ask for it."""

from __future__ import annotations

from b24migrate.ports import NATIVE, RegisterRow
from b24migrate.targets.rest.box import Box


def set_mark(box: Box, kind: str, stream: str, key: str, *, value: bool = True) -> None:
    """Nothing is written to take back a mark that there never was."""
    if not value and not _has_marks(box, kind, stream):
        return
    box.store.write(NATIVE, [RegisterRow(_row(kind, stream, key), {"Stream": kind, "Trace": value or None})])
    box.forget(_name(kind, stream))


def is_marked(box: Box, kind: str, stream: str, key: str) -> bool:
    row = box.store.read(NATIVE, _row(kind, stream, key)) if _has_marks(box, kind, stream) else None
    return row is not None and bool(row.values.get("Trace"))


def _has_marks(box: Box, kind: str, stream: str) -> bool:
    """Hardly ever, and then nothing more needs to be asked."""
    return box.kept(_name(kind, stream), lambda: bool(box.store.some_rows(NATIVE, _row(kind, stream, ""), "", 1)))


def _name(kind: str, stream: str) -> str:
    return f"{kind} {stream}"


def _row(kind: str, stream: str, key: str) -> str:
    return f"{kind}:{stream}:{key}"
