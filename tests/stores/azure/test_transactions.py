"""Transactions as they are really sent: full, and never too large."""

from __future__ import annotations

from typing import Any, NoReturn

import hypothesis.strategies as st
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.pipeline.transport import HttpTransport
from azure.data.tables import TableClient
from hypothesis import HealthCheck, given, settings
from tests.stores.azure.values import Shelf, ids, long_texts

from b24migrate.stores.azure.limits import OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.properties import entity
from b24migrate.stores.azure.transactions import (
    Operation,
    create,
    delete,
    merge,
    packed,
    parcels,
    replace,
    send,
    size,
    upsert,
)

ETAG = "W/\"datetime'2026-11-15T12%3A00%3A00.0000000Z'\""
KINDS = (
    create,
    upsert,
    lambda made: replace(made, ETAG),
    lambda made: merge(made, ETAG),
    lambda made: delete(made["PartitionKey"], made["RowKey"], ETAG),
)
SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


class Weighed(Exception):
    """Ends a request before it leaves."""


class Scales(HttpTransport[Any, Any]):
    """Weighs what is about to be sent."""

    weight = 0

    def send(self, request: Any, **_: Any) -> NoReturn:
        self.weight = len(request.body)
        raise Weighed

    def open(self) -> None: ...

    def close(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def weight(parcel: list[Operation]) -> int:
    scales = Scales()
    table = TableClient(
        f"https://{'a' * 24}.table.core.windows.net",
        "T" * 63,
        credential=AzureNamedKeyCredential("a" * 24, "a2V5"),
        transport=scales,
    )
    try:
        send(table, parcel)
    except Weighed:
        return scales.weight
    raise AssertionError("nothing was sent")


operations = st.builds(
    lambda kind, key, text, number: kind(entity("chat_messages", key, {"Payload": text, "Attempts": number}, Shelf())),
    st.sampled_from(KINDS),
    ids,
    long_texts,
    st.integers(-(2**70), 2**70),
)


@SLOW
@given(st.lists(operations, max_size=8), st.integers(1, 40))
def test_a_transaction_is_never_too_large_as_sent(some: list[Operation], times: int) -> None:
    for parcel in parcels(some * times):
        assert len(parcel) <= OPERATIONS
        if sum(map(size, parcel)) > TRANSACTION_BYTES // 2:
            assert weight(unlike(parcel)) <= TRANSACTION_BYTES


@SLOW
@given(operations)
def test_an_operation_is_never_larger_than_reckoned(one: Operation) -> None:
    assert weight([one]) <= size(one) + 1024


@given(st.integers(0, 350), st.integers(0, 3))
def test_transactions_are_full_and_in_order(count: int, beside: int) -> None:
    some = [upsert({"PartitionKey": "p", "RowKey": str(number)}) for number in range(count)]
    sent = list(parcels(some, beside=some[:1] * beside))
    assert [one for parcel in sent for one in parcel] == some
    assert all(len(parcel) == OPERATIONS - beside for parcel in sent[:-1])


def test_large_operations_leave_little_room_unused() -> None:
    some = [upsert({"PartitionKey": "p", "RowKey": str(number), "Payload": "x" * 32_000}) for number in range(1000)]
    sent = list(parcels(some))
    assert len(sent) <= -(-1000 // 100) + 1
    for parcel in sent:
        assert weight(parcel) <= TRANSACTION_BYTES


def test_what_goes_beside_them_has_its_room() -> None:
    beside = [upsert({"PartitionKey": "p", "RowKey": f"b{number}", "Payload": "x" * 32_000}) for number in range(20)]
    some = [upsert({"PartitionKey": "p", "RowKey": str(number), "Payload": "x" * 60_000}) for number in range(200)]
    for parcel in parcels(some, beside=beside):
        assert weight([*parcel, *beside]) <= TRANSACTION_BYTES


def test_the_room_is_used_to_the_last_byte() -> None:
    assert list(packed([6, 4, 4, 3, 3, 1, 11, 1], int, 9, 10)) == [[6, 4], [4, 3, 3], [1], [11], [1]]
    assert list(packed([1, 1, 1], int, 2, 10)) == [[1, 1], [1]]


def unlike(parcel: list[Operation]) -> list[Operation]:
    """The same sizes, but no row twice, which the service refuses."""
    return [
        (verb, {**made, "RowKey": f"{number:03}" + made["RowKey"][3:]}, more)
        for number, (verb, made, more) in enumerate(parcel)
    ]
