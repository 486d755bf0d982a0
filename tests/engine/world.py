"""A cloud, a box and a store of their own for one test, and a clock on which waiting takes no time."""

from __future__ import annotations

import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.empty_store import put_empty_store

from b24migrate.app import App, open_app
from b24migrate.config import load
from b24migrate.engine import requeue
from b24migrate.engine.run import RunResult
from b24migrate.insight import status
from b24migrate.insight.status.model import EntityStatus, StreamStatus
from b24migrate.model.events import Event
from b24migrate.model.streams import PHASES
from b24sim import Company, Plan, Portal, Running, serve
from b24sim.company.changes import change
from b24sim.faults import Faults

Json = Any
TALK = ("users", "groups", "chats")
SMALL = Plan(users=12, departments=4, groups=4, chats=8, messages=120, files=6, seed=5, foreign_chats=0.0)
CONFIG = """
[source]
webhook = "{source}"
more_webhooks = [{others}]
requests_per_second = 0
operating_seconds = 0
[target]
webhook = "{target}"
"""


TICK_S = 0.02  # the clock leaps that often: each retry waits so long in real time
# One query, so that no worker can take a job between two: the end of its lease would look like the next due job.
IDLE_UNTIL = "SELECT min(VisibleAt) FROM Jobs WHERE NOT EXISTS (SELECT 1 FROM Jobs WHERE Owner IS NOT NULL)"


