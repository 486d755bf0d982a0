"""Staged records: what was read from the source, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from b24migrate.model.records import Record, Renew, Settled, Span, Staged, Staging, Status, Table, renew_by_hash


class Records(Protocol):
    """Staged records of the source."""

    def stage(
        self,
        table: Table,
        records: Sequence[Staged],
        *,
        run: str,
        pass_no: int,
        renew: Renew = renew_by_hash,
        refresh: bool = False,
    ) -> Staging:
        """Upserts by id. A new record is NEW. A known one keeps its status and its content if `payload_hash` is the
        same and its extras tell no more (`has_new_extras`). Otherwise `renew` decides, with what is staged and what
        came: it returns what is written as NEW with Revision + 1, attempts 0 and no error, or None if only the hash is
        another, which is then written. Of records that come without a hash an imported one is NEW again if its extras
        tell more, and else left as it is; the content of others is replaced, their status and hash stay. So is the
        payload of records that failed: the row may be damaged; with `refresh` that of every record, also where what is
        another in it does not count.
        `pulled_through` is kept as first staged, except that a record met again in an ordinary read is no longer
        pulled through. One that was marked as deleted loses the mark, and becomes NEW where it was DELETED.
        `seen`, and with it the counter `seen:<table>:<pass_no>`, counts each record once per pass_no, however often it
        is staged; passes grow, and one met in a later pass is not counted for an earlier one."""
        ...

    def records(self, table: Table, span: Span, limit: int) -> list[Record]:
        """The first `limit` records of the span in order, whatever their status."""
        ...

    def pending(
        self, table: Table, span: Span, limit: int, *, now: datetime, hold: Collection[str] = (), pulled: bool = False
    ) -> list[Record]:
        """The first `limit` records of the span, in order, that are NEW, or ERROR_RETRY and due at `now`; none whose
        parent (the row key up to its last `:`) is in `hold`. With `pulled` only the pulled-through ones."""
        ...

    def keys(self, table: Table, span: Span, limit: int) -> list[str]:
        """The row keys of the first `limit` records of the span in order, whatever their status. No payload is read."""
        ...

    def by_pass(self, table: Table, span: Span, limit: int, *, pass_no: int, shown: bool) -> list[Record]:
        """The first `limit` records of the span, in order, that this pass has met; or, with `shown` false, those that
        it has not met and that are not marked as deleted."""
        ...

    def deleted(self, table: Table, span: Span, limit: int) -> list[Record]:
        """The first `limit` records of the span, in order, that are marked as deleted at the source."""
        ...

    def waiting(self, table: Table, span: Span, *, now: datetime) -> list[tuple[str, datetime]]:
        """The records of the span in ERROR_RETRY that are not due yet, with their due time."""
        ...

    def moments(self, table: Table, span: Span, limit: int, *, pulled: bool = False) -> list[tuple[str, str]]:
        """The first `limit` records of the span, in order, that are NEW or ERROR_RETRY, due or not: row key and
        SourceUtc, "" where there is none. No payload is read. With `pulled` only the pulled-through ones."""
        ...

    def get(self, table: Table, row_keys: Sequence[str]) -> dict[str, Record]:
        """Those that exist."""
        ...

    def known(self, table: Table, row_keys: Sequence[str]) -> set[str]:
        """Which of these are staged (no payload is read)."""
        ...

    def sample(self, table: Table, count: int, *, seed: int, status: Status) -> list[Record]:
        """A random choice of at most `count` records with this status, the same for the same seed and content."""
        ...

    def failed(self, table: Table, limit: int, *, code: str = "") -> list[Record]:
        """IMPORT_ERR and ERROR_RETRY records, in order, optionally of one error code."""
        ...

    def error_counts(self, table: Table) -> dict[tuple[str, str], int]:
        """(status, error code) -> how many, for records that carry an error and are not IMPORT_OK."""
        ...

    def one_failed(self, table: Table, status: Status, code: str) -> Record | None:
        """An example: any record with this status and error code. Cheap, however many there are."""
        ...

    def cuts(self, table: Table, span: Span, every: int, *, whole_parents: bool, pending: bool) -> list[Span]:
        """Divides the span into consecutive spans of about `every` records (with `pending`: of records that are NEW or
        ERROR_RETRY) that cover all of them; with `whole_parents` no parent's children are divided."""
        ...

    def settle(self, stream: str, table: Table, outcomes: Sequence[Settled], *, now: datetime) -> None:
        """Writes links, then statuses and errors (LastErrorAtUtc, TargetId of the link, ImportedAtUtc: when it was
        first imported, which stays when it is sent again), and adds the counters: `retries:<stream>` by the growth of
        attempts past the first, `<loss>:<stream>` by `losses`. Those are kept with a record that is IMPORT_OK, in place
        of what it had lost when it was sent before, so that a counter is what the target goes without now. Atomic where
        the backend can; in this order where it cannot."""
        ...

    def renew(self, table: Table, *, code: str = "", row_keys: Sequence[str] | None = None) -> int:
        """IMPORT_ERR (and ERROR_RETRY) records become NEW with attempts 0: what `retry` does. Returns how many."""
        ...

    def take_back(self, stream: str, table: Table, row_keys: Sequence[str]) -> int:
        """These records, whatever their status, become NEW as if they had never been sent (DELETED where they are
        marked as deleted at the source): attempts 0, no error, no TargetId, no ImportedAtUtc, and nothing lost, which
        the counters of the stream follow. Returns how many changed by it."""
        ...

    def mark_deleted(self, table: Table, row_keys: Sequence[str], *, there: Collection[str], now: datetime) -> int:
        """These records are deleted at the source (DeletedUtc). Those in `there` are on the target and are IMPORT_OK,
        the others are DELETED; attempts 0, no error. The counter `deleted:<table>` follows. Marked ones stay as they
        are. Returns how many were marked."""
        ...

    def lose(self, stream: str, table: Table, losses: Mapping[str, Mapping[str, int]]) -> None:
        """Replaces the losses of these records that `settle` wrote; the counters follow."""
        ...

    def counts(self, table: Table) -> dict[Status, int]:
        """How many records have each status. Cheap: it may be asked several times a second."""
        ...

    def pulled_pending(self, table: Table) -> int:
        """How many pulled-through records are NEW or ERROR_RETRY. Cheap."""
        ...

    def holder(self, table: Table, natural: str) -> str | None:
        """The row key with the lowest id that holds this natural key."""
        ...
