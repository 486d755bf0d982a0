"""The embedded store: records, registers, queue and files, in one SQLite file and a folder beside it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from b24migrate.model.records import Json
from b24migrate.stores.sqlite.copy import MovingRoom
from b24migrate.stores.sqlite.database import Database
from b24migrate.stores.sqlite.files import FolderFiles
from b24migrate.stores.sqlite.queue import SqliteQueue
from b24migrate.stores.sqlite.records import RecordRoom
from b24migrate.stores.sqlite.registers import RegisterRoom
from b24migrate.stores.sqlite.schema import VERSION
from b24migrate.stores.sqlite.settle import SettlingRoom
from b24migrate.stores.sqlite.stage import StagingRoom

__all__ = ["Database", "FolderFiles", "SqliteQueue", "SqliteStore"]


class SqliteStore(StagingRoom, RecordRoom, SettlingRoom, RegisterRoom, MovingRoom):
    def __init__(self, database: Database) -> None:
        self.database = database

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
