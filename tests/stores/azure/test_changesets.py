"""A transaction that we write and read ourselves is what the library would make of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NoReturn

import hypothesis.strategies as st
import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError, ServiceResponseError
from azure.core.pipeline.transport import HttpTransport
from azure.data.tables import EdmType, EntityProperty, TableClient
from hypothesis import given, settings
from tests import azurite
from tests.stores.azure.scripted_service import Answer, parts, with_these
from tests.stores.azure.values import Shelf, ids, values

from b24migrate.stores.azure import account as accounts
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.failures import error_code
from b24migrate.stores.azure.properties import entity
from b24migrate.stores.azure.transactions import Operation, create, delete, merge, replace, send, upsert

OLD = "W/\"datetime'2001-11-15T12%3A00%3A00.0000000Z'\""
SOME: dict[str, Any] = {
    "PartitionKey": "p",
    "RowKey": "1",
    "Text": "ж\n\"'\u2028\U0001f600",
    "Yes": True,
    "Number": -5,
    "Large": EntityProperty(2**40, EdmType.INT64),
    "Bytes": bytes(range(256)),
    "Float": 1.5,
    "Strange": float("-inf"),
    "Stranger": float("nan"),
    "Nothing": None,
}
Sending = Callable[[TableClient, Sequence[Operation]], Any]


def by_the_library(table: TableClient, operations: Sequence[Operation]) -> Any:
    return table.submit_transaction(operations)


# ------------------------------------------------------------ what is sent


class Sent(Exception):
    """Holds a request that did not leave."""


class Holding(HttpTransport[Any, Any]):
    def send(self, request: Any, **_: Any) -> NoReturn:
        raise Sent(request)

    def open(self) -> None: ...

    def close(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def sent(sending: Sending, operations: Sequence[Operation]) -> tuple[str, str, dict[str, str], str]:
    """Without what is another each time: boundaries, dates, and what is made of them."""
    key = AzureNamedKeyCredential("account", "a2V5")
    table = TableClient("https://account.table.core.windows.net", "Groups", credential=key, transport=Holding())
    with pytest.raises(Sent) as held:
        sending(table, operations)
    request = held.value.args[0]
    changing = ("Authorization", "Date", "x-ms-date", "Content-Length", "x-ms-client-request-id")
    headers = {name: plain(value) for name, value in request.headers.items() if name not in changing}
    assert {*changing} <= {*request.headers}
    return request.method, request.url, headers, plain(request.body.decode())


def plain(text: str) -> str:
    return re.sub(r"(batch|changeset)_[0-9a-f-]{36}", r"\1", re.sub(r"(x-ms-date|Date): .* GMT\r\n", "", text))


def every_kind(made: dict[str, Any]) -> list[Operation]:
    keys = made["PartitionKey"], made["RowKey"]
    return [create(made), upsert(made), replace(made, OLD), merge(made, OLD), delete(*keys, OLD), delete(*keys)]


def test_every_kind_is_sent_as_by_the_library() -> None:
    assert sent(send, every_kind(SOME)) == sent(by_the_library, every_kind(SOME))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(ids, st.dictionaries(st.sampled_from(["Payload", "Name", "Attempts"]), values))
def test_whatever_a_record_holds_is_sent_as_by_the_library(key: str, columns: dict[str, Any]) -> None:
    operations = every_kind(entity("chat_messages", key, columns, Shelf()))
    assert sent(send, operations) == sent(by_the_library, operations)


@pytest.mark.parametrize("value", [2**31, object(), EntityProperty(1, EdmType.GUID)])
def test_what_no_property_of_ours_holds_is_not_sent(value: object) -> None:
    with pytest.raises(TypeError, match="No property"):
        sent(send, [create({"PartitionKey": "p", "RowKey": "1", "Value": value})])


def test_operations_on_several_partitions_are_no_transaction() -> None:
    with pytest.raises(ValueError, match="one partition"):
        sent(send, [upsert(row("1")), upsert(row("2") | {"PartitionKey": "q"})])


# ------------------------------------------------------------ what is answered


@pytest.fixture
def account() -> Iterator[Account]:
    with closing(Account(Address.parse(azurite.url()))) as account:
        account.make_tables(["Groups"])
        yield account


def row(key: str, **more: Any) -> dict[str, Any]:
    return {"PartitionKey": "p", "RowKey": key, **more}


def test_what_was_done_is_told_with_its_etags(account: Account) -> None:
    table = account.table("Groups")
    made = send(table, [create(SOME), upsert(row("2", Text="a", Other="b"))])
    assert [one["etag"] for one in made] == [found.metadata["etag"] for found in table.list_entities()]
    changes = [replace(row("1", Text="c"), made[0]["etag"]), merge(row("2", Text="d"), made[1]["etag"])]
    again = send(table, changes)
    assert {one["RowKey"]: dict(one) for one in table.list_entities()} == {
        "1": row("1", Text="c"),
        "2": row("2", Text="d", Other="b"),
    }
    assert send(table, [delete("p", "1", again[0]["etag"]), delete("p", "2")]) == [{}, {}]
    assert list(table.list_entities()) == []


def test_what_is_written_is_what_the_library_reads(account: Account) -> None:
    send(account.table("Groups"), [create(SOME)])
    found = account.table("Groups").get_entity("p", "1")
    assert repr(dict(found)) == repr({name: value for name, value in SOME.items() if value is not None})


def send_changes(sending: Sending, table: TableClient, operations: Sequence[Operation]) -> tuple[Any, ...]:
    with pytest.raises(HttpResponseError) as raised:
        sending(table, operations)
    error = raised.value
    message = error.message.partition("\nRequestId:")[0]
    return type(error), error.status_code, error_code(error), getattr(error, "index", None), message


@pytest.mark.parametrize(
    ("operations", "status", "index"),
    [
        ([create(row("new")), create(row("there"))], 409, 1),
        ([upsert(row("new")), upsert(row("newer")), replace(row("there"), OLD)], 412, 2),
        ([merge(row("there"), OLD), upsert(row("new"))], 412, 0),
        ([delete("p", "there", OLD)], 412, 0),
        ([upsert(row("new")), delete("p", "gone")], 404, 1),
        ([upsert(row("new"))] * 2, 400, 1),
        ([upsert(row("new", Text="x" * 4_300_000))], 413, 0),
    ],
)
def test_a_refusal_is_told_as_by_the_library(
    account: Account, operations: list[Operation], status: int, index: int
) -> None:
    table = account.table("Groups")
    table.create_entity(row("there"))
    mine = send_changes(send, table, operations)
    assert (mine[1], mine[3]) == (status, index)
    assert mine == send_changes(by_the_library, table, operations)
    assert [found["RowKey"] for found in table.list_entities()] == ["there"]


def test_a_table_that_is_not_there_is_told_as_by_the_library(account: Account) -> None:
    table = account.table("Nowhere")
    assert send_changes(send, table, [upsert(row("new"))]) == send_changes(by_the_library, table, [upsert(row("new"))])


# ------------------------------------------------------------ what only the service itself says

DONE = 'HTTP/1.1 204 No Content\nCache-Control: no-cache\nETag: W/"2"\nDataServiceVersion: 1.0;\n\n'
ECHOED = (
    'HTTP/1.1 201 Created\nContent-Type: application/json;odata=minimalmetadata\nETag: W/"1"\n'
    "Location: https://account.table.core.windows.net/Groups(PartitionKey='p',RowKey='1')\n\n"
    '{"odata.etag":"W/\\"9\\"","PartitionKey":"p","RowKey":"1","Text":"\\r\\nHTTP/1.1 500\\r\\nETag: 8\\r\\n--changesetresponse_b"}'
)
BUSY = Answer(
    503,
    "application/json",
    '{"odata.error":{"code":"ServerBusy","message":{"lang":"en-US","value":"The server is busy."}}}',
)
BUSY_INSIDE = parts(f"HTTP/1.1 503 Service Unavailable\nContent-Type: application/json\n\n{BUSY.body}")
ONE = [upsert(row("1"))]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats without a pause."""
    monkeypatch.setattr(accounts, "_PAUSES_S", (0.0,) * 3)
    monkeypatch.setitem(accounts._PATIENCE, "table", {"retry_total": 3, "retry_status": 3, "retry_backoff_factor": 0})


