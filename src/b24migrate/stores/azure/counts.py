"""Writing records together with the numbers that count them, and the order that finds them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError

from b24migrate.model.errors import MigrationError
from b24migrate.model.records import Table
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import CONFLICTS, error_code, translate
from b24migrate.stores.azure.order import segments_of
from b24migrate.stores.azure.shards import (
    AFTER_SHARDS,
    BASE,
    NOTHING,
    SHARD,
    Added,
    Shard,
    Tally,
    packed_numbers,
    properties_of,
    row_beside,
    rows_beside,
    unpacked_numbers,
    written_beside,
)
from b24migrate.stores.azure.transactions import Operation, create, delete, replace

_WORTH_A_SEGMENT = 3000  # keys
_SEGMENT_BYTES = 120_000
_SOME, _IDLE = 8, timedelta(minutes=15)  # idle shards, before a reader adds them up
_MANY = 100  # shards, before that is done with the oldest
_AT_ONCE = 40
_REMEMBERED = 300  # shards that were added up
_TRIES = 5
_SELECT = ["PartitionKey", "RowKey", "Timestamp", "Token", *properties_of("Numbers")]


class Tallies:
    """The shards of this process: as many for a table as it has writers at once."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._lock = Lock()
        self._free: dict[Table, list[Shard]] = {}
        self._mine: dict[Table, set[str]] = {}

    # ------------------------------------------------------------ writing

    def commit(
        self,
        table: Table,
        operations: Sequence[Operation],
        tally: Mapping[str, float],
        added: Added,
        *,
        patient: bool = True,
    ) -> bool:
        """False if a row changed, or, with `patient`, if the service failed: the caller reads again. The counts are
        right in both cases."""
        with self._shard(table) as held:
            before = held[0]
            recent = Added.of((before.recent, added)) if added != NOTHING else before.recent
            flushed = NOTHING
            if len(recent.keys) > _WORTH_A_SEGMENT or recent.size > _SEGMENT_BYTES:
                flushed, recent = before.recent, added  # the transaction holds one segment
            after = before.after(tally, recent)
            held[:] = []  # until it is known what became of it
            sent = [*operations, after.operation(table), *segments_of(table, flushed)]
            try:
                etag = self._account.submit(table.name, sent)[len(operations)]["etag"]
            except AzureError as error:
                if _is_refusal(error):
                    held[:] = [before]
                    raise translate(error, self._account.place) from error
                if self._arrived(table, after, held):
                    return True
                if patient or error_code(error) in CONFLICTS:
                    return False
                raise translate(error, self._account.place) from error
            held[:] = [Shard(after.name, after.numbers, after.recent, after.token, etag)]
            return True

    def _arrived(self, table: Table, sent: Shard, held: list[Shard]) -> bool:
        """Whether a write without a clear answer was done. Its token shows it, in the shard or, if another process
        added the shard up meanwhile, in the sums."""
        found = row_beside(self._account, table, SHARD + sent.name)
        if found:
            held[:] = [Shard.read(found)]
            return bool(found["Token"] == sent.token)
        return bool(_folded(row_beside(self._account, table, BASE)).get(sent.name) == sent.token)

    @contextmanager
    def _shard(self, table: Table) -> Iterator[list[Shard]]:
        """A shard that no other thread uses, returned afterwards."""
        with self._lock:
            free = self._free.setdefault(table, [])
            held = [free.pop() if free else Shard()]
            self._mine.setdefault(table, set()).add(held[0].name)
        try:
            yield held
        finally:
            with self._lock:
                self._free[table] += held

    # ------------------------------------------------------------ reading

    def read(self, table: Table) -> Tally:
        rows = rows_beside(self._account, table, AFTER_SHARDS, _SELECT)
        if left := _left(row for row in rows if row["RowKey"] != BASE):
            self._add_up(table, left)
        return Tally().plus(*map(unpacked_numbers, rows))

    # ------------------------------------------------------------ adding up

    def close(self) -> None:
        """Leaves no shard behind. One that stays is counted where it is, until there are many."""
        with self._lock:
            mine, self._mine, self._free = self._mine, {}, {}
        for table, names in mine.items():
            with suppress(MigrationError):
                self._leave(table, {SHARD + name for name in names})

    def _leave(self, table: Table, keys: set[str]) -> None:
        for _ in range(_TRIES):
            if self._add_up(table, keys):
                return

    def _add_up(self, table: Table, keys: set[str]) -> bool:
        """In one transaction. False if some are left, because there are many or something changed meanwhile. An owner
        that comes back finds its shard gone and starts another."""
        found = {row["RowKey"]: row for row in rows_beside(self._account, table, AFTER_SHARDS, None)}
        base = found.get(BASE)
        left = [row for key, row in found.items() if key in keys]
        if not left:
            return True
        rows = left[:_AT_ONCE]
        shards = [Shard.read(row) for row in rows]
        numbers = (unpacked_numbers(base) if base else Tally()).plus(*(shard.numbers for shard in shards))
        folded = _folded(base) | {shard.name: shard.token for shard in shards}
        made = {
            "PartitionKey": table.partition,
            "RowKey": BASE,
            "Token": "",
            "Folded": json.dumps(dict(list(folded.items())[-_REMEMBERED:])),
            **packed_numbers(numbers),
        }
        added = Added.of(shard.recent for shard in shards)
        operations = [
            replace(made, base.metadata["etag"]) if base else create(made),
            *(delete(table.partition, row["RowKey"], row.metadata["etag"]) for row in rows),
            *segments_of(table, added),
        ]
        return written_beside(self._account, table, operations) and len(rows) == len(left)


def _folded(base: Any) -> dict[str, str]:
    return dict(json.loads(base["Folded"])) if base else {}


def _left(shards: Iterable[Any]) -> set[str]:
    """Shards whose owners seem to be gone, if there are several; the oldest ones, if there are too many."""
    by_age = sorted(shards, key=_written_at)
    idle = [one for one in by_age if _written_at(by_age[-1]) - _written_at(one) > _IDLE]
    if len(by_age) > _MANY:
        idle = idle or by_age[: _MANY // 2]
    elif len(idle) < _SOME:
        idle = []
    return {one["RowKey"] for one in idle}


def _written_at(row: Any) -> datetime:
    at: datetime = row.metadata["timestamp"]
    return at


def _is_refusal(error: AzureError) -> bool:
    """Whether the service did nothing, and would do nothing the next time."""
    status = error.status_code or 0 if isinstance(error, HttpResponseError) else 0
    return 400 <= status < 500 and status not in (408, 429) and error_code(error) not in CONFLICTS
