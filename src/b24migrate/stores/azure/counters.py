"""Named counters. Each process adds to its own row, a shard, so no process waits for another.

A shard holds absolute numbers and is written only over what its owner wrote last. Shards of ended processes are added
to one row of totals and deleted, in one transaction: they are all in one partition. When an answer was lost on the way,
the token of the write, in the shard or among those that were added up, tells whether it arrived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from secrets import token_hex
from threading import Lock
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.stores.azure.account import Account, Blobs
from b24migrate.stores.azure.failures import CONFLICTS, error_code, translated
from b24migrate.stores.azure.properties import columns, entity
from b24migrate.stores.azure.transactions import Operation, create, delete, replace

TABLE = "Counters"
PARTITION = "counters"
TOTALS = "totals"
_MANY = 40  # shards, before a reader adds them up
_REMEMBERED = 300  # shards that were added up
_TRIES = 50


class Counters:
    def __init__(self, account: Account, blobs: Blobs) -> None:
        self._account = account
        self._blobs = blobs
        self._lock = Lock()
        self._leave()

    def add(self, counters: Mapping[str, float]) -> None:
        added = {name: value for name, value in counters.items() if value}
        if not added:
            return
        token = token_hex(8)
        with self._lock:
            for _ in range(_TRIES):
                if self._begun() and self._write(added, token):
                    return
        raise self._given_up()

    def read(self, prefix: str = "") -> dict[str, float]:
        rows = self._rows()
        if len(rows) > _MANY:
            self._fold(rows)
        return {name: value for name, value in self._sum(rows).items() if name.startswith(prefix)}

    def write(self, counters: Mapping[str, float]) -> None:
        """Whatever was there goes."""
        with self._lock:
            for _ in range(_TRIES):
                rows = self._rows()
                if len(rows) > _MANY:
                    self._fold(rows)
                elif self._sent([*self._gone(_shards(rows)), self._totals(rows, _shards(rows), counters)]):
                    self._leave()
                    return
        raise self._given_up()

    def close(self) -> None:
        """Leaves no shard behind."""
        with self._lock:
            if self._etag:
                self._fold(self._rows(), only=self._shard)
                self._leave()

    # ------------------------------------------------------------ the shard of this process

    def _leave(self) -> None:
        self._shard = token_hex(8)
        self._values: dict[str, float] = {}
        self._etag = ""

    def _begun(self) -> bool:
        """A shard starts empty: if that write is repeated, nothing is counted twice."""
        if not self._etag:
            self._leave()
            self._etag = self._sent([create(self._entity(self._shard, {}, Token=""))])
        return bool(self._etag)

    def _write(self, added: Mapping[str, float], token: str) -> bool:
        values = self._values | {name: self._values.get(name, 0) + value for name, value in added.items()}
        etag = self._sent([replace(self._entity(self._shard, values, Token=token), self._etag)])
        if etag:
            self._values, self._etag = values, etag
            return True
        found = self._row(self._shard)
        if found:
            arrived = bool(found["Token"] == token)
            self._values = values if arrived else self._values  # else an addition that was given up arrived after all
            self._etag = found.metadata["etag"]
            return arrived
        arrived = self._folded(self._row(TOTALS)).get(self._shard) == token
        self._leave()
        return arrived

    def _row(self, key: str) -> Any:
        with translated(self._account.place):
            try:
                return self._account.table(TABLE).get_entity(PARTITION, key)
            except ResourceNotFoundError:
                return None

    # ------------------------------------------------------------ all shards

    def _rows(self) -> list[Any]:
        with translated(self._account.place):
            return list(self._account.table(TABLE).query_entities(f"PartitionKey eq '{PARTITION}'"))

    def _fold(self, rows: list[Any], *, only: str = "") -> None:
        """Adds shards to the totals. If anything changed meanwhile, nothing happens: they count where they are."""
        shards = [row for row in _shards(rows) if only in ("", row["RowKey"])][:_MANY]
        totals = [row for row in rows if row["RowKey"] == TOTALS]
        self._sent([*self._gone(shards), self._totals(rows, shards, self._sum([*totals, *shards]))])

    def _totals(self, rows: list[Any], shards: list[Any], values: Mapping[str, float]) -> Operation:
        before = next((row for row in rows if row["RowKey"] == TOTALS), None)
        folded = self._folded(before) | {row["RowKey"]: row["Token"] for row in shards}
        kept = dict(list(folded.items())[-_REMEMBERED:])
        made = self._entity(TOTALS, {name: value for name, value in values.items() if value}, Folded=kept)
        return replace(made, before.metadata["etag"]) if before else create(made)

    def _folded(self, totals: Any) -> dict[str, str]:
        return dict(columns(totals, self._blobs)["Folded"]) if totals else {}

    def _gone(self, shards: list[Any]) -> list[Operation]:
        return [delete(PARTITION, row["RowKey"], row.metadata["etag"]) for row in shards]

    def _sum(self, rows: Iterable[Any]) -> dict[str, float]:
        summed: Counter[str] = Counter()
        for row in rows:
            summed.update(columns(row, self._blobs)["Values"])
        return dict(sorted(summed.items()))

    def _entity(self, key: str, values: Mapping[str, float], **more: Any) -> dict[str, Any]:
        return entity(PARTITION, key, {"Values": dict(values), **more}, self._blobs)

    def _sent(self, operations: list[Operation]) -> str:
        """The new ETag of the last of them; empty if something has changed."""
        with translated(self._account.place):
            try:
                return str(self._account.submit(TABLE, operations)[-1]["etag"])
            except HttpResponseError as error:
                if error_code(error) in CONFLICTS:
                    return ""
                raise

    def _given_up(self) -> Halted:
        return Halted(
            say("store.busy_counters", place=self._account.place),
            code="STORE_BUSY",
            hint=say("store.again"),
        )


def _shards(rows: Iterable[Any]) -> list[Any]:
    return [row for row in rows if row["RowKey"] != TOTALS]