class LeapingClock:
    """Real time, except that sleeps take no time, and neither do waits without a running job."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead)

    def monotonic(self) -> float:
        return time.monotonic() + self._ahead

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._ahead += max(0.0, seconds)

    @contextmanager
    def standing(self) -> Iterator[None]:
        """Nobody leaps: a box that starts again needs moments of real time, and others would wait for days meanwhile."""
        with self._lock:
            yield


@dataclass
class Migration(ABC):
    """Everything within reach, whatever the box is. `run` is one process's life: it opens the store, runs, and closes
    it."""

    cloud: Running
    folder: Path
    webhooks: Sequence[int] = (1,)
    clock: LeapingClock = field(default_factory=LeapingClock)
    seen: list[tuple[datetime, Event]] = field(default_factory=list)
    settings: dict[str, dict[str, Json]] = field(default_factory=dict)

    # ------------------------------------------------------------ running

    @contextmanager
    def app(self, **settings: dict[str, Json]) -> Iterator[App]:
        config = self.folder / "b24migrate.toml"
        first, *others = [self.cloud.webhook(user) for user in self.webhooks]
        listed = ", ".join(f'"{one}"' for one in others)
        entities = list(self.settings.get("run", {}).get("entities", ()))  # also for processes of their own
        text = CONFIG.format(source=first, others=listed, target=self.target_webhook)
        config.write_text(f"{text}[run]\nentities = {entities}\n")
        tables = {name: self.settings.get(name, {}) | settings.get(name, {}) for name in {*self.settings, *settings}}
        loaded = load(config, environ={}, **tables)  # type: ignore[arg-type]
        if "store" not in tables:
            put_empty_store(self.folder)
        with open_app(loaded, base=self.folder, observers=(self._saw,), clock=self.clock) as app:
            yield replace(app, runner=replace(app.runner, tick_s=TICK_S))

    def run(self, *entities: str, phases: Sequence[str] = PHASES, **settings: dict[str, Json]) -> RunResult:
        """Raises Stop as the runner does."""
        with self.app(**settings) as app:
            return app.runner.run(app.chosen(entities), phases, named=entities, tick=self.leap())

    def retry(self, *entities: str, code: str = "", **settings: dict[str, Json]) -> RunResult:
        with self.app(**settings) as app:
            renewed = requeue.requeue(app.context, entities or app.chosen(), code)
            return requeue.run_requeued(app.runner, renewed, self.leap())

    def leap(self) -> Callable[[], None]:
        """To the next job that becomes visible, when no worker is at one."""

        def tick() -> None:
            ((due,),) = self.sql(IDLE_UNTIL)
            if due is not None:
                self.clock.sleep((datetime.fromisoformat(due) - self.clock.now()).total_seconds())

        return tick

    def _saw(self, event: Event) -> None:
        self.seen.append((self.clock.now(), event))

    # ------------------------------------------------------------ looking

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.seen]

    def sql(self, query: str, *values: Json) -> list[tuple[Json, ...]]:
        """Reads the store's file directly, not through our own code."""
        with closing(sqlite3.connect(self.folder / "b24migrate.db", timeout=60)) as connection:
            return connection.execute(query, values).fetchall()

    def entity(self, name: str) -> EntityStatus:
        with self.app() as app:
            return status.snapshot(app.context).entities[name]

    def stream(self, name: str) -> StreamStatus:
        with self.app() as app:
            return self.entity(app.catalog.owner[name].name).streams[name]

    def table(self, table: str, *columns: str) -> list[dict[str, Json]]:
        """All rows in order of id."""
        rows = self.sql(f'SELECT {", ".join(columns)} FROM "{table}" ORDER BY Ord')  # noqa: S608 (our own names)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def records(self, table: str) -> dict[str, dict[str, Json]]:
        names = ("RowKey", "Status", "Attempts", "LastErrorCode", "TargetId", "PulledThrough", "Revision")
        return {row["RowKey"]: row for row in self.table(table, *names)}

    def deleted(self, table: str) -> set[str]:
        """The records that count as deleted in the source."""
        return {str(row["RowKey"]) for row in self.table(table, "RowKey", "DeletedUtc") if row["DeletedUtc"]}

    def take_calls(self) -> Counter[str]:
        """How often each method of the source was called since the last time, inside batches too."""
        stats = self.cloud.portal.stats
        calls = Counter(stats.methods) + Counter(stats.inner)
        stats.reset()
        return calls

    def letters(self) -> list[tuple[Json, ...]]:
        return self.sql("SELECT Scope, Kind, Code, Args FROM DeadLetters ORDER BY Seq")

    @property
    @abstractmethod
    def target_webhook(self) -> str: ...

    @abstractmethod
    def dump(self, stream: str) -> list[dict[str, Json]]:
        """The imported records, from the box's control API."""

    def imported(self, stream: str) -> dict[str, dict[str, Json]]:
        """The imported records by key."""
        return {str(row["key"]): row for row in self.dump(stream)}

    def effects(self) -> dict[str, tuple[int, int]]:
        """How often each key was created and updated."""
        streams = ("departments", "users", "groups", "group_members", "chats", "chat_messages", "files")
        rows = [row for stream in streams for row in self.imported(stream).values()]
        return {row["key"]: (row["created_count"], row["updated_count"]) for row in rows}

    # ------------------------------------------------------------ meddling

    def change(self, stream: str, op: str = "update", **wish: Json) -> list[int]:
        portal = self.cloud.portal
        return change(portal.company, portal.clock.now(), {"stream": stream, "op": op, **wish})

    def strike_cloud(self, *rules: dict[str, Json]) -> None:
        self.cloud.portal.faults = Faults(rules)


@dataclass
class World(Migration):
    """To a simulated box."""

    box: Running = field(kw_only=True)

    @property
    def target_webhook(self) -> str:
        return self.box.webhook()

    def dump(self, stream: str) -> list[dict[str, Json]]:
        return self.box.portal.imports.dump(stream)

    def strike_box(self, *rules: dict[str, Json]) -> None:
        self.box.portal.faults = Faults(rules)


@contextmanager
def world(
    folder: Path, plan: Plan = SMALL, *, webhooks: Sequence[int] = (1,), box: Portal | None = None, **portal: Json
) -> Iterator[World]:
    """If the plan has no CRM, only users, groups and chats are migrated."""
    settings = {"run": {"entities": list(TALK)}} if plan.deals is None else {}
    with ExitStack() as stack:
        cloud = stack.enter_context(serve(Portal(Company(plan), webhooks=webhooks, **portal)))
        target = stack.enter_context(serve(box or Portal(role="box")))
        yield World(cloud, folder, webhooks, settings=settings, box=target)


def small(**numbers: Json) -> Plan:
    return replace(SMALL, **numbers)
