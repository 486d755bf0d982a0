"""Operations on one partition, in as few transactions as the service's limits allow.

The library builds a transaction and reads its answer by way of e-mail messages, which takes twenty times as long as all
other work on a record. `send` writes and reads both directly. The request is the library's but for the date of each
operation; the library still signs, sends and repeats it.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ServiceResponseError
from azure.core.rest import HttpRequest, HttpResponse
from azure.data.tables import (
    EdmType,
    EntityProperty,
    RequestTooLargeError,
    TableClient,
    TableTransactionError,
    UpdateMode,
)

from b24migrate.stores.azure.limits import OPERATIONS, TRANSACTION_BYTES
from b24migrate.stores.azure.properties import Entity, sent_bytes

Operation = tuple[str, Entity, dict[str, Any]]
T = TypeVar("T")
_ENVELOPE = 4 * 1024  # the envelope of the operations
_HEADERS = {"DataServiceVersion": "3.0", "MaxDataServiceVersion": "3.0;NetFx", "Accept": "application/json"}
_DONE = range(200, 300)
_INT32 = 1 << 31
_PART = re.compile(r"^HTTP/1\.\d (\d{3})[^\r\n]*\r?\n(.*?)(?=^--|\Z)", re.MULTILINE | re.DOTALL)
_ETAG = re.compile(r"^ETag:\s*(.*?)\r?$", re.MULTILINE | re.IGNORECASE)
_SAID = re.compile(r'"value"\s*:\s*("(?:[^"\\]|\\.)*")')
_CODE = re.compile(r'"code"\s*:\s*"(\w+)"|<(?:\w+:)?code>(\w+)<', re.IGNORECASE)


def create(entity: Entity) -> Operation:
    """Fails the transaction when it is there."""
    return "create", entity, {}


def upsert(entity: Entity) -> Operation:
    """Replaces whatever is there."""
    return "upsert", entity, {"mode": UpdateMode.REPLACE}


def replace(entity: Entity, etag: str) -> Operation:
    """Fails the transaction if it has changed."""
    return "update", entity, {"mode": UpdateMode.REPLACE, **if_unchanged(etag)}


def merge(entity: Entity, etag: str) -> Operation:
    """Of the entity only the given properties; fails the transaction if it has changed."""
    return "update", entity, {"mode": UpdateMode.MERGE, **if_unchanged(etag)}


def delete(partition: str, row_key: str, etag: str | None = None) -> Operation:
    """Fails the transaction if it is missing, or with an `etag` if it has changed."""
    return "delete", {"PartitionKey": partition, "RowKey": row_key}, if_unchanged(etag) if etag else {}


def if_unchanged(etag: str) -> dict[str, Any]:
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


def size(operation: Operation) -> int:
    return sent_bytes(operation[1])


def parcels(
    operations: Iterable[Operation], *, beside: Sequence[Operation] = (), most: int = OPERATIONS
) -> Iterator[list[Operation]]:
    """The operations, in order, in as few transactions as possible; each leaves space for those `beside`."""
    reserved = _ENVELOPE + sum(map(size, beside))
    yield from packed(operations, size, most - len(beside), TRANSACTION_BYTES - reserved)


def packed(things: Iterable[T], size_of: Callable[[T], int], most: int, size_limit: int) -> Iterator[list[T]]:
    """In order, at most `most` and `size_limit` together; a larger one is alone."""
    parcel: list[T] = []
    taken = 0
    for thing in things:
        its_size = size_of(thing)
        if parcel and (len(parcel) >= most or taken + its_size > size_limit):
            yield parcel
            parcel, taken = [], 0
        parcel.append(thing)
        taken += its_size
    if parcel:
        yield parcel


# ------------------------------------------------------------ how a transaction travels


def send(table: TableClient, operations: Sequence[Operation], **how: Any) -> list[Mapping[str, Any]]:
    """The result of each operation. An error names the refused one; then none is done."""
    if len({entity["PartitionKey"] for _, entity, _ in operations}) != 1:
        raise ValueError("The operations of a transaction are on one partition.")
    boundary = f"batch_{uuid4()}"
    place = table.url.partition("?")[0]
    request = HttpRequest(
        "POST",
        f"{place}/$batch",
        headers={
            "x-ms-version": table.api_version,
            **_HEADERS,
            "Content-Type": f"multipart/mixed; boundary={boundary}",
        },
        content=written(operations, f"{place}/{table.table_name}", table.api_version, boundary),
    )
    # The library's way for whatever it has no words for. It keeps it to itself; a transaction takes the same.
    response = table._client.send_request(request, stream=True, **how)
    response.read()
    if response.status_code != 202:
        raise _refusal(HttpResponseError, response, response.status_code, response.text())
    return _done(response, len(operations))


# ------------------------------------------------------------ the request


def written(operations: Iterable[Operation], table: str, version: str, boundary: str) -> bytes:
    """`table` is its address."""
    changeset = f"changeset_{uuid4()}"
    lines = [f"--{boundary}", f"Content-Type: multipart/mixed; boundary={changeset}", ""]
    for number, operation in enumerate(operations):
        lines += [
            *(f"--{changeset}", "Content-Type: application/http", "Content-Transfer-Encoding: binary"),
            *(f"Content-ID: {number}", "", *_written(operation, table, version)),
        ]
    lines += [f"--{changeset}--", "", f"--{boundary}--", ""]
    return "\r\n".join(lines).encode("ascii")


def _written(operation: Operation, table: str, version: str) -> Iterable[str]:
    kind, entity, conditions = operation
    common = (f"x-ms-version: {version}", "DataServiceVersion: 3.0")
    any_kind = "application/json;odata=minimalmetadata"
    if kind == "delete":
        etag = conditions.get("etag", "*")
        return f"DELETE {_address(table, entity)} HTTP/1.1", *common, f"Accept: {any_kind}", f"If-Match: {etag}", "", ""
    body = json.dumps(_properties(entity))
    about = ("Content-Type: application/json", f"Content-Length: {len(body)}", *common)
    if kind == "create":
        return f"POST {table} HTTP/1.1", *about, f"Accept: {any_kind}", "", body
    verb = "PATCH" if conditions["mode"] == UpdateMode.MERGE else "PUT"
    unchanged = [f"If-Match: {conditions['etag']}"] if "etag" in conditions else []
    return f"{verb} {_address(table, entity)} HTTP/1.1", *about, "Accept: application/json", *unchanged, "", body


def _address(table: str, entity: Entity) -> str:
    partition, row = (quote(entity[key].replace("'", "''"), safe="") for key in ("PartitionKey", "RowKey"))
    return f"{table}(PartitionKey='{partition}',RowKey='{row}')"


def _properties(entity: Entity) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in entity.items():
        if value is None:
            continue
        kind, made[name] = _typed(value)
        if kind:
            made[f"{name}@odata.type"] = kind
    return made


def _typed(value: Any) -> tuple[str, Any]:
    """Its type, unless its JSON implies it, and its JSON."""
    if isinstance(value, str):
        return "Edm.String", value
    if isinstance(value, bool | int) and -_INT32 <= value < _INT32:
        return "", value
    if isinstance(value, float):
        return "Edm.Double", _number(value)
    if isinstance(value, bytes):
        return "Edm.Binary", b64encode(value).decode()
    if isinstance(value, EntityProperty) and value.edm_type == EdmType.INT64:
        return "Edm.Int64", str(value.value)
    raise TypeError(f"No property of ours holds {value!r:.80}.")


def _number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


# ------------------------------------------------------------ what is answered


def _done(response: HttpResponse, expected: int) -> list[Mapping[str, Any]]:
    parts = [(int(status), text) for status, text in _PART.findall(response.text())]
    for status, text in parts:
        if status not in _DONE:
            raise _refusal(TableTransactionError, response, status, text)
    if len(parts) != expected:  # like a lost answer: the result is unknown
        raise ServiceResponseError(f"The answer tells of {len(parts)} operations instead of {expected}.")
    return [{"etag": found[1]} if (found := _ETAG.search(text)) else {} for _, text in parts]


def _refusal(kind: type[HttpResponseError], response: HttpResponse, status: int, text: str) -> HttpResponseError:
    """As the library reports it: the message of a refused operation starts with its index."""
    code = next(filter(None, found.groups()), "") if (found := _CODE.search(text)) else ""
    message = json.loads(found[1]) if (found := _SAID.search(text)) else text
    error = (RequestTooLargeError if status == 413 else kind)(message=message, response=response)
    error.status_code = status
    error.error_code = code or response.headers.get("x-ms-error-code")  # type: ignore[attr-defined]
    return error
