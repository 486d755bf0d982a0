"""Which target id a source id became, with a bounded memory of what was asked before."""

from __future__ import annotations

from collections.abc import Collection
from threading import Lock

from b24migrate.ports import Store
from b24migrate.records import Link

REMEMBERED = 50_000


class Links:
    """Only what exists is remembered: a link, once made, keeps its target id; a missing one may come at any time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._known: dict[str, dict[str, str]] = {}

    def target_ids(self, stream: str, source_ids: Collection[str]) -> dict[str, str]:
        known = self._known.setdefault(stream, {})
        found = {one: known[one] for one in source_ids if one in known}
        missing = [one for one in source_ids if one not in found]
        if missing:
            asked = {one: link.target_id for one, link in self._store.links(stream, missing).items()}
            found |= asked
            with self._lock:
                if len(known) > REMEMBERED:
                    known.clear()
                known |= asked
        return found

    def target_id(self, stream: str, source_id: str) -> str | None:
        known = self._known.get(stream, {}).get(source_id)
        return known or self.target_ids(stream, (source_id,)).get(source_id)

    def link(self, stream: str, source_id: str) -> Link | None:
        return self._store.links(stream, (source_id,)).get(source_id)

    def forget(self) -> None:
        """After links were loaded or taken back by hand."""
        with self._lock:
            self._known.clear()
