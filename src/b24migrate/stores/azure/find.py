"""Finding records: stretches of the order by one question for each shape of ids, single ones by their keys."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from azure.core.exceptions import ResourceNotFoundError

from b24migrate.model.records import Status, Table, order_key
from b24migrate.stores.azure.account import Account
from b24migrate.stores.azure.failures import error_code, translated
from b24migrate.stores.azure.keys import row_key
from b24migrate.stores.azure.order import is_numeric, row_key_of, shape
from b24migrate.stores.azure.rows import KEYS_ONLY, key_of, time_text, value_of

MOST = 1000  # in one answer
_SHORTEST_RUN, LONGEST_RUN = 100, 50_000  # keys
_WHOLE_TEXTS = 500  # records whose keys are texts, at once
_A_GAP = 200  # keys that are skipped
_A_RANGE = 4  # keys; fewer are requested one by one
_ENOUGH = 0.2  # of the rows of a range must match

_FIRST = itemgetter(0)
_JUDGED = (*KEYS_ONLY, "Status", "RetryAfterUtc", "PulledThrough", "LastErrorCode", "Pass", "DeletedUtc")

Found = Mapping[str, Any]


class Where(NamedTuple):
    """A condition, for the service and for us."""

    condition: str = ""
    holds: Callable[[Found], bool] = lambda _: True


_OPEN = (Status.NEW, Status.ERROR_RETRY)
EVERY = Where()
OPEN = Where(f"(Status eq '{Status.NEW}' or Status eq '{Status.ERROR_RETRY}')", lambda one: one["Status"] in _OPEN)
_FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)


def due(now: datetime, *, pulled: bool) -> Where:
    moment = time_text(now)
    condition = f"(Status eq 'NEW' or (Status eq 'ERROR_RETRY' and RetryAfterUtc le '{moment}'))"

    def holds(one: Found) -> bool:
        is_due = one["Status"] == Status.NEW or (
            one["Status"] == Status.ERROR_RETRY and (value_of(one, "RetryAfterUtc") or "") <= moment
        )
        return is_due and (not pulled or bool(one.get("PulledThrough")))

    return Where(condition + (" and PulledThrough eq true" if pulled else ""), holds)


def waiting(*, pulled: bool) -> Where:
    if not pulled:
        return OPEN
    return Where(
        f"{OPEN.condition} and PulledThrough eq true", lambda one: OPEN.holds(one) and bool(one["PulledThrough"])
    )


def not_due(now: datetime) -> Where:
    moment = time_text(now)
    return Where(
        f"Status eq 'ERROR_RETRY' and RetryAfterUtc gt '{moment}'",
        lambda one: one["Status"] == Status.ERROR_RETRY and (value_of(one, "RetryAfterUtc") or "") > moment,
    )


def failed(code: str = "") -> Where:
    condition = "(Status eq 'IMPORT_ERR' or Status eq 'ERROR_RETRY')"
    return Where(
        f"{condition} and LastErrorCode eq {_quoted(code)}" if code else condition,
        lambda one: one["Status"] in _FAILED and (not code or value_of(one, "LastErrorCode") == code),
    )


def failed_as(status: Status, code: str) -> Where:
    condition = f"Status eq '{status}'"
    if code.strip():  # blanks are stored in another form
        condition += f" and LastErrorCode eq {_quoted(code)}"
    return Where(
        condition,
        lambda one: one["Status"] == status and value_of(one, "LastErrorCode") == code,
    )


def with_status(status: Status) -> Where:
    return Where(f"Status eq '{status}'", lambda one: one["Status"] == status)


def without_status(status: Status) -> Where:
    return Where(f"Status ne '{status}'", lambda one: one["Status"] != status)


def met_in(pass_no: int) -> Where:
    return Where(f"Pass ge {pass_no}", lambda one: one["Pass"] >= pass_no)


def not_met_in(pass_no: int) -> Where:
    """The service cannot filter rows without a property, so whether one is deleted is checked here."""
    return Where(f"Pass lt {pass_no}", lambda one: one["Pass"] < pass_no)


DELETED = Where("DeletedUtc gt ''", lambda one: bool(value_of(one, "DeletedUtc")))


class Page(NamedTuple):
    rows: list[Any]
    is_last: bool


class Finder:
    def __init__(self, account: Account) -> None:
        self._account = account

    def find(self, table: Table, row_keys: Collection[str], select: Collection[str] | None) -> dict[str, Any]:
        """Those that exist, by id."""
        found: dict[str, Any] = {}
        for its_shape, keys in _by_shape(map(order_key, row_keys)).items():
            wanted = [row_key(row_key_of(key)) for key in keys]
            found |= {key_of(one): one for one in self.some(table, wanted, select, also=f"Shape eq '{its_shape}'")}
        return found

    def some(
        self, table: Table, wanted: Collection[str], select: Collection[str] | None = None, *, also: str = ""
    ) -> list[Any]:
        """Rows by RowKey, those that exist. Many that lie together are had by one question, and further ones as long as
        they find enough."""
        rest, found = set(wanted), []
        if len(rest) >= _A_RANGE:
            where = Where(also)
            for page in self._range(table, rest, where, select, min(2 * len(rest), MOST)):
                met = [one for one in page.rows if one["RowKey"] in rest]
                found += met
                rest -= {one["RowKey"] for one in met}
                if page.is_last:
                    return found  # the others do not exist
                if not rest or len(met) < max(1, _ENOUGH * len(page.rows)):
                    break
        points = self._account.side_by_side(lambda key: self._point(table, key, select), rest)
        return [*found, *(one for one in points if one)]

    def matching(
        self,
        table: Table,
        stretches: Iterable[Sequence[str]],
        where: Where,
        select: Collection[str] | None,
        *,
        first: int = MOST,
        skip: Callable[[str], bool] | None = None,
    ) -> Iterator[Any]:
        """Of these order keys, in order, those that fulfil the condition. The first question is for `first` records;
        the further it goes without finding them, the longer are the stretches that the service is asked to search."""
        for piece in (piece for run in _runs(stretches, max(first, _SHORTEST_RUN)) for piece in _pieces(run, skip)):
            alike = _by_shape(piece).values()
            parts = [self._in_order(table, keys, where, select, first=first) for keys in alike]
            for _, one in heapq.merge(*parts, key=_FIRST):
                yield one

    # ------------------------------------------------------------ questions

    def _in_order(
        self, table: Table, keys: Sequence[str], where: Where, select: Collection[str] | None, *, first: int
    ) -> Iterator[tuple[str, Any]]:
        """Of keys of one shape."""
        its_shape = shape(keys[0])
        wanted = {row_key(row_key_of(key)): key for key in keys}
        shaped = Where(" and ".join(filter(None, (f"Shape eq '{its_shape}'", where.condition))), where.holds)
        if is_numeric(its_shape):
            for page in self._range(table, wanted, shaped, select, min(first, MOST)):
                yield from ((wanted[one["RowKey"]], one) for one in page.rows if one["RowKey"] in wanted)
        else:
            yield from self._texts_in_order(table, wanted, shaped, select)

    def _texts_in_order(
        self, table: Table, wanted: Mapping[str, str], where: Where, select: Collection[str] | None
    ) -> Iterator[tuple[str, Any]]:
        """They must all be known before the first is given; of many whole records that would be too much."""
        if select is not None or len(wanted) <= _WHOLE_TEXTS:
            found = self._texts(table, wanted, where, select)
            yield from sorted(((wanted[one["RowKey"]], one) for one in found), key=_FIRST)
            return
        ordered = sorted(self._texts(table, wanted, where, _JUDGED), key=lambda one: wanted[one["RowKey"]])
        for start in range(0, len(ordered), _WHOLE_TEXTS):
            some = self.some(table, [one["RowKey"] for one in ordered[start : start + _WHOLE_TEXTS]])
            yield from sorted(((wanted[one["RowKey"]], one) for one in some if where.holds(one)), key=_FIRST)

    def _texts(self, table: Table, wanted: Collection[str], where: Where, select: Collection[str] | None) -> list[Any]:
        """IDs that are adjacent in our order may be far apart in the order of the service: then each is requested
        separately."""
        rest, found, in_vain = set(wanted), [], 0
        for page in self._range(table, wanted, where, select, MOST):
            met = [one for one in page.rows if one["RowKey"] in wanted]
            found += met
            rest -= {one["RowKey"] for one in met}
            in_vain += len(page.rows) - len(met)
            if not page.is_last and in_vain > MOST // 2 + 2 * len(rest):
                points = self._account.side_by_side(lambda key: self._point(table, key, select), rest)
                return [*found, *(one for one in points if one and where.holds(one))]
        return found

    def _range(
        self, table: Table, wanted: Collection[str], where: Where, select: Collection[str] | None, at_once: int
    ) -> Iterator[Page]:
        low, high = min(wanted, key=_as_compared), max(wanted, key=_as_compared)
        condition = f"PartitionKey eq '{table.partition}' and RowKey ge '{low}' and RowKey le '{high}'"
        return self.pages(
            table, f"{condition} and {where.condition}" if where.condition else condition, select, at_once
        )

    def pages(
        self, table: Table, condition: str, select: Collection[str] | None, at_once: int = MOST
    ) -> Iterator[Page]:
        query: Any = self._account.table(table.name).query_entities(
            condition, select=list(select) if select else None, results_per_page=at_once
        )
        pages = query.by_page()
        while True:
            with translated(self._account.place):
                rows = next(pages, None)
                if rows is None:
                    return
                page = Page(list(rows), not pages.continuation_token)
            yield page

    def _point(self, table: Table, key: str, select: Collection[str] | None) -> Any:
        with translated(self._account.place):
            try:
                return self._account.table(table.name).get_entity(
                    table.partition, key, select=list(select) if select else None
                )
            except ResourceNotFoundError as error:
                if error_code(error) == "TableNotFound":
                    raise
                return None


def _runs(stretches: Iterable[Sequence[str]], first: int) -> Iterator[Sequence[str]]:
    """The same keys in pieces that grow."""
    length = first
    held: Sequence[str] = ()
    for stretch in stretches:
        held = (*held, *stretch) if held else stretch
        while len(held) >= length:
            yield held[:length]
            held = held[length:]
            length = min(2 * length, LONGEST_RUN)
    if held:
        yield held


def _pieces(run: Sequence[str], skip: Callable[[str], bool] | None) -> Iterator[Sequence[str]]:
    """Without the keys to skip. Ranges with many of them are not requested."""
    if skip is None:
        yield run
        return
    piece: list[str] = []
    skipped = 0
    for key in run:
        if skip(key):
            skipped += 1
            continue
        if piece and skipped > _A_GAP:
            yield piece
            piece = []
        skipped = 0
        piece.append(key)
    if piece:
        yield piece


def _by_shape(keys: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(shape(key), []).append(key)
    return found


def _as_compared(key: str) -> bytes:
    """The service compares UTF-16 units."""
    return key.encode("utf-16-be", "surrogatepass")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
