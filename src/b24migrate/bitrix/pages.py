"""What all ways of paging share: rows are slices of the answer, and every page leaves an entry in the log."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from itertools import repeat
from typing import NamedTuple

import msgspec
from msgspec import Raw

from b24migrate.bitrix.envelope import Part
from b24migrate.messages import say
from b24migrate.model.answers import STRANGE, open_list
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Json, PageEntry, Row
from b24migrate.ports import Command

SIZE = 50
SEGMENT = 1_000_000  # page numbers: segment x SEGMENT + page


@cache
def id_reader(field: str) -> Callable[[Raw], str]:
    """Ids are texts in old modules and numbers in newer ones. `A:B` joins two fields; no field: the item itself."""
    if not field:
        whole = msgspec.json.Decoder(str | int)
        return lambda raw: str(whole.decode(raw))
    names = field.split(":")
    fields = [(f"f{place}", str | int) for place in range(len(names))]
    shape = msgspec.defstruct("Id", fields, rename={f"f{place}": name for place, name in enumerate(names)}.get)
    decode = msgspec.json.Decoder(shape).decode
    if len(names) > 1:
        return lambda raw: ":".join(str(getattr(decode(raw), name)) for name, _ in fields)
    # The id is nearly always the first field: then nothing else of the record is walked through.
    first = re.compile(rb'\{"%s":(?:"([ !#-\[\]-~]*)"|(-?[0-9]+))[,}]' % re.escape(field.encode())).match

    def read(raw: Raw) -> str:
        found = first(raw)
        return found[found.lastindex or 0].decode() if found else str(decode(raw).f0)  # type: ignore[attr-defined]

    return read


def rows_of(
    result: Part, path: tuple[str, ...], field: str, method: str = "", odd: list[str] | None = None
) -> list[Row]:
    """Payloads are verbatim slices; nothing of a record is decoded but its id. Records without one are left out and
    told in `odd`: one of them must not keep a page of others from being read."""
    items = open_list(result, path, method).items
    payloads = list(map(bytes, items))
    try:
        ids = first_texts(payloads, field) or map(id_reader(field), items)
        return list(map(Row._make, zip(ids, payloads, repeat(None))))
    except msgspec.DecodeError as error:
        found = list(_readable_rows(items, field)) if odd is not None else []
        if odd is None or not found:
            raise Permanent(say("portal.no_id", field=field), code=STRANGE, hint=str(error)) from None
        odd += [say("portal.id_missing", method=method, field=field)] * (len(items) - len(found))
        return found


def _readable_rows(items: Sequence[Raw], field: str) -> Iterator[Row]:
    read = id_reader(field)
    for item in items:
        with suppress(msgspec.DecodeError):
            yield Row(read(item), bytes(item))


def first_texts(payloads: Sequence[bytes], field: str) -> list[str]:
    """The field of each, when all begin with it and have a plain text there, as old modules do; else nothing."""
    start = b'{"%s":"' % field.encode()
    place = len(start)
    found = [one[place : one.index(b'"', place)] for one in payloads if one.startswith(start)]
    together = b'"'.join(found)
    if len(found) < len(payloads) or b"\\" in together or not together.isascii():
        return []
    return together.decode().split('"')


def rows_by_id(raw: Raw | None) -> Mapping[str, Json]:
    """A list or a map beside the items, decoded only when it is not empty."""
    if raw is None or len(bytes(raw)) <= len("null"):
        return {}
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return {}
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {str(member["id"]): member for member in members if isinstance(member, dict) and "id" in member}


class Span(NamedTuple):
    """When a request was made."""

    started_at: datetime
    finished_at: datetime


def entry(number: int, size: int, retrieved: int, command: Command, span: Span) -> PageEntry:
    asked = hashlib.sha256(msgspec.json.encode(command, enc_hook=str)).hexdigest()
    return PageEntry(number, size, retrieved, asked, span.started_at, span.finished_at)
