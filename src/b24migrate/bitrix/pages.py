"""Pages of a listing: rows are slices of the answer, every page is logged; and the reader by `start`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import repeat
from typing import NamedTuple

import msgspec
from msgspec import Raw

from b24migrate.bitrix.batch import SIZE as COMMANDS
from b24migrate.bitrix.batch import BatchAnswer, Batcher
from b24migrate.bitrix.envelope import Part
from b24migrate.messages import say
from b24migrate.model.answers import STRANGE, open_list
from b24migrate.model.errors import MigrationError, Permanent
from b24migrate.model.readings import Listing
from b24migrate.model.records import Args, Json, Page, PageEntry, Row
from b24migrate.model.values import are_numbers, is_odd_id
from b24migrate.ports import Command

SIZE = 50
_LONGEST_SHOWN = 40
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
    """Payloads are verbatim slices; only the ID of a record is decoded. Records without one are skipped and noted in
    `odd`: they must not stop the others of the page."""
    items = open_list(result, path, method).items
    payloads = list(map(bytes, items))
    try:
        ids = first_texts(payloads, field) or map(id_reader(field), items)
        rows = list(map(Row._make, zip(ids, payloads, repeat(None))))
    except msgspec.DecodeError as error:
        found = list(_readable_rows(items, field)) if odd is not None else []
        if odd is None or not found:
            raise Permanent(say("portal.no_id", field=field), code=STRANGE, hint=str(error)) from None
        odd += [say("portal.id_missing", method=method, field=field)] * (len(items) - len(found))
        rows = found
    return rows if odd is None else _without_odd_ids(rows, method, odd)


def _without_odd_ids(rows: list[Row], method: str, odd: list[str]) -> list[Row]:
    if are_numbers([row.source_id for row in rows]):
        return rows
    found = [row for row in rows if not is_odd_id(row.source_id)]
    strange = [row.source_id[:_LONGEST_SHOWN] for row in rows if is_odd_id(row.source_id)]
    odd += [say("portal.id_odd", method=method, id=one) for one in strange]
    return found


def _readable_rows(items: Sequence[Raw], field: str) -> Iterator[Row]:
    read = id_reader(field)
    for item in items:
        with suppress(msgspec.DecodeError):
            yield Row(read(item), bytes(item))


def first_texts(payloads: Sequence[bytes], field: str) -> list[str]:
    """The field of each record, if all start with it and it is a plain text, as in old modules; otherwise nothing."""
    start = b'{"%s":"' % field.encode()
    place = len(start)
    found = [one[place : one.index(b'"', place)] for one in payloads if one.startswith(start)]
    together = b'"'.join(found)
    if len(found) < len(payloads) or b"\\" in together or not together.isascii():
        return []
    return together.decode().split('"')


def rows_by_id(raw: Raw | None) -> Mapping[str, Json]:
    """A list or a map next to the items, decoded only when it is not empty."""
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
    request_hash = hashlib.sha256(msgspec.json.encode(command, enc_hook=str)).hexdigest()
    return PageEntry(number, size, retrieved, request_hash, span.started_at, span.finished_at)


# ---------------------------------------------------------------- pages by `start`
# For listings that cannot be filtered by ID, and listings without pages. The answer names the next `start`; it is
# never computed beyond `total`, because old methods then return their first page again (bitrix24-rest-1 §A7).


@dataclass(frozen=True, slots=True)
class Place:
    """The position of the reader. `first`: the first ID of all, to recognize a repeated first page."""

    start: int = 0
    step: int = 0
    first: str = ""
    total: int | None = None
    page: int = 0
    got: int = 0

    def cursor(self) -> Args:
        return {name: getattr(self, name) for name in self.__slots__}


class OffsetReader:
    def __init__(self, batcher: Batcher, reading: Listing, *, whole: bool = False, via: int = 0) -> None:
        self._batcher = batcher
        self._clock = batcher.portal.clock
        self._reading = reading
        self._whole = whole
        self._via = via

    def read(self, cursor: Args, *, limit: int, gently: bool) -> Page:
        """A cursor with the earlier number of records (`known`) requests all pages at once."""
        known = int(cursor.get("known", 0))
        place = Place(step=0 if self._whole else SIZE, total=known) if known else Place(**cursor)
        commands = [self._command(start) for start in self._starts(place, gently)]
        started_at = self._clock.now()
        if len(commands) == 1:
            answers = [self._batcher.page(commands[0], via=self._via)]
        else:
            answers = self._batcher.pages(commands, via=self._via)
        return self._assemble(place, commands, answers, Span(started_at, self._clock.now()), limit)

    def count(self) -> int | None:
        answer = self._batcher.page(self._command(0), via=self._via)
        return _total(answer, rows_of(answer.result, self._reading.items, self._reading.id, self._reading.method))

    def _starts(self, place: Place, gently: bool) -> list[int]:
        if gently or place.step <= 0 or not place.total or place.total <= place.start:
            return [place.start]
        starts = range(place.start, place.total, place.step)[:COMMANDS]  # lazily: a portal may say any total
        return list(starts)[: self._batcher.room([self._reading.method] * len(starts), via=self._via)]

    def _command(self, start: int) -> Command:
        params = dict(self._reading.params)
        if start or not self._whole:
            params["start"] = start
        return Command(self._reading.method, params)

    def _assemble(
        self, place: Place, commands: Sequence[Command], answers: Sequence[BatchAnswer[Part]], span: Span, limit: int
    ) -> Page:
        known: dict[str, Row] = {}
        odd: list[str] = []
        log: list[PageEntry] = []
        reported = None
        now: Place | None = place
        for command, answer in zip(commands, answers, strict=True):
            if now is None or int(command.params.get("start", 0)) != now.start:
                break  # the portal went another way than expected: follow it
            if isinstance(answer.error, MigrationError):
                if not log:
                    raise answer.error
                break
            rows = rows_of(answer.result, self._reading.items, self._reading.id, self._reading.method, odd)
            if now.start > 0 and rows and rows[0].source_id == now.first:
                now = None
                break
            log.append(entry(now.page, len(rows), len(rows), command, span))
            known.update((row.source_id, row) for row in rows)
            if now.start == 0:
                reported = _total(answer, rows)
                now = replace(now, total=reported, first=rows[0].source_id if rows else "")
            now = self._after(now, answer, rows)
        found = list(known.values())
        room = limit - place.got if limit else len(found)
        if now is not None:
            now = replace(now, got=place.got + len(found))
        more = now is not None and not (limit and len(found) >= room)
        return Page(found[:room], [now.cursor()] if now is not None and more else [], reported, log, alarms=odd)

    @staticmethod
    def _after(place: Place, answer: BatchAnswer[Part], rows: Sequence[Row]) -> Place | None:
        if answer.next is None or answer.next <= place.start or not rows:
            return None
        return replace(place, start=answer.next, step=answer.next - place.start, page=place.page + 1)


def _total(answer: BatchAnswer[Part], rows: Sequence[Row]) -> int | None:
    """Some methods always return 0, `im.recent.list` returns -1, and an empty list may have no total."""
    if answer.total is None or answer.total < len(rows):
        return None
    return answer.total
