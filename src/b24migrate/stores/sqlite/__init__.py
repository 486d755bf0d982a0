"""The embedded store: records, registers, queue and files, in one SQLite file and a folder next to it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from b24migrate.model.records import COLUMNS, LONGEST_ERROR, Json, Span, Table, order_key
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.files import FolderFiles
from b24migrate.stores.sqlite.queue import SqliteQueue
from b24migrate.stores.sqlite.records import RecordMethods
from b24migrate.stores.sqlite.registers import RegisterMethods
from b24migrate.stores.sqlite.schema import VERSION
from b24migrate.stores.sqlite.settle import SettleMethods
from b24migrate.stores.sqlite.sql import Tally, bounds, chunks, execute_many, marks, sql
from b24migrate.stores.sqlite.stage import StageMethods

_BYTES = frozenset({"Payload", "Extras"})  # text in the file, so that people can read it
_EXPORT = 'SELECT {columns} FROM "{table}" WHERE Ord > ? AND Ord <= ? ORDER BY Ord LIMIT ?'
_EXPORTED = ", ".join(f"CAST({name} AS BLOB)" if name in _BYTES else name for name in COLUMNS)
_RESTORE = """
INSERT INTO "{table}" (Ord, {columns}) SELECT column1, {values} FROM (VALUES {rows}) WHERE true
ON CONFLICT (Ord) DO UPDATE SET {settings}
"""
_RESTORED = ", ".join(
    f"CAST(column{place} AS TEXT)" if name in _BYTES else f"column{place}" for place, name in enumerate(COLUMNS, 2)
)
_SETTINGS = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS)
_BEFORE = 'SELECT Status, PulledThrough FROM "{table}" WHERE Ord IN ({marks})'
_SIZES = (39, 10, 1)  # the largest stays below 999 variables, the limit of older libraries


class CopyMethods:
    database: Database

    def export(self, table: Table, span: Span, limit: int) -> list[Mapping[str, Json]]:
        query = sql(_EXPORT, table, columns=_EXPORTED)
        with self.database.reading() as connection:
            rows = [dict(zip(COLUMNS, row, strict=True)) for row in connection.execute(query, (*bounds(span), limit))]
        return [{**row, **_cut(row), "PulledThrough": bool(row["PulledThrough"])} for row in rows]

    def restore(self, table: Table, rows: Sequence[Mapping[str, Json]]) -> None:
        by_order = {order_key(row["RowKey"]): row for row in rows}
        values = [(key, *(row[name] for name in COLUMNS)) for key, row in by_order.items()]
        parts = {"columns": ", ".join(COLUMNS), "values": _RESTORED, "settings": _SETTINGS, "rows": "{rows}"}
        tally = Tally(table.name)
        with self.database.writing() as connection:
            for chunk in chunks(list(by_order)):
                for status, pulled in connection.execute(sql(_BEFORE, table, marks=marks(len(chunk))), chunk):
                    tally.add(status, -1, -pulled)
            for row in by_order.values():
                tally.add(row["Status"], 1, int(row["PulledThrough"]))
            execute_many(connection, sql(_RESTORE, table, **parts), values, sizes=_SIZES)
            tally.write(connection)


def _cut(row: Mapping[str, Json]) -> dict[str, Json]:
    """Other stores keep no more of it: uncut, a copy would differ for ever."""
    return {name: row[name] and row[name][:LONGEST_ERROR] for name in ("LastError", "LastErrorCode")}


__all__ = ["Database", "FolderFiles", "SqliteQueue", "SqliteStore"]


class SqliteStore(StageMethods, RecordMethods, SettleMethods, RegisterMethods, CopyMethods):
    def __init__(self, database: Database) -> None:
        self.database = database
        self._decoded = {}

    def describe(self) -> Mapping[str, Json]:
        with self.database.reading() as connection:
            (size,) = connection.execute(
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            ).fetchone()
        path = self.database.path
        return {
            "kind": "sqlite",
            "place": self.database.place,
            "version": VERSION,
            "bytes": size,
            "free_bytes": shutil.disk_usage(path.parent).free if path else None,
        }

    def close(self) -> None:
        self.database.close()
