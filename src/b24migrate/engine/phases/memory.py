"""A process's memory of the store and the portals. It may lose entries: everything can be read again."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Lock, local

from b24migrate.engine.phases.texts import TextRewriter
from b24migrate.model.errors import MigrationError
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Link, Table
from b24migrate.model.source_records import FileRef
from b24migrate.model.streams import Stream
from b24migrate.ports import Clock, Store, Target

REMEMBERED = 50_000
ASKED_AGAIN_S = 60.0


class Gone:
    """Records that were requested and that the source no longer has; bounded."""

    def __init__(self) -> None:
        self._ids: set[tuple[str, str]] = set()

    def add(self, stream: str, source_ids: Collection[str]) -> None:
        if len(self._ids) > REMEMBERED:
            self._ids.clear()
        self._ids |= {(stream, one) for one in source_ids}

    def knows(self, stream: str, source_id: str) -> bool:
        return (stream, source_id) in self._ids


class Missed:
    """Records that others were sent without, as far as they are noted; a bounded memory."""

    def __init__(self) -> None:
        self._named: set[tuple[str, str]] = set()
        self._sought = False
        self._lock = Lock()

    def find_new(self, named: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        with self._lock:
            return sorted(set(named) - self._named)

    def add(self, named: Iterable[tuple[str, str]]) -> None:
        """Once they are written."""
        with self._lock:
            if len(self._named) > REMEMBERED:
                self._named.clear()
            self._named.update(named)

    def is_sought(self, ask: Callable[[], bool]) -> bool:
        """Whether anything noted may have come; once it is true it stays so."""
        self._sought = self._sought or ask()
        return self._sought

    def forget(self, named: Iterable[tuple[str, str]]) -> None:
        """When they are not noted any more."""
        with self._lock:
            self._named.difference_update(named)


class Links:
    """Which target ID a source ID became. Only what exists is remembered: a link, once made, keeps its target ID; a
    missing one may come at any time."""

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


class Memory:
    """One per process; its threads share it. A process may do several runs, and between them others change the store:
    what is remembered of records is forgotten when a run begins."""

    def __init__(self, store: Store, streams: Iterable[Stream], source_url: str = "", target_url: str = "") -> None:
        known = list(streams)
        self.links = Links(store, {one.name: one.table for one in known if one.by_natural})
        self.texts = TextRewriter(known, source_url, target_url)
        self.gone = Gone()
        self.missed = Missed()
        self._run = ""
        self.downloaded: dict[str, Sequence[FileRef]] = {}  # some files of each kind that the source gave
        self._job = local()
        self._rules: tuple[str, Sequence[Rule]] | None = None
        self._ask_limit_at = -math.inf
        self._lock = Lock()
        self.asking = Lock()  # held while the source is asked which records are gone

    def start_job(self, run: str, until: float) -> None:
        """Keeps until when this thread may work on its job, on the monotonic clock."""
        self._job.until = until
        with self._lock:
            if run != self._run:
                self._run, self.gone, self.missed = run, Gone(), Missed()
                self.links.forget()

    def job_until(self) -> float:
        until: float = getattr(self._job, "until", math.inf)
        return until

    def fidelity_rules(self, run: str, target: Target) -> Sequence[Rule]:
        """The target's fidelity rules, requested once for each run."""
        with self._lock:
            if self._rules is None or self._rules[0] != run:
                self._rules = run, target.fidelity()
            return self._rules[1]

    def target_file_limit(self, target: Target, clock: Clock) -> int | None:
        """None if the target does not report it. Then it is requested again after a minute."""
        if clock.monotonic() < self._ask_limit_at:
            return None
        try:
            return target.file_bytes()
        except MigrationError:
            self._ask_limit_at = clock.monotonic() + ASKED_AGAIN_S
            return None
