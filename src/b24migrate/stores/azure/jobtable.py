"""The table of jobs: what is asked of it, and changes that happen only if nobody was faster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from azure.core.exceptions import HttpResponseError, ResourceModifiedError, ResourceNotFoundError, ServiceResponseError
from azure.data.tables import UpdateMode

from b24migrate.model.records import Json
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import translated
from b24migrate.stores.azure.jobs import DEAD, ID, JOB, PARTITION, TABLE, Row, id_key
from b24migrate.stores.azure.keys import prefix_range
from b24migrate.stores.azure.transactions import Operation, if_unchanged

_WITHIN = "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last"
_GONE_OR_CHANGED = (404, 409, 412)


class JobTable:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._table = account.table(TABLE)

    # ------------------------------------------------------------ questions

    def visible(self, now: str, most: int) -> list[Row]:
        """The oldest first, whole."""
        return list(islice(self._rows(JOB, "VisibleAt le @now", {"now": now}, most), most))

    def jobs(self, scope: str = "") -> list[Row]:
        """The oldest first, whole."""
        return list(self._rows(JOB, "Scope eq @scope" if scope else "", {"scope": scope}))

    def owned(self, prefix: str) -> list[Row]:
        """Held, or not given back, by an owner that begins so."""
        found = self._rows(JOB, "Owner gt '' and Owner ge @prefix", {"prefix": prefix})
        return [row for row in found if row.owner.startswith(prefix)]

    def unheard(self, now: str, since: str, most: int) -> list[Row]:
        """Visible ones without a message, or with one that should have been received long since."""
        asked = {"now": now, "since": since}
        found = self._rows(JOB, "VisibleAt le @now and MessageAt le @since", asked, most)
        return list(islice(found, most))

    def first_visible_at(self) -> str | None:
        return min((row.visible_at for row in self._rows(JOB, select=("RowKey", "VisibleAt"))), default=None)

    def letters(self, scope: str = "") -> list[Row]:
        beginning, asked = (f"{DEAD}{scope}:", "Scope eq @scope") if scope else (DEAD, "")
        return sorted(self._rows(beginning, asked, {"scope": scope}), key=lambda row: str(row.values["Age"]))

    def count_letters(self) -> int:
        return sum(1 for _ in self._rows(DEAD, select=("RowKey",)))

    def held(self, now: str) -> int:
        return sum(1 for _ in self._rows(JOB, "Token gt '' and VisibleAt gt @now", {"now": now}, select=("RowKey",)))

    def count(self, scope: str) -> int:
        """How many jobs a scope has: never 0 while there is one, or what followed it.

        The ids of a scope lie side by side, so what is missing from all of them is missing from a single answer, which
        shows the partition at one moment; and at every moment either a job is there or what follows it. Only an answer
        that came in pieces shows several moments: then a 0 proves nothing, and the question is asked again.
        """
        while True:
            counted, pieces = 0, 0
            for page in self._pages(f"{ID}{scope}:", "Scope eq @scope", {"scope": scope}, select=("RowKey",)):
                counted += sum(1 for _ in page)
                pieces += 1
            if counted or pieces <= 1:
                return counted

    def ids(self, most: int) -> set[str]:
        """The keys under which ids are kept, `most` of them."""
        return {row.key for row in islice(self._rows(ID, most=most, select=("RowKey",)), most)}

    def named(self, job_id: str) -> Row | None:
        mark = self.get(id_key(job_id))
        return self.get(JOB + str(mark.values["Age"])) if mark else None

    def ages(self, job_ids: Collection[str]) -> dict[str, str]:
        """Of those that are there."""
        found = zip(job_ids, self._account.side_by_side(self.get, map(id_key, job_ids)), strict=True)
        return {job_id: str(mark.values["Age"]) for job_id, mark in found if mark}

    def get(self, key: str) -> Row | None:
        with translated(self._account.place):
            try:
                found = self._table.get_entity(PARTITION, key)
            except ResourceNotFoundError:
                return None
        return _row(found)

    # ------------------------------------------------------------ changes

    def change(self, row: Row, values: Mapping[str, Json]) -> Row | None:
        """Of the row only these. None when it is not as it was, or when this very change went through already and
        its answer was lost: who needs to know reads the row."""
        part = {"PartitionKey": PARTITION, "RowKey": row.key, **values}
        with translated(self._account.place):
            try:
                done = self._table.update_entity(part, mode=UpdateMode.MERGE, **if_unchanged(row.etag))
            except (ResourceModifiedError, ResourceNotFoundError, ServiceResponseError):
                return None
        return row.with_values(values, str(done["etag"]))

    def submit(self, operations: Sequence[Operation]) -> list[str] | None:
        """All or nothing; the new etags. None when something is not as it was, or the answer was lost."""
        with translated(self._account.place):
            try:
                done = self._account.submit(TABLE, operations)
            except ServiceResponseError:
                return None
            except HttpResponseError as error:
                if error.status_code not in _GONE_OR_CHANGED:
                    raise
                return None
        return [str(one.get("etag", "")) for one in done]

    # ------------------------------------------------------------ how it is asked

    def _rows(
        self,
        beginning: str,
        asked: str = "",
        named: Mapping[str, Any] | None = None,
        most: int | None = None,
        select: Sequence[str] | None = None,
    ) -> Iterator[Row]:
        for page in self._pages(beginning, asked, named, most, select):
            yield from map(_row, page)

    def _pages(
        self,
        beginning: str,
        asked: str = "",
        named: Mapping[str, Any] | None = None,
        most: int | None = None,
        select: Sequence[str] | None = None,
    ) -> Iterator[Any]:
        first, last = prefix_range(beginning)
        within = {"partition": PARTITION, "first": first, "last": last, **(named or {})}
        with translated(self._account.place):
            yield from self._table.query_entities(
                f"{_WITHIN} and {asked}" if asked else _WITHIN,
                parameters=within,
                results_per_page=most,
                select=list(select) if select else None,
            ).by_page()


def _row(found: Any) -> Row:
    return Row(found, str(found.metadata.get("etag", "")))
