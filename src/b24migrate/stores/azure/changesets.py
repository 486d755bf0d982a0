"""A transaction as it travels: the body that asks for it, and what the answer says.

The library builds and reads both by way of e-mail messages, which takes twenty times as long as all the rest that we do
with a record. What is sent is, but for the date of each operation, what the library would send; signing, sending and
repeating stay the library's.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from uuid import uuid4

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

from b24migrate.stores.azure.properties import Entity
from b24migrate.stores.azure.transactions import Operation

_HEADERS = {"DataServiceVersion": "3.0", "MaxDataServiceVersion": "3.0;NetFx", "Accept": "application/json"}
_DONE = range(200, 300)
_INT32 = 1 << 31
_PART = re.compile(r"^HTTP/1\.\d (\d{3})[^\r\n]*\r?\n(.*?)(?=^--|\Z)", re.MULTILINE | re.DOTALL)
_ETAG = re.compile(r"^ETag:\s*(.*?)\r?$", re.MULTILINE | re.IGNORECASE)
_SAID = re.compile(r'"value"\s*:\s*("(?:[^"\\]|\\.)*")')
_CODE = re.compile(r'"code"\s*:\s*"(\w+)"|<(?:\w+:)?code>(\w+)<', re.IGNORECASE)


def send(table: TableClient, operations: Sequence[Operation], **how: Any) -> list[Mapping[str, Any]]:
    """What came of each of them, all of them done. An error tells which of them was refused, and then none is done."""
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


# ------------------------------------------------------------ what is asked


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
    """Its type, unless its JSON tells it, and its JSON."""
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


def _done(response: HttpResponse, asked: int) -> list[Mapping[str, Any]]:
    parts = [(int(status), said) for status, said in _PART.findall(response.text())]
    for status, said in parts:
        if status not in _DONE:
            raise _refusal(TableTransactionError, response, status, said)
    if len(parts) != asked:  # as if it had been lost: nobody knows what became of it
        raise ServiceResponseError(f"The answer tells of {len(parts)} operations instead of {asked}.")
    return [{"etag": found[1]} if (found := _ETAG.search(said)) else {} for _, said in parts]


def _refusal(kind: type[HttpResponseError], response: HttpResponse, status: int, said: str) -> HttpResponseError:
    """As the library tells it: the message of one that was refused begins with its index."""
    code = next(filter(None, found.groups()), "") if (found := _CODE.search(said)) else ""
    message = json.loads(found[1]) if (found := _SAID.search(said)) else said
    error = (RequestTooLargeError if status == 413 else kind)(message=message, response=response)
    error.status_code = status
    error.error_code = code or response.headers.get("x-ms-error-code")  # type: ignore[attr-defined]
    return error
