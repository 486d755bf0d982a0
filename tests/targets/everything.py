"""A company with everything, on its way to a box that has nothing but its own methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tests.engine.world import World, small, world

from b24migrate.app import App
from b24migrate.engine.run import RunResult
from b24migrate.insight import fidelity
from b24migrate.model.errors import Limited, Transient
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Item, Outcome
from b24migrate.model.streams import PHASES
from b24migrate.targets.rest.journal import LONGEST_S
from b24sim import Portal

PLAN = small(
    companies=8,
    contacts=10,
    deals=18,
    smart_items=8,
    tasks=9,
    posts=10,
    comments_per_post=2,
    templates=3,
    messages=40,
)
# What the source itself has lost is left out, so that every record arrives.
POLICY = {"crm_deals.categoryId": "drop", "crm_deals.stageId": "drop", "tasks.groupId": "drop"}
EVERYTHING = (
    *("users", "groups", "chats", "tasks", "feed", "workflows"),
    *("crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems"),
)
WRITES = ("*.add", "*.create", "crm.item.batchImport", "*.update", "*.set", "*.uploadfile", "*.commit", "*.setOwner")


class Announced(NamedTuple):
    stream: str
    field: str
    expected: int
    seen: int
    by_the_record: bool  # else it depends on others


def _announced(rule: Rule, count: int, found: Counter[tuple[str, str]]) -> Announced:
    shown = sum(number for (stream, field), number in found.items() if stream == rule.stream and rule.concerns(field))
    return Announced(rule.stream, rule.field, count, shown, rule.running is None and not rule.field.endswith("*"))


@dataclass
class Move:
    """One migration by the box's own methods."""

    world: World

    @contextmanager
    def app(self) -> Iterator[App]:
        with self.world.app() as opened:
            app = opened.with_context(opened.context.with_options(verify_all=True))
            app.gate.consent = lambda _: "a test"
            yield app

    def run(self, *entities: str, phases: Sequence[str] = PHASES) -> RunResult:
        with self.app() as app:
            return app.runner.run(app.chosen(entities), phases, tick=self.world.leap())

    def send(self, entity: str, stream: str, *items: Item) -> list[Outcome]:
        """As the jobs of a run do: what is nobody's fault is repeated, each time by a process of its own."""
        while True:
            with self.app() as app, suppress(Transient, Limited):
                return app.context.target.send(entity, stream, items, run="r")
            self.world.clock.sleep(LONGEST_S)

    def finalize(self) -> None:
        after: str | None = ""
        while after is not None:
            with self.app() as app, suppress(Transient, Limited):
                after = app.context.target.finalize(after, run="r")

    def lose(self, every: int, *methods: str) -> None:
        """Answers to writes get lost after the box has acted."""
        self.world.strike_box(*({"method": one, "kind": "lost", "every": every} for one in methods or WRITES))

    # ------------------------------------------------------------ looking

    @property
    def unforeseen(self) -> list[tuple[Any, ...]]:
        return self.world.sql("SELECT Stream, Fate, SourceId, Field, Expected, Actual FROM Findings")

    @property
    def spared(self) -> list[tuple[Any, ...]]:
        return self.world.sql("SELECT Stream, SourceId, Field, Expected, Actual FROM Spared")

    def foreseen(self) -> Counter[tuple[str, str]]:
        rows = self.world.sql("SELECT Stream, Field FROM Foreseen WHERE SourceId <> '*'")
        return Counter((stream, field) for stream, field in rows)

    def announced(self) -> list[Announced]:
        """Every rule about a field, with how many records it concerns and how often it was seen to be true."""
        found = self.foreseen()
        with self.app() as app:
            rules = fidelity.ask_target(app.context)
            lines = fidelity.make_list(app.context, rules).lines
            counts = {(line.stream, line.field): line.records or 0 for line in lines}
            return [_announced(rule, counts[rule.stream, rule.field], found) for rule in rules if rule.field]

    def statuses(self) -> dict[str, Counter[str]]:
        with self.app() as app:
            tables = {stream.name: stream.table.name for stream in app.catalog.streams.values()}
        return {
            name: Counter(row["Status"] for row in self.world.table(table, "Status")) for name, table in tables.items()
        }

    def twice(self) -> list[str]:
        ledger = self.world.box.portal.native
        return [f"{one.kind} {one.stamp}" for one in ledger.entries.values() if ledger.made(one) > 1]


@contextmanager
def moving(folder: Path, *entities: str, box: Portal | None = None, **plan: Any) -> Iterator[Move]:
    """Tasks of a company whose deals stay go without them."""
    policy = POLICY if not entities or "crm_deals" in entities else {**POLICY, "tasks.ufCrmTask": "drop"}
    with world(folder, replace(PLAN, **plan), box=box) as made:
        made.settings = {
            "run": {"entities": list(entities or EVERYTHING)},
            "target": {"kind": "rest"},
            "mapping": {"placeholder_user": "1", "policy": policy},
        }
        yield Move(made)
