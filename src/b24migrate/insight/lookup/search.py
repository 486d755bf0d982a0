"""Finding records: by id and e-mail at once, by a part of the title in a walk that ends in time and can go on."""

from __future__ import annotations

import base64
import unicodedata
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.lookup import related
from b24migrate.insight.lookup.fields import decode_or_empty, list_emails, quick_title, short_title
from b24migrate.insight.lookup.model import Hit, Hits
from b24migrate.insight.lookup.record import is_possible_id, owner_name
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Record, Span, order_key
from b24migrate.model.streams import Stream


def fold(text: str) -> str:
    """For comparison: without case and without dots."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


class Query(NamedTuple):
    """The search text and its words: each must occur, in any order."""

    text: str
    words: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Query:
        text = text.strip()
        return cls(text, tuple(dict.fromkeys(fold(text).split())))

    @property
    def natural(self) -> str:
        """As stores keep natural keys."""
        return self.text.lower()

    def match(self, stream: Stream, record: Record) -> str:
        """The text that matches; empty if none does. An empty search matches everything."""
        if not self.words:
            return "title"
        if record.row_key.rpartition(":")[2] == self.text:
            return "child"
        if record.target_id == self.text:
            return "target"
        return self._in_text(stream, record)

    def _in_text(self, stream: Stream, record: Record) -> str:
        title = fold(quick_title(stream, record.payload))
        if all(word in title for word in self.words):
            return "title"
        return "email" if "@" in self.text and self._is_written_to(stream, record) else ""

    def _is_written_to(self, stream: Stream, record: Record) -> bool:
        address = self.natural
        if address.isascii() and address.encode() not in record.payload.lower():  # nearly always, and cheap
            return False
        return any(address in one.lower() for one in list_emails(stream, decode_or_empty(record, stream)))


AT_ONCE = 500
AT_FIRST = 25  # until it is known how large the records are
SIDE_BY_SIDE = 4  # questions to a store that may be far away
AT_STAKE = 4 << 20  # bytes of payload in memory
FOUND_S = 0.02  # for the walk, if an ID or an email already found its record


class Cursor(NamedTuple):
    """After which record of which stream it continues."""

    stream: str
    after: str

    def text(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(list(self))).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Raises BadConfiguration."""
        try:
            raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            stream, after = msgspec.json.decode(raw, type=tuple[str, str])
        except (ValueError, msgspec.MsgspecError):
            raise _usage(say("lookup.bad_position"), say("lookup.search_again")) from None
        return cls(stream, after)


def search(
    context: RunContext, text: str, *, stream: str = "", after: str = "", budget_s: float = 1.0, limit: int = 50
) -> Hits:
    """Exact hits first, each once; then those of the walk, which looks at every record once over all its pages. No text
    finds everything. Raises BadConfiguration for a stream or a place that does not exist."""
    wanted = Query.parse(text)
    streams = _streams(context, stream)
    at = Cursor.parse(after) if after else None
    if at is not None and at.stream not in {one.name for one in streams}:
        raise _usage(say("lookup.other_search"), say("lookup.search_again"))
    hits = [] if at else _exact(context, wanted, streams)
    patience_s = min(budget_s, FOUND_S) if hits else budget_s
    walk = _Walk(context, wanted, streams, at, context.clock.monotonic() + patience_s)
    hits += walk.hits(max(1, limit) - len(hits))
    return Hits(tuple(hits), walk.looked_at, walk.next)


def _streams(context: RunContext, name: str) -> list[Stream]:
    """Records without a parent first: they are fewer than their children, and users look for them more."""
    if name:
        if name not in context.streams:
            raise _usage(say("lookup.no_stream", name=name), say("lookup.valid", names=list(context.streams)))
        return [context.streams[name]]
    sent = [stream for entity in context.entities for stream in entity.streams]
    others = [stream for stream in context.streams.values() if stream.name not in context.owner]
    return sorted([*sent, *others], key=lambda one: bool(one.parent) or one.name not in context.owner)