def test_an_entity_that_comes_back_with_the_answer_is_no_part_of_it() -> None:
    with with_these(parts(ECHOED, DONE)) as account:
        assert account.submit("Groups", [create(row("1")), upsert(row("2"))]) == [{"etag": 'W/"1"'}, {"etag": 'W/"2"'}]


@pytest.mark.parametrize("busy", [BUSY, BUSY_INSIDE], ids=["outside", "inside"])
@pytest.mark.usefixtures("hasty")
def test_a_busy_service_is_asked_again(busy: Answer) -> None:
    with with_these(busy, busy, busy, parts(DONE)) as account:
        assert account.submit("Groups", ONE) == [{"etag": 'W/"2"'}]


@pytest.mark.parametrize("busy", [BUSY, BUSY_INSIDE], ids=["outside", "inside"])
@pytest.mark.usefixtures("hasty")
def test_a_service_that_stays_busy_is_told_of(busy: Answer) -> None:
    with with_these(*[busy] * 4) as account, pytest.raises(HttpResponseError, match="The server is busy") as raised:
        account.submit("Groups", ONE)
    assert (raised.value.status_code, error_code(raised.value)) == (503, "ServerBusy")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", BUSY.body.replace("ServerBusy", "AuthenticationFailed")),
        ("application/xml", "<?xml version='1.0'?><m:error><m:code>AuthenticationFailed</m:code></m:error>"),
    ],
)
def test_a_refusal_as_a_whole_is_told_with_its_code(kind: str, body: str) -> None:
    with with_these(Answer(403, kind, body)) as account, pytest.raises(HttpResponseError) as raised:
        account.submit("Groups", ONE)
    assert (raised.value.status_code, error_code(raised.value)) == (403, "AuthenticationFailed")


@pytest.mark.parametrize("answer", [parts(DONE), parts(), Answer(202, "text/html", "<p>Log in!")])
def test_an_answer_that_does_not_tell_of_every_operation_counts_as_lost(answer: Answer) -> None:
    with with_these(answer) as account, pytest.raises(ServiceResponseError, match="instead of 2"):
        account.submit("Groups", [upsert(row("1")), upsert(row("2"))])
