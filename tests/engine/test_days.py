"""Days of work at the source and a delta pass after each: the box has what the source has, but for what is explained.

`make chaos-days` does the same with real processes that are killed, bad weather, and people who change things on the
box."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.chaos.ledger import Ledger
from tests.chaos.oracle import Source, source_of
from tests.chaos.portals import Portal
from tests.chaos.proof import differences
from tests.engine.every_stream import PLAN
from tests.engine.world import World, world

from b24migrate.insight import status
from b24migrate.report import Request, make_report
from b24sim import Running

SHARE = 0.15  # of a company that small: something changes in every stream
DAYS = 2
HOURS = 20  # between the work and the pass: more than the overlap of two passes


def test_after_each_day_the_box_has_what_the_source_has(tmp_path: Path) -> None:
    """Also with an owner west of the server."""
    with world(tmp_path, replace(PLAN, seed=11, messages=40, owner_zone="America/New_York")) as made:
        made.settings = {"mapping": {"placeholder_user": "1"}, "run": {"user_coverage": 0.5, "deletions_limit": 100}}
        made.run()
        ledger = Ledger()
        assert list(compare(made, ledger)) == []
        for day in range(DAYS):
            ledger.note(made.cloud.portal.mutate(day, 1, SHARE))
            made.cloud.portal.clock.advance(HOURS * 3600)
            with made.app() as app:
                app.runner.run(app.chosen(()), delta=True, tick=made.leap())
            assert list(compare(made, ledger)) == []
        assert all(ledger.counts[done] for done in ("created", "changed", "deleted", "invisible"))


def compare(made: World, ledger: Ledger) -> Iterator[str]:
    cloud, box = seen_from_outside(made.cloud), seen_from_outside(made.box)
    source: Source = source_of(cloud)
    source.placeholder = "1"
    folder = made.folder / "report"
    with made.app() as app:
        make_report(app, Request(folder, "en", str, True))
        told = status.snapshot(app.context).to_json()
    yield from ledger.differences(source, cloud.now(), differences(source, box))
    yield from ledger.deletions(source, cloud, table(folder, "deleted"), table(folder, "links"), "keep")
    yield from ledger.accounts(source, told)
    ledger.look(source)


def seen_from_outside(running: Running) -> Portal:
    return Portal(str(running.ready()["control"]), running.webhook())


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_deletion_is_demanded_only_of_what_a_pass_was_shown() -> None:
    """An item of a checklist that comes and goes while its task does not change may have been missed."""
    ledger, items = Ledger(), "task_checklists"
    ledger.look(shown(items, "1:1"))
    lists = {"created": ["1:2", "1:3"], "changed": [], "deleted": []}
    unseen = {"stream": items, "id": "1:2", "done": "created", "trap": "checklist"}
    ledger.note({"streams": {items: lists}, "invisible": [unseen]})
    ledger.look(shown(items, "1:1", "1:2", "1:3"))
    assert ledger.known[items] == {"1:1", "1:3"}
    ledger.bring_all()
    ledger.look(shown(items, "1:1", "1:2", "1:3"))
    assert ledger.known[items] == {"1:1", "1:2", "1:3"}


def shown(stream: str, *ids: str) -> Source:
    return Source(
        {"chats": {}, stream: {one: {} for one in ids}}, set(), set(), {}, {}, lambda _method, _params: None, ""
    )