# ---------------------------------------------------------------- exactly


def _exact(context: RunContext, wanted: Query, streams: Sequence[Stream]) -> list[Hit]:
    if not is_possible_id(wanted.text):
        return []
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        found = list(threads.map(lambda stream: _by_id(context, stream, wanted.text), streams))
    found += [_by_email(context, stream, wanted) for stream in streams]
    return list({(one.stream, one.id): one for one in reversed(found) if one}.values())[::-1]


def _by_id(context: RunContext, stream: Stream, source_id: str) -> Hit | None:
    record = context.store.get(stream.table, [source_id]).get(source_id)
    if record is not None:
        return _hit(context, stream, record, "id")
    aside = related.aside(context, stream.name, source_id)
    if aside is None:
        return None
    return Hit(stream.name, owner_name(context, stream), source_id, aside.name, "", aside.why, "", "id")


def _by_email(context: RunContext, stream: Stream, wanted: Query) -> Hit | None:
    holder = _holder(context, stream, wanted)
    record = context.store.get(stream.table, [holder]).get(holder) if holder else None
    return None if record is None else _hit(context, stream, record, "email")


def _holder(context: RunContext, stream: Stream, wanted: Query) -> str | None:
    return context.store.holder(stream.table, wanted.natural) if stream.natural and "@" in wanted.text else None


def _hit(context: RunContext, stream: Stream, record: Record, by: str) -> Hit:
    one = decode_or_empty(record, stream)
    return Hit(
        stream.name,
        owner_name(context, stream),
        record.row_key,
        short_title(stream, one),
        next(iter(list_emails(stream, one)), ""),
        record.status.value,
        record.target_id or "",
        by,
    )


# ---------------------------------------------------------------- one after another


class _Walk:
    def __init__(
        self, context: RunContext, wanted: Query, streams: Sequence[Stream], at: Cursor | None, until_s: float
    ) -> None:
        self._context = context
        self._wanted = wanted
        self._at = at
        self._until_s = until_s
        names = [one.name for one in streams]
        self._streams = streams[names.index(at.stream) :] if at else streams
        self.looked_at = 0
        self.next: str | None = None

    def hits(self, most: int) -> list[Hit]:
        found: list[Hit] = []
        for stream, record, more in self._records():
            self.looked_at += 1
            if (by := self._wanted.match(stream, record)) and not self._is_exact(stream, record):
                found.append(_hit(self._context, stream, record, by))
            if len(found) >= most or not more:
                self.next = Cursor(stream.name, order_key(record.row_key)).text()
                break
        return found

    def _is_exact(self, stream: Stream, record: Record) -> bool:
        """It was shown before the walk started."""
        if record.row_key == self._wanted.text:
            return True
        return (
            bool(record.natural)
            and record.natural == self._wanted.natural
            and (_holder(self._context, stream, self._wanted) == record.row_key)
        )

    def _records(self) -> Iterator[tuple[Stream, Record, bool]]:
        """Each with whether there is time for the next one."""
        size = AT_FIRST
        for stream in self._streams:
            after = self._at.after if self._at and self._at.stream == stream.name else ""
            while records := self._context.store.records(stream.table, Span(after), size):
                in_time = self._context.clock.monotonic() < self._until_s
                for record in records[:-1]:
                    yield stream, record, True
                yield stream, records[-1], in_time
                after = order_key(records[-1].row_key)
                size = _page_size(records)


def _page_size(records: Sequence[Record]) -> int:
    """So many records of this size fit into memory at once."""
    average = sum(len(one.payload) for one in records) // len(records) + 1
    return max(1, min(AT_ONCE, AT_STAKE // average))


def _usage(message: str, hint: str) -> BadConfiguration:
    return BadConfiguration(message, hint=hint, code="USAGE")
