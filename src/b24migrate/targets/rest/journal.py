"""The journal of creates on the box, in the store: the box has no idempotency keys.

A create whose answer was lost may still succeed on the box, which cannot be told to refuse it. `PendingCreates` makes a
repeat wait until the first one must have ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from b24migrate.messages import say
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.records import Json
from b24migrate.ports import NATIVE, Clock, RegisterRow, Store

if TYPE_CHECKING:
    from b24migrate.targets.rest.box import Box

AT_ONCE = 500
LONGEST_S = 60.0  # of one call: then PHP or the web server aborts it
OVER = timedelta(minutes=5)  # a create that started earlier has ended
GLANCE_S = 10.0  # between two looks for the record
UNSEEN = frozenset({"TIMEOUT", "HTTP_504"})  # the caller stopped waiting; the call may go on


class State(StrEnum):
    BEGUN = "begun"  # the create may have arrived or not
    MADE = "made"  # it is there, and not complete yet
    DONE = "done"
    LINKED = "linked"  # the box had it already
    GONE = "gone"  # deleted again


class JournalEntry(NamedTuple):
    key: str
    state: State
    target_id: str = ""
    digest: str = ""
    trace: Json = None
    print: str = ""  # fingerprint of the record right after it was written
    begun: str = ""  # by whom and when, as long as the result is unknown
    version: int = 0  # of the row, when it was looked up


class Journal:
    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, stream: str, keys: Sequence[str]) -> dict[str, JournalEntry]:
        found = map(_decode, self._store.rows_of(NATIVE, [f"{stream}:{key}" for key in keys]).values())
        return {one.key: one for one in found if one.state is not State.GONE}

    def write(self, stream: str, some: Sequence[JournalEntry]) -> None:
        if some:
            self._store.write(NATIVE, [_row(stream, one) for one in some])

    def begin(self, stream: str, intent: JournalEntry) -> bool:
        """False if another process has started or done it since it was looked up."""
        row = _row(stream, intent)
        if self._store.swap(NATIVE, row):
            return True
        if intent.version:
            return False
        there = self._store.read(NATIVE, row.key)
        gone = there is not None and there.values["State"] == State.GONE
        return there is not None and gone and self._store.swap(NATIVE, row._replace(version=there.version))

    def first(self, stream: str, done: JournalEntry) -> JournalEntry:
        """The result of the first process, if several have done it."""
        row = _row(stream, done)
        while True:
            there = self._store.read(NATIVE, row.key)
            if there is not None and there.values["State"] == State.DONE:
                return _decode(there)
            if self._store.swap(NATIVE, row._replace(version=there.version if there else 0)):
                return done

    def forget(self, stream: str, keys: Sequence[str]) -> None:
        """Rows are erased by how they begin, which would take others along."""
        self.write(stream, [JournalEntry(key, State.GONE) for key in keys])

    def walk(self, stream: str, beginning: str = "") -> Iterator[list[JournalEntry]]:
        """The entries of a stream whose keys start with this, some hundred at a time."""
        after: str | None = ""
        while after is not None:
            some, after = self.stretch(stream, after, beginning)
            yield some

    def stretch(self, stream: str, after: str, beginning: str = "") -> tuple[list[JournalEntry], str | None]:
        """The next some hundred behind the cursor ("": from the beginning), and the next cursor; None at the end. A
        stretch may be empty before it: of what was deleted again only the place is left."""
        rows = self._store.some_rows(NATIVE, f"{stream}:{beginning}", after and f"{stream}:{after}", AT_ONCE)
        known = [one for one in map(_decode, rows) if one.state is not State.GONE]
        return known, rows[-1].key.partition(":")[2] if rows else None

    def note(self, name: str) -> Json:
        row = self._store.read(NATIVE, f"note:{name}")
        return row.values.get("Trace") if row else None

    def keep(self, name: str, value: Json) -> None:
        """A fact about the box that must not change. The first value stays."""
        values: Mapping[str, Json] = {"Stream": "note", "Trace": value}
        self._store.swap(NATIVE, RegisterRow(f"note:{name}", values))


def _row(stream: str, one: JournalEntry) -> RegisterRow:
    values = {
        "Stream": stream,
        "TargetId": one.target_id,
        "Digest": one.digest,
        "State": one.state.value,
        "Print": one.begun if one.state is State.BEGUN else one.print,
        "Trace": one.trace,
    }
    return RegisterRow(f"{stream}:{one.key}", values, one.version)


def _decode(row: RegisterRow) -> JournalEntry:
    values = row.values
    key = row.key.partition(":")[2]
    target_id, fingerprint, digest = (str(values.get(name) or "") for name in ("TargetId", "Print", "Digest"))
    state = State(str(values["State"]))
    prints = ("", fingerprint) if state is State.BEGUN else (fingerprint, "")
    return JournalEntry(key, state, target_id, digest, values.get("Trace"), *prints, row.version)


class PendingCreates:
    """Of one process. Its own creates have ended when it looks for them, except those that timed out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._me = token_hex(4)
        self._until: dict[tuple[str, str], float] = {}  # by key and the signature of the process that began it

    def signature(self) -> str:
        """The process and the time, stored with every intent."""
        return f"{self._me} {self._clock.now().isoformat()}"

    def gave_up(self, keys: Iterable[str], error: Transient) -> float:
        """How long to wait before any of them is repeated."""
        if error.code not in UNSEEN:
            return 0.0
        self._until |= dict.fromkeys(((key, self._me) for key in keys), self._clock.monotonic() + LONGEST_S)
        return LONGEST_S

    def refuse(self, begun: Mapping[str, str]) -> None:
        """Raises Limited while one of these creates, which was not found, may still succeed: the key of each, and the
        signature of the process that began it."""
        wait_s = max((self._left_s(key, signature) for key, signature in begun.items()), default=0.0)
        if wait_s > 0:
            raise busy_error(min(wait_s, GLANCE_S))

    def _left_s(self, key: str, signature: str) -> float:
        now = self._clock.monotonic()
        who, _, at = signature.partition(" ")
        if at and who != self._me and (key, signature) not in self._until:
            over_s = (datetime.fromisoformat(at) + OVER - self._clock.now()).total_seconds()
            self._until[key, signature] = now + min(LONGEST_S, over_s)
        return max(self._until.get((key, one), now) for one in (signature, self._me)) - now


