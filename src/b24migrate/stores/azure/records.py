"""Reading staged records back: in order of id, by status, by key."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any

from b24migrate.model.records import Record, Span, Status, Table, deleted_counter, end_between_families, order_key
from b24migrate.stores.azure.changes import ChangeMethods
from b24migrate.stores.azure.find import (
    DELETED,
    EVERY,
    LONGEST_RUN,
    OPEN,
    Where,
    due,
    failed,
    failed_as,
    met_in,
    not_due,
    not_met_in,
    waiting,
    with_status,
    without_status,
)
from b24migrate.stores.azure.order import Look, row_key_of
from b24migrate.stores.azure.rows import KEYS_ONLY, contents_of, key_of, record_of, value_of
from b24migrate.stores.azure.shards import natural_mark

_EVERYTHING = Span()
_FAILED = (Status.IMPORT_ERR, Status.ERROR_RETRY)


class RecordMethods(ChangeMethods):
    tables: Sequence[Table]

    # ------------------------------------------------------------ numbers

    def counts(self, table: Table) -> dict[Status, int]:
        return self.tallies.read(table).counts()

    def pulled_pending(self, table: Table) -> int:
        return self.tallies.read(table).pulled_pending()

    def error_counts(self, table: Table) -> dict[tuple[str, str], int]:
        counted = self.tallies.read(table).errors()
        if counted is not None:
            return counted
        condition = f"PartitionKey eq '{table.partition}' and LastErrorCode gt '' and Status ne '{Status.IMPORT_OK}'"
        pages = self.finder.pages(table, condition, (*KEYS_ONLY, "Status", "LastErrorCode"))
        return dict(Counter((one["Status"], value_of(one, "LastErrorCode")) for page in pages for one in page.rows))

    def tallied(self, prefix: str) -> dict[str, float]:
        """The counters that are kept with the records."""
        tables = [table for table in self.tables if _may_count(table, prefix)]
        total: Counter[str] = Counter()
        for tally in self.account.side_by_side(self.tallies.read, tables):
            total.update(tally.counters(prefix))
        return dict(total)

    # ------------------------------------------------------------ in order

    def records(self, table: Table, span: Span, limit: int) -> list[Record]:
        return self._records(self._first(table, span, limit, EVERY))

    def pending(
        self, table: Table, span: Span, limit: int, *, now: datetime, hold: Collection[str] = (), pulled: bool = False
    ) -> list[Record]:
        look = self.order.look(table)
        if not (look.numbers.pulled_pending() if pulled else look.numbers.pending()):
            return []
        held = {order_key(parent) for parent in hold}
        keys = self.order.keys(table, span, look)
        found = self.finder.matching(
            table,
            keys,
            due(now, pulled=pulled),
            None,
            first=limit,
            skip=(lambda key: key.rpartition(":")[0] in held) if held else None,
        )
        return self._records(islice(found, limit))

    def keys(self, table: Table, span: Span, limit: int) -> list[str]:
        stretches = chain.from_iterable(self.order.keys(table, span))
        return [row_key_of(key) for key in islice(stretches, limit)]

    def by_pass(self, table: Table, span: Span, limit: int, *, pass_no: int, shown: bool) -> list[Record]:
        where = met_in(pass_no) if shown else not_met_in(pass_no)
        found = self.finder.matching(table, self.order.keys(table, span), where, None, first=max(1, limit))
        return self._records(islice((one for one in found if shown or not value_of(one, "DeletedUtc")), limit))

    def deleted(self, table: Table, span: Span, limit: int) -> list[Record]:
        found = self.finder.matching(table, self.order.keys(table, span), DELETED, None, first=LONGEST_RUN)
        return self._records(islice(found, limit))

    def waiting(self, table: Table, span: Span, *, now: datetime) -> list[tuple[str, datetime]]:
        look = self.order.look(table)
        if not look.numbers.counts()[Status.ERROR_RETRY]:
            return []
        select = (*KEYS_ONLY, "Status", "RetryAfterUtc")
        found = self.finder.matching(table, self.order.keys(table, span, look), not_due(now), select, first=LONGEST_RUN)
        return [(key_of(one), datetime.fromisoformat(one["RetryAfterUtc"])) for one in found]

    def moments(self, table: Table, span: Span, limit: int, *, pulled: bool = False) -> list[tuple[str, str]]:
        look = self.order.look(table)
        if not (look.numbers.pulled_pending() if pulled else look.numbers.pending()):
            return []
        select = (*KEYS_ONLY, "Status", "PulledThrough", "SourceUtc")
        keys = self.order.keys(table, span, look)
        found = self.finder.matching(table, keys, waiting(pulled=pulled), select, first=limit)
        return [(key_of(one), one.get("SourceUtc") or "") for one in islice(found, limit)]

    def failed(self, table: Table, limit: int, *, code: str = "") -> list[Record]:
        look = self.order.look(table)
        if not any(look.numbers.counts()[status] for status in _FAILED):
            return []
        keys = self.order.keys(table, _EVERYTHING, look)
        return self._records(islice(self.finder.matching(table, keys, failed(code), None), limit))

    def one_failed(self, table: Table, status: Status, code: str) -> Record | None:
        look = self.order.look(table)
        if not look.numbers.counts()[status]:
            return None
        keys = self.order.keys(table, _EVERYTHING, look)
        where = failed_as(status, code)
        found = filter(where.holds, self.finder.matching(table, keys, where, None))
        return next(iter(self._records(islice(found, 1))), None)

    def _first(self, table: Table, span: Span, limit: int, where: Where) -> Iterable[Any]:
        found = self.finder.matching(table, self.order.keys(table, span), where, None, first=max(1, limit))
        return islice(found, limit)

    # ------------------------------------------------------------ by key

    def get(self, table: Table, row_keys: Sequence[str]) -> dict[str, Record]:
        found = self.finder.find(table, row_keys, None)
        return {one.row_key: one for one in self._records(found.values())}

    def known(self, table: Table, row_keys: Sequence[str]) -> set[str]:
        return set(self.finder.find(table, row_keys, KEYS_ONLY))

    def holder(self, table: Table, natural: str) -> str | None:
        """A record that held the natural key before may hold another one now."""
        keys = list(map(row_key_of, self.order.holders(table, natural_mark(natural))))
        found = self.finder.find(table, keys, (*KEYS_ONLY, "NaturalKey"))
        return next((key for key in keys if key in found and found[key].get("NaturalKey") == natural), None)

    def _records(self, found: Iterable[Any]) -> list[Record]:
        rows = list(found)
        contents = contents_of(rows, self.blobs, self.account.side_by_side)
        return [record_of(one, contents) for one in rows]

    # ------------------------------------------------------------ a choice, and divisions

    def sample(self, table: Table, count: int, *, seed: int, status: Status) -> list[Record]:
        """Chooses places in the order of IDs, and reads the smaller group: the records with the status, or the
        others."""
        look = self.order.look(table)
        size = look.numbers.counts()[status]
        places = sorted(random.Random(seed).sample(range(size), min(count, size)))
        wanted = set(places)
        keys = (key for place, key in enumerate(self._with_status(table, look, status)) if place in wanted)
        chosen = list(map(row_key_of, islice(keys, len(places))))
        found = self._records(self.finder.find(table, chosen, None).values())
        return sorted((one for one in found if one.status is status), key=lambda one: order_key(one.row_key))

    def _with_status(self, table: Table, look: Look, status: Status) -> Iterator[str]:
        keys = self.order.keys(table, _EVERYTHING, look)
        size, total = look.numbers.counts()[status], look.numbers.total()
        if not size:
            return
        if 2 * size < total:
            for one in self.finder.matching(table, keys, with_status(status), (*KEYS_ONLY, "Status")):
                yield order_key(key_of(one))
            return
        others: set[str] = set()
        if size < total:
            found = self.finder.matching(table, keys, without_status(status), (*KEYS_ONLY, "Status"))
            others = {order_key(key_of(one)) for one in found}
            keys = self.order.keys(table, _EVERYTHING, look)
        for stretch in keys:
            yield from (key for key in stretch if key not in others)

    def cuts(self, table: Table, span: Span, every: int, *, whole_parents: bool, pending: bool) -> list[Span]:
        """The outer ends are the span's own, so nothing falls between two cuts."""
        look = self.order.look(table)
        if pending and not look.numbers.pending():
            return []
        stretches = self.order.keys(table, span, look)
        keys: Iterator[str] = (key for stretch in stretches for key in stretch)
        if pending and look.numbers.pending() < look.numbers.total():
            found = self.finder.matching(table, stretches, OPEN, (*KEYS_ONLY, "Status"))
            keys = (order_key(key_of(one)) for one in found)
        ends, something = _ends(keys, every, whole_parents=whole_parents)
        return [Span(a, b) for a, b in zip([span.lo, *ends], [*ends, span.hi], strict=True)] if something else []


def _ends(keys: Iterator[str], every: int, *, whole_parents: bool) -> tuple[list[str], bool]:
    """The ends of all spans but the last, and whether there are any keys."""
    ends: list[str] = []
    ahead = deque(islice(keys, every))
    something = bool(ahead)
    while len(ahead) == every:
        end = end_between_families(ahead[0], ahead[-1]) if whole_parents else ahead[-1]
        while ahead and ahead[0] <= end:
            ahead.popleft()
        if not ahead:
            ahead.extend(islice((key for key in keys if key > end), 1))
        if ahead:
            ends.append(end)
        ahead.extend(islice(keys, every - len(ahead)))
    return ends, something


def _may_count(table: Table, prefix: str) -> bool:
    own = (f"seen:{table.name}:", deleted_counter(table))
    by_table = prefix.startswith(("seen:", "deleted:"))
    return not by_table or any(one.startswith(prefix) or prefix.startswith(one) for one in own)
