"""Whether a record is one that somebody looks for."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from b24migrate.phases.work import seen
from b24migrate.pipeline.looking_up.titles import emails_of, glance
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
        title = folded(glance(stream, record.payload))
        if all(word in title for word in self.words):
            return "title"
        return "email" if "@" in self.text and self._is_written_to(stream, record) else ""

    def _is_written_to(self, stream: Stream, record: Record) -> bool:
        address = self.natural
        if address.isascii() and address.encode() not in record.payload.lower():  # nearly always, and cheap
            return False
        return any(address in one.lower() for one in emails_of(stream, seen(record, stream)))
