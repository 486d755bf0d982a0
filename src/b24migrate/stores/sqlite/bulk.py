"""Many rows in one statement: each statement lets go of the interpreter, and a crowd of threads would fight for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

# rows in a statement; the largest stays below 999 variables, the limit of older libraries
SIZES = (90, 10, 1)
ONE_BY_ONE = (1,)


def execute(
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