def busy_error(wait_s: float = GLANCE_S) -> Limited:
    return Limited(say("target.busy"), wait_s=wait_s)


def set_mark(box: Box, kind: str, stream: str, key: str, *, value: Json = True) -> None:
    """A mark that does not exist is not removed."""
    if not value and not _has_marks(box, kind, stream):
        return
    box.store.write(NATIVE, [RegisterRow(_mark_row(kind, stream, key), {"Stream": kind, "Trace": value or None})])
    box.forget(_mark_name(kind, stream))


def is_marked(box: Box, kind: str, stream: str, key: str) -> bool:
    return bool(read_mark(box, kind, stream, key))


def read_mark(box: Box, kind: str, stream: str, key: str) -> Json:
    """The value of the mark; None without one."""
    row = box.store.read(NATIVE, _mark_row(kind, stream, key)) if _has_marks(box, kind, stream) else None
    return row.values.get("Trace") if row is not None else None


def _has_marks(box: Box, kind: str, stream: str) -> bool:
    """Rarely; without marks no row is read."""
    return box.kept(
        _mark_name(kind, stream), lambda: bool(box.store.some_rows(NATIVE, _mark_row(kind, stream, ""), "", 1))
    )


def _mark_name(kind: str, stream: str) -> str:
    return f"{kind} {stream}"


def _mark_row(kind: str, stream: str, key: str) -> str:
    return f"{kind}:{stream}:{key}"
