"""Which target id a source id became, with a bounded memory of what was asked before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import Lock

from b24migrate.model.records import Link, Table
from b24migrate.ports import Store

REMEMBERED = 50_000


class Gone:
    """Records that the source was asked for and has no longer; a bounded memory."""

    def __init__(self) -> None:
        self._ids: set[tuple[str, str]] = set()

    def add(self, stream: str, source_ids: Collection[str]) -> None:
        if len(self._ids) > REMEMBERED:
            self._ids.clear()
        self._ids |= {(stream, one) for one in source_ids}

    def knows(self, stream: str, source_id: str) -> bool:
        return (stream, source_id) in self._ids


class Links:
    """Only what exists is remembered: a link, once made, keeps its target id; a missing one may come at any time."""

    def __init__(self, store: Store, by_natural: Mapping[str, Table] | None = None) -> None:
        self._store = store
        self._by_natural = by_natural or {}  # streams that others refer to by their natural key
        self._lock = Lock()
        self._known: dict[str, dict[str, str]] = {}

    def target_ids(self, stream: str, source_ids: Collection[str]) -> dict[str, str]:
        known = self._known.setdefault(stream, {})
        # in one look at each: others forget them all when they are too many
        found = {one: target_id for one in source_ids if (target_id := known.get(one))}
        missing = [one for one in source_ids if one not in found]
        if missing:
            asked = self._ask(stream, missing)
            found |= asked
            with self._lock:
                if len(known) > REMEMBERED:
                    known.clear()
                known |= asked
        return found

    def _ask(self, stream: str, names: Collection[str]) -> dict[str, str]:
        table = self._by_natural.get(stream)
        if table is None:
            return {one: link.target_id for one, link in self._store.links(stream, names).items()}
        ids = {name: row_key for name in names if (row_key := self._store.holder(table, name))}
        found = self._store.links(stream, list(ids.values()))
        return {name: found[row_key].target_id for name, row_key in ids.items() if row_key in found}

    def target_id(self, stream: str, source_id: str) -> str | None:
        known = self._known.get(stream, {}).get(source_id)
        return known or self.target_ids(stream, (source_id,)).get(source_id)

    def link(self, stream: str, source_id: str) -> Link | None:
        return self._store.links(stream, (source_id,)).get(source_id)

    def forget(self) -> None:
        """After links were loaded or taken back by hand."""
        with self._lock:
            self._known.clear()
