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
from tests.chaos.proof import EXTRA, Compared, Difference, compare_box
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
    compared = compare_box(source, box)
    yield from ledger.differences(source, cloud.now(), compared)
    yield from ledger.deletions(source, cloud, table(folder, "deleted"), table(folder, "links"), "keep")
    yield from ledger.accounts(compared.differences, told)
    ledger.look(source, compared.wanted)


def seen_from_outside(running: Running) -> Portal:
    return Portal(str(running.ready()["control"]), running.webhook())


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_deletion_is_demanded_only_of_what_a_pass_was_shown() -> None:
    """An item of a checklist that comes and goes while its task does not change may have been missed."""
    ledger, items = Ledger(), "task_checklists"
    ledger.look(shown(items, "1:1"), {})
    lists = {"created": ["1:2", "1:3"], "changed": [], "deleted": []}
    unseen = {"stream": items, "id": "1:2", "done": "created", "trap": "checklist"}
    ledger.note({"streams": {items: lists}, "invisible": [unseen]})
    ledger.look(shown(items, "1:1", "1:2", "1:3"), {})
    assert ledger.known[items] == {"1:1", "1:3"}
    ledger.bring_all()
    ledger.look(shown(items, "1:1", "1:2", "1:3"), {})
    assert ledger.known[items] == {"1:1", "1:2", "1:3"}


def test_a_conflict_is_demanded_only_of_what_is_to_be_sent() -> None:
    """A task loses a parent that the box never had: nothing is sent. Another title is."""
    ledger, tasks = Ledger(), "tasks"
    before = {f"source:{tasks}:{one}": {"title": "one", "parentId": None} for one in ("1", "2")}
    ledger.look(shown(tasks, "1", "2"), {tasks: before})
    now = {tasks: {**before, f"source:{tasks}:2": {"title": "two", "parentId": None}}}
    assert [ledger.is_to_be_sent(tasks, one, now) for one in ("1", "2", "3")] == [False, True, True]


def test_a_file_whose_object_is_gone_stays_as_it_was_read() -> None:
    """Its message is erased; a task that it was attached to as well shows an object without bytes."""
    ledger, key = Ledger(), "source:file:disk:7"
    ledger.look(shown("tasks"), {"files": {key: {"size": 836}}})
    found = [Difference("files", key, "size is '836', not '0'", "size")]
    for size, told in ((0, []), (836, [str(found[0])])):
        compared = Compared({"files": {key: {"size": size}}}, found)
        assert list(ledger.differences(shown("tasks"), 0.0, compared)) == told


def test_records_that_are_not_shown_any_more_are_counted_on_the_box() -> None:
    """Of two messages of a vanished chat one was listed as deleted."""
    ledger, messages = Ledger(), "chat_messages"
    ledger.told[messages] = {"7:2"}
    counts = {
        "import_ok": 5,
        "import_err": 0,
        "excluded": 0,
        "new": 0,
        "error_retry": 0,
        "reported": None,
        "deleted": 1,
    }
    found = [Difference(messages, f"source:chat:msg:{one}", EXTRA) for one in (1, 2)]

    def accounts(retrieved: int, mismatch: int) -> list[str]:
        row = {**counts, "retrieved": retrieved, "mismatch": mismatch}
        return list(ledger.accounts(found, {"entities": {"chats": {"streams": {messages: row}}}}))

    assert accounts(4, 1) == []
    assert accounts(5, 0) == []
    assert accounts(4, 0)
    assert accounts(3, 2)


def shown(stream: str, *ids: str) -> Source:
    return Source(
        {"chats": {}, stream: {one: {} for one in ids}}, set(), set(), {}, {}, lambda _method, _params: None, ""
    )
