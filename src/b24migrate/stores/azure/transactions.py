"""Operations on one partition, in as few transactions as the service's limits allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from azure.core import MatchConditions
from azure.data.tables import UpdateMode

from b24migrate.stores.azure.limits import OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.properties import Entity, sent_bytes

Operation = tuple[str, Entity, dict[str, Any]]
T = TypeVar("T")
_ENVELOPE = 4 * 1024  # what surrounds the operations


def create(entity: Entity) -> Operation:
    """Fails the transaction when it is there."""
    return "create", entity, {}


def upsert(entity: Entity) -> Operation:
    """Replaces whatever is there."""
    return "upsert", entity, {"mode": UpdateMode.REPLACE}


def replace(entity: Entity, etag: str) -> Operation:
    """Fails the transaction unless it is as it was."""
    return "update", entity, {"mode": UpdateMode.REPLACE, **if_unchanged(etag)}


def merge(entity: Entity, etag: str) -> Operation:
    """Of the entity only the given properties; fails the transaction unless it is as it was."""
    return "update", entity, {"mode": UpdateMode.MERGE, **if_unchanged(etag)}


def delete(partition: str, row_key: str, etag: str | None = None) -> Operation:
    """Fails the transaction when it is not there, or with an `etag` unless it is as it was."""
    return "delete", {"PartitionKey": partition, "RowKey": row_key}, if_unchanged(etag) if etag else {}


def if_unchanged(etag: str) -> dict[str, Any]:
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


def size(operation: Operation) -> int:
    return sent_bytes(operation[1])


def parcels(
    operations: Iterable[Operation], *, beside: Sequence[Operation] = (), most: int = OPERATIONS
) -> Iterator[list[Operation]]:
    """The operations, in order, in as few transactions as they fit in, if each also has room for those `beside`."""
    reserved = _ENVELOPE + sum(map(size, beside))
    yield from packed(operations, size, most - len(beside), TRANSACTION_BYTES - reserved)


def packed(things: Iterable[T], size_of: Callable[[T], int], most: int, room: int) -> Iterator[list[T]]:
    """In order, at most `most` and at most `room` together; one that is larger than the room is alone."""
    parcel: list[T] = []
    taken = 0
    for thing in things:
        its_size = size_of(thing)
        if parcel and (len(parcel) >= most or taken + its_size > room):
            yield parcel
            parcel, taken = [], 0
        parcel.append(thing)
        taken += its_size
    if parcel:
        yield parcel
