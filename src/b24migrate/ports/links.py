"""Links: which target id a source id became."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Protocol

from b24migrate.model.records import Link


class Links(Protocol):
    """Which target id a source id became."""

    def links(self, stream: str, source_ids: Collection[str]) -> dict[str, Link]:
        """Those that exist."""
        ...

    def link(self, stream: str, links: Sequence[Link], *, now: datetime) -> None:
        """Writes links that no import made (loaded or matched)."""
        ...

    def all_links(self, stream: str) -> Iterator[Link]: ...

    def unlink(self, stream: str, source_ids: Collection[str]) -> None:
        """Forgets the links of these; a missing one is ignored."""
        ...
