"""A whole migration by the box's own methods: everything arrives once, and differs exactly as announced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.targets.everything import Move, moving

from b24migrate.insight import certificate
from b24migrate.ports import NATIVE
from b24migrate.targets.rest.deletion import CHANGED
from b24sim import Portal
from b24sim.native.task_habits import TaskHabits


def assert_as_announced(move: Move) -> None:
    assert move.unforeseen == []
    assert move.spared == []
    announced = move.announced()
    assert [one for one in announced if bool(one.expected) != bool(one.seen)] == []
    assert [one for one in announced if one.by_the_record and one.expected != one.seen] == []


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Move]:
    """Everything, without any trouble."""
    with moving(tmp_path_factory.mktemp("moved")) as move:
        assert move.run().exit_code == 0
        yield move


def test_everything_arrives_once_and_differs_exactly_as_announced(moved: Move) -> None:
    assert {name: set(found) for name, found in moved.statuses().items() if set(found) - {"IMPORT_OK"}} == {}
    assert moved.twice() == []
    assert set(moved.world.box.portal.stats.without_order) <= {"log.blogpost.get"}
    assert_as_announced(moved)


def test_nothing_counts_as_changed_that_only_the_move_has_changed(moved: Move) -> None:
    """What nobody touched on the box goes when it is taken back."""
    with moved.app() as app:
        keys: dict[str, list[str]] = {}
        for row in app.context.store.all_rows(NATIVE):
            if row.values["Stream"] in app.context.owner:
                keys.setdefault(str(row.values["Stream"]), []).append(row.key.partition(":")[2])
        answers = [
            (stream, one)
            for stream in keys
            for one in app.context.target.delete(app.context.owner[stream].wire, stream, keys[stream], dry_run=True)
        ]
    assert [(stream, one.key) for stream, one in answers if one.reason == CHANGED] == []
    assert sum(one.status == "deleted" for _, one in answers) > 400


def test_the_certificate_closes_and_has_what_the_box_does_not_take_at_all(moved: Move) -> None:
    file = moved.world.folder / "certificate.jsonl"
    with moved.app() as app:
        written = certificate.make(app.context, file)
    assert certificate.check(file) == written
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    templates = [line for line in lines if line.get("stream") == "workflow_templates" and "class" in line]
    assert [line["class"] for line in templates] == ["excluded"] * 3
    assert "failed" not in {line["class"] for line in lines if "class" in line}


def test_lost_answers_bring_nothing_twice_and_change_nothing_of_what_was_announced(tmp_path: Path) -> None:
    with moving(tmp_path) as move:
        move.lose(4)
        assert move.run().exit_code == 0
        assert move.world.box.portal.stats.faults["lost"] > 50
        assert move.twice() == []
        assert_as_announced(move)


def test_a_second_run_writes_nothing_and_a_third_what_changed_on_the_source(moved: Move) -> None:
    """The last one that looks at the common move."""
    entities = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "feed")
    ledger = moved.world.box.portal.native
    before = {name: (one.updates, one.deleted) for name, one in ledger.entries.items()}
    assert moved.run(*entities).exit_code == 0
    assert {name: (one.updates, one.deleted) for name, one in ledger.entries.items()} == before
    changed = next(iter(moved.world.records("CrmDeals")))
    moved.world.change("crm_deals", id=changed, fields={"title": "Renamed"})
    assert moved.run("crm_deals").exit_code == 0
    assert moved.twice() == []
    assert moved.unforeseen == []
    target = int(moved.world.records("CrmDeals")[changed]["TargetId"])
    assert moved.world.box.portal.company.crm.items[2].row(target)["title"] == "Renamed"


def test_what_has_no_field_for_a_stamp_is_looked_up_and_never_left_under_the_name_of_its_stamp(tmp_path: Path) -> None:
    creations = ("department.add", "sonet_group.create", "im.message.add", "im.disk.file.commit", "log.*.add")
    with moving(tmp_path, "users", "groups", "chats", "feed", messages=30) as move:
        move.lose(3, *creations, "department.update", "sonet_group.update")
        assert move.run().exit_code == 0
        assert move.world.box.portal.stats.faults["lost"] > 10
        assert move.twice() == []
        assert move.unforeseen == []
        company = move.world.box.portal.company
        names = [company.departments.row(one)["NAME"] for one in company.departments]
        names += [company.groups.row(one)["NAME"] for one in company.groups.ids]
        assert [name for name in names if name.startswith("b24migrate")] == []


@pytest.mark.parametrize("habits", [TaskHabits(chats=True), TaskHabits(chats=True, keeps_dates=False)], ids=str)
def test_a_newer_box_keeps_comments_in_chats_and_that_is_announced(tmp_path: Path, habits: TaskHabits) -> None:
    box = Portal(role="box", task_habits=habits)
    with moving(tmp_path, "users", "groups", "tasks", box=box) as move:
        move.lose(4, "task.commentitem.add")
        assert move.run().exit_code == 0
        assert move.twice() == []
        assert_as_announced(move)


def test_an_owner_of_the_webhook_who_is_somebody_of_the_source_stays_himself(tmp_path: Path) -> None:
    box = Portal(role="box")
    with moving(tmp_path, "users", "groups", "chats", box=box) as move:
        somebody = move.world.cloud.portal.company.users.row(1)
        box.company.users.put(1, box.company.users.row(1) | {"EMAIL": somebody["EMAIL"]})
        assert move.run().exit_code == 0
        assert len(box.native.alive("users")) == 11
        assert move.unforeseen == []
        assert move.spared == []
