"""The overview of the front page: read at most every two seconds for all clients, less often from a remote store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.status import StatusReader
from b24migrate.insight.status.model import Overview
from b24migrate.model.errors import MigrationError
from b24migrate.web.context import Context

EVERY_S = 1.8  # a page requests it every two seconds; for all pages together the store is read once
LOOKING_SHARE = 0.1  # of the time that goes by
WHATEVER = object()
OLDEST_S = 30.0  # a failed read is replaced by the last overview for so long


class OverviewCache:
    def __init__(self, context: Context, now: Callable[[], float] = time.monotonic) -> None:
        self._context = context
        self._now = now
        self._looking_at: tuple[RunContext, StatusReader] | None = None
        self._looking = threading.Lock()
        self._seen: Overview | None = None
        self._seen_s = 0.0
        self._due_s = 0.0
        self._since: object = None

    def look(self, since: object = WHATEVER, *, fresh: bool = False) -> Overview:
        """During a read other clients get the last overview, unless they want it `fresh` or `since` differs from the
        last read. Raises a MigrationError if the store cannot be read."""
        if self._seen is not None and not fresh and self._is_since(since):
            if self._now() < self._due_s or not self._looking.acquire(blocking=False):
                return self._seen
        else:
            self._looking.acquire()
        try:
            if self._seen is None or fresh or not self._is_since(since) or self._now() >= self._due_s:
                self._seen = self._look(fresh=fresh)
                self._since = self._since if since is WHATEVER else since
            return self._seen
        finally:
            self._looking.release()

    def _is_since(self, since: object) -> bool:
        return since is WHATEVER or since == self._since

    def expire(self) -> None:
        """The kept overview is outdated, because an action changed something."""
        self._due_s = 0.0
        if self._looking_at is not None:
            self._looking_at[1].forget_counts()

    def _look(self, *, fresh: bool) -> Overview:
        began_s = self._now()
        try:
            with self._context.app() as app:
                found = self._reader(app.context).overview()
        except MigrationError:
            if self._seen is None or fresh or began_s - self._seen_s > OLDEST_S:
                raise
            self._due_s = began_s + EVERY_S  # a remote store may fail once
            return self._seen
        now_s = self._now()
        self._seen_s = now_s
        self._due_s = now_s + max(EVERY_S, (now_s - began_s) / LOOKING_SHARE)
        return found

    def _reader(self, context: RunContext) -> StatusReader:
        """The reader, kept as long as the store is the same: it remembers earlier reads."""
        if self._looking_at is None or self._looking_at[0] is not context:
            self._looking_at = context, StatusReader(context)
        return self._looking_at[1]
