"""By what people know a record."""

from __future__ import annotations

from b24migrate.pipeline.looking_up.model import LONGEST_TITLE, cut
from b24migrate.streams import Seen, Stream


def title_of(stream: Stream, one: Seen) -> str:
    """Whole; a message is its own title."""
    parts = (one.payload.get(name) for name in stream.title)
    return " ".join(str(part) for part in parts if isinstance(part, str | int) and part not in (None, "", False))


def short_title(stream: Stream, one: Seen) -> str:
    return cut(" ".join(title_of(stream, one)[: 4 * LONGEST_TITLE].split()), LONGEST_TITLE)


def emails_of(stream: Stream, one: Seen) -> tuple[str, ...]:
    return tuple(cut(address, LONGEST_TITLE) for address in stream.emails(one) if address)
