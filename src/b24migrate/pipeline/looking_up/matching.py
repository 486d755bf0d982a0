"""Whether a record is one that somebody looks for."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from b24migrate.phases.work import seen
from b24migrate.pipeline.looking_up.titles import emails_of, title_of
from b24migrate.records import Record
from b24migrate.streams import Stream


def folded(text: str) -> str:
    """As people compare: without case, and without the dots that nobody types."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


class Wanted(NamedTuple):
    """What was typed, and its words: each must be there, in any order."""

    text: str
    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Wanted:
        text = text.strip()
        return cls(text, tuple(dict.fromkeys(folded(text).split())))

    @property
    def natural(self) -> str:
        """As stores keep natural keys."""
        return self.text.lower()

    def by(self, stream: Stream, record: Record) -> str:
        """What gave it away; empty for another record. No text at all finds everything."""
        if not self.words:
            return "title"
        if record.row_key.rpartition(":")[2] == self.text:
            return "child"
        if record.target_id == self.text:
            return "target"
        return self._in_text(stream, record)

    def _in_text(self, stream: Stream, record: Record) -> str:
        title = folded(glance(stream, record))
        if all(word in title for word in self.words):
            return "title"
        if "@" not in self.text or not has_emails(stream):
            return ""
        return "email" if self.text.lower() in map(str.lower, emails_of(stream, seen(record, stream))) else ""


def has_emails(stream: Stream) -> bool:
    return stream.emails is not Stream.__dataclass_fields__["emails"].default


def glance(stream: Stream, record: Record) -> str:
    """The title, without decoding the rest where the payload has it under its own name."""
    if stream.view is not None:
        return title_of(stream, seen(record, stream))
    parts = _few(stream.title)(record.payload)
    return " ".join(str(part) for part in parts if isinstance(part, str | int) and part not in (None, "", False))


@lru_cache(maxsize=128)
def _few(names: tuple[str, ...]) -> Callable[[bytes], tuple[Any, ...]]:
    slots = [f"f{place}" for place in range(len(names))]
    renamed = dict(zip(slots, names, strict=True))
    shape = msgspec.defstruct("Few", [(slot, Any, None) for slot in slots], rename=renamed.get, gc=False)
    decode = msgspec.json.Decoder(shape).decode
    values = attrgetter(*slots)
    if len(slots) == 1:
        return lambda payload: (values(decode(payload)),)
    return lambda payload: values(decode(payload))
