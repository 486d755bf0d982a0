"""Undo by the box's own methods: what is ours goes, what somebody changed stays."""

from __future__ import annotations

from pathlib import Path

from tests.rest.everything import moving

from b24migrate.records import Item

PEOPLE = {"responsibleId": "1", "createdBy": "1", "status": "2"}
TASKS = [Item.of(f"source:tasks:{one}", {"title": f"Task {one}", **PEOPLE}) for one in range(3)]
ROOT = Item.of("source:departments:1", {"NAME": "Company", "SORT": 1})
ANN = Item.of("source:users:3", {"NAME": "Ann", "EMAIL": "ann@example.org", "ACTIVE": True, "UF_DEPARTMENT": ["1"]})


def test_only_what_nobody_changed_is_deleted_and_a_rehearsal_deletes_nothing(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks") as move, move.app() as app:
        target, table = app.work.target, move.world.box.portal.company.tasks.table
        outcomes = target.send("tasks", "tasks", TASKS, run="r")
        changed = int(outcomes[1].target_id or 0)
        table.put(changed, table.row(changed) | {"TITLE": "Mine now"})
        keys = [*(item.key for item in TASKS), "source:tasks:99"]
        rehearsed = target.delete("tasks", "tasks", keys, dry_run=True)
        assert len(table) == 3
        assert target.delete("tasks", "tasks", keys, dry_run=False) == rehearsed
        assert [one.status for one in rehearsed] == ["deleted", "kept", "deleted", "absent"]
        assert rehearsed[1].reason == "changed after its import"
        assert list(table) == [changed]
        assert target.send("tasks", "tasks", TASKS[:1], run="r")[0].status == "created"


def test_people_stay_with_the_reason_and_the_root_is_not_ours(tmp_path: Path) -> None:
    with moving(tmp_path, "users") as move, move.app() as app:
        target, company = app.work.target, move.world.box.portal.company
        target.send("users", "departments", [ROOT], run="r")
        target.send("users", "users", [ANN], run="r")
        (kept,) = target.delete("users", "users", [ANN.key], dry_run=False)
        assert kept.status == "kept"
        assert "dismiss" in kept.reason
        (root,) = target.delete("users", "departments", [ROOT.key], dry_run=False)
        assert root.status == "deleted"
        assert len(company.departments) == 1
