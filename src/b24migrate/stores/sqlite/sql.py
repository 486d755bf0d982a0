"""How times, keys and rows are written in SQL."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TypeVar

from b24migrate.messages import unpack
from b24migrate.model.records import Record, Span, Status, Table, decode_losses

T = TypeVar("T")

PENDING = "Status IN ('NEW', 'ERROR_RETRY')"
FAILED = "Status IN ('IMPORT_ERR', 'ERROR_RETRY')"
IMPORTED = "Status = 'IMPORT_OK'"

# In the order of `Record`. The payload comes back as the bytes it was, without a decoding in between.
RECORD = (
    "RowKey, Status, CAST(Payload AS BLOB), PayloadHash, CAST(Extras AS BLOB), Attempts, LastErrorCode, LastError,"
    " RetryAfterUtc, TargetId, PulledThrough, NaturalKey, Revision, Losses, LastErrorMessage, DeletedUtc, Pass"
)
_STATUSES = {status.value: status for status in Status}
_LAST = "\x7f"  # after every order key: they begin with a letter or `~`


def sql(template: str, table: Table, **parts: str) -> str:
    """Fills a statement in. Names of tables come from the catalog, never from a portal."""
    return template.format(table=table.name, record=RECORD, pending=PENDING, failed=FAILED, **parts)


def record(row: tuple[Any, ...]) -> Record:
    key, status, payload, digest, extras, attempts, code, error, after, target, pulled, natural, revision, *more = row
    known = _STATUSES[status]
    losses, message, deleted, pass_no = more
    return Record(
        key,
        known,
        payload,
        digest,
        extras,
        attempts,
        code,
        unpack(error, message),
        after,
        target,
        bool(pulled),
        natural,
        revision,
        decode_losses(losses),
        deleted,
        pass_no,
    )


def bounds(span: Span) -> tuple[str, str]:
    return span.lo, span.hi or _LAST


def beginning(prefix: str) -> tuple[str, str]:
    """The first and the last text with this prefix."""
    return prefix, prefix + "\U0010ffff"


def text(moment: datetime) -> str:
    """ISO 8601, UTC, microseconds, `Z`: sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def same_form(stamp: str | None) -> str | None:
    """A time from elsewhere, written as we write times."""
    return text(moment(stamp)) if stamp else None


# A connection keeps the statements that it prepared. Each length is another one; with 500 marks it takes 100 KB.
_LENGTHS = (1, 2, 5, 10, 25, 50, 100, 250, 500)


def chunks(items: Sequence[T]) -> Iterator[list[T]]:
    """Parts for `IN (…)`, of few lengths: the last item is repeated."""
    longest = _LENGTHS[-1]
    for start in range(0, len(items), longest):
        some = list(items[start : start + longest])
        length = next(one for one in _LENGTHS if one >= len(some))
        yield some + some[-1:] * (length - len(some))


def marks(count: int) -> str:
    return ", ".join(["?"] * count)


# rows in a statement; the largest stays below 999 variables, the limit of older libraries
SIZES = (90, 10, 1)
ONE_BY_ONE = (1,)


def execute_many(
    connection: sqlite3.Connection, template: str, rows: Sequence[tuple[Any, ...]], *, sizes: Sequence[int] = SIZES
) -> None:
    """Runs the statement, whose `{rows}` becomes a list of values, for all rows in their order."""
    left, rest = len(rows), iter(rows)
    for size in sizes:
        while left >= size:
            values = list(chain.from_iterable(islice(rest, size)))
            connection.execute(_filled(template, size, len(values) // size), values)
            left -= size


@lru_cache(maxsize=1024)
def _filled(template: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return template.format(rows=", ".join([row] * rows))


_ADD = """
INSERT INTO Tallies (TableName, Status, Records, PulledThrough) VALUES (?, ?, ?, ?)
ON CONFLICT (TableName, Status)
DO UPDATE SET Records = Records + excluded.Records, PulledThrough = PulledThrough + excluded.PulledThrough
"""


class Tally:
    """The changes of one transaction to the numbers of one table."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._records: defaultdict[str, int] = defaultdict(int)
        self._pulled: defaultdict[str, int] = defaultdict(int)

    def add(self, status: str, records: int, pulled: int) -> None:
        self._records[status] += records
        self._pulled[status] += pulled

    def move(self, status: str, pulled: bool, to: str, to_pulled: bool) -> None:
        self.add(status, -1, -int(pulled))
        self.add(to, 1, int(to_pulled))

    def write(self, connection: sqlite3.Connection) -> None:
        rows = [(self._table, status, count, self._pulled[status]) for status, count in self._records.items()]
        connection.executemany(_ADD, [row for row in rows if row[2] or row[3]])
