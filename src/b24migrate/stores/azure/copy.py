"""Whole rows out of one store and into another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from b24migrate.model.records import Json, Span, Table
from b24migrate.stores.azure.changes import ChangingRoom, Plan
from b24migrate.stores.azure.find import EVERY
from b24migrate.stores.azure.rows import contents_of, entity_of, face_of, rows_of
from b24migrate.stores.azure.shards import Face, Tally
from b24migrate.stores.azure.stage import added
from b24migrate.stores.azure.transactions import create, replace

Row = Mapping[str, Json]


class MovingRoom(ChangingRoom):
    def export(self, table: Table, span: Span, limit: int) -> list[Row]:
        keys = self.order.keys(table, span)
        found = list(islice(self.finder.matching(table, keys, EVERY, None, first=max(1, limit)), limit))
        return list(rows_of(found, contents_of(found, self.blobs, self.account.side_by_side)))

    def restore(self, table: Table, rows: Sequence[Row]) -> None:
        by_key = {row["RowKey"]: row for row in rows}

        def plan(key: str, old: Any) -> Plan[str]:
            return _restored(table, by_key[key], old)

        # Nearly always nothing is there yet; where something is, the first transaction says so, and then it is read.
        for _ in self._change(table, list(by_key), str, plan, {}):
            pass


def _restored(table: Table, row: Row, old: Any) -> Plan[str]:
    made, large = entity_of(table, row)
    tally = Tally().leave(face_of(old)) if old else Tally()
    tally.enter(Face(row["Status"], bool(row["PulledThrough"]), row["LastErrorCode"]))
    operation = replace(made, old.metadata["etag"]) if old else create(made)
    return Plan(row["RowKey"], operation, tally, added(row["RowKey"], row["NaturalKey"]), large)
