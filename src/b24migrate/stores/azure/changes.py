"""Changing records: what is there is read, a change planned from it, and written only if it is still so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from b24migrate.messages import say
from b24migrate.model.errors import Halted
from b24migrate.model.records import Table
from b24migrate.stores.azure.account import Account, Blobs
from b24migrate.stores.azure.counts import Tallies
from b24migrate.stores.azure.find import Finder
from b24migrate.stores.azure.limits import MIB, OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.order import Order
from b24migrate.stores.azure.rows import SMALL
from b24migrate.stores.azure.shards import NOTHING, Added, Tally
from b24migrate.stores.azure.transactions import Operation, packed, size

_MOST = OPERATIONS - 2  # beside a shard, and a segment
_ROOM = TRANSACTION_BYTES - MIB  # which need at most so much
_TRIES = 100
_PATIENT = 3  # attempts, if the conflict is not with other writers

T = TypeVar("T")


class Plan(NamedTuple, Generic[T]):
    """The operation for one record; None: nothing changes."""

    thing: T
    operation: Operation | None = None
    tally: Mapping[str, float] = {}
    added: Added = NOTHING
    large: Sequence[bytes] = ()
    note: Any = None


class ChangeMethods:
    account: Account
    blobs: Blobs
    tallies: Tallies
    order: Order
    finder: Finder

    def _change(
        self,
        table: Table,
        things: Sequence[T],
        key: Callable[[T], str],
        plan: Callable[[T, Any], Plan[T]],
        known: Mapping[str, Any],
        *,
        columns: Sequence[str] = SMALL,
    ) -> Iterator[Plan[T]]:
        """Yields the plans that were carried out, each thing once. Ids must not repeat."""
        rest = things
        for attempt in range(_TRIES):
            plans = [plan(one, known.get(key(one))) for one in rest]
            yield from (one for one in plans if one.operation is None)
            todo = [one for one in plans if one.operation is not None]
            done = 0
            for parcel in packed(todo, _size, _MOST, _ROOM):
                if not self._commit(table, parcel, patient=attempt < _PATIENT):
                    break
                done += len(parcel)
                yield from parcel
            if done == len(todo):
                return
            rest = [one.thing for one in todo[done:]]
            known = self.finder.find(table, [key(one) for one in rest], columns)
        raise Halted(
            say("store.busy_records", table=table.name),
            code="STORE_BUSY",
            hint=say("store.fewer_workers"),
        )

    def _commit(self, table: Table, parcel: Sequence[Plan[T]], *, patient: bool) -> bool:
        self.account.side_by_side(self.blobs.put, [content for one in parcel for content in one.large])
        tally = Tally().plus(*(one.tally for one in parcel))
        added = Added.of(one.added for one in parcel if one.added is not NOTHING)
        operations = [one.operation for one in parcel if one.operation is not None]
        return self.tallies.commit(table, operations, tally, added, patient=patient)


def without_repeats(things: Sequence[T], key: Callable[[T], str]) -> list[Sequence[T]]:
    """In parts, each without a key twice: what comes again is written after what came before."""
    parts: list[dict[str, T]] = []
    for thing in things:
        if not parts or key(thing) in parts[-1]:
            parts.append({})
        parts[-1][key(thing)] = thing
    return [list(part.values()) for part in parts]


def _size(plan: Plan[Any]) -> int:
    return size(plan.operation) if plan.operation else 0
