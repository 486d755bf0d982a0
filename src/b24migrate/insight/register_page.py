"""A page of a register that may be as long as a table: for one answer only so many rows are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from b24migrate.ports import Register, RegisterRow, Store

AT_ONCE = 500
MOST_READ = 5000  # for one page


class RowPage(NamedTuple):
    """`next`: where the next page begins; None at the end. A page may be empty and have a `next`."""

    rows: list[RegisterRow]
    next: str | None


def read_page(
    store: Store,
    register: Register,
    prefix: str,
    after: str,
    limit: int,
    *,
    is_wanted: Callable[[RegisterRow], bool] | None,
) -> RowPage:
    if is_wanted is None:
        rows = store.some_rows(register, prefix, after, limit + 1)
        return RowPage(rows[:limit], rows[limit - 1].key if len(rows) > limit else None)
    found: list[RegisterRow] = []
    for _ in range(MOST_READ // AT_ONCE):
        rows = store.some_rows(register, prefix, after, AT_ONCE)
        for row in filter(is_wanted, rows):
            if len(found) == limit:
                return RowPage(found, found[-1].key)
            found.append(row)
        if len(rows) < AT_ONCE:
            return RowPage(found, None)
        after = rows[-1].key
    return RowPage(found, after)
