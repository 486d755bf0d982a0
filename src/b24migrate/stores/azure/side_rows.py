"""Reading and writing the rows beside the records: shards, and after them segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from b24migrate.model.records import Table
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import CONFLICTS, error_code, translated
from b24migrate.stores.azure.shards import AFTER_SHARDS, BASE
from b24migrate.stores.azure.transactions import Operation


def rows_beside(account: Account, table: Table, end: str, select: list[str] | None) -> list[Any]:
    """From the base up to the key `end`. The shards among them are as of one moment: what is added up from one to
    another is neither missing nor there twice. Nor is what moved on from shards to segments missing."""
    said = f"PartitionKey eq '{table.partition}' and RowKey ge '{BASE}' and RowKey lt '{end}'"
    with translated(account.place):
        while True:
            answer = account.table(table.name).query_entities(said, select=select).by_page()
            pages = [rows for page in answer if (rows := list(page))]
            # One page is of one moment. Several are, if nothing was added up meanwhile.
            if _is_past_shards(pages) or _etags(pages[0]) == _etags([row_beside(account, table, BASE)]):
                return [row for page in pages for row in page]


def row_beside(account: Account, table: Table, key: str) -> Any:
    with translated(account.place):
        try:
            return account.table(table.name).get_entity(table.partition, key)
        except ResourceNotFoundError as error:
            if error_code(error) == "TableNotFound":
                raise
            return None


def written_beside(account: Account, table: Table, operations: Sequence[Operation]) -> bool:
    """False when somebody else was faster."""
    with translated(account.place):
        try:
            account.submit(table.name, operations)
        except HttpResponseError as error:
            if error_code(error) not in CONFLICTS:
                raise
            return False
    return True


def _is_past_shards(pages: list[list[Any]]) -> bool:
    return len(pages) < 2 or str(pages[0][-1]["RowKey"]) >= AFTER_SHARDS


def _etags(rows: Iterable[Any]) -> list[str]:
    return [row.metadata["etag"] for row in rows if row and row["RowKey"] == BASE]
