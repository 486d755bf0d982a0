"""Workflow templates by an application of the box: they arrive once, as the source has them, and can be taken back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving

from b24migrate.engine import requeue, undo
from b24migrate.insight import fidelity
from b24migrate.model.records import Item
from b24sim import Portal
from b24sim.native.applications import LocalApplication

CRM = ("crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
ENTITIES = ("users", "groups", *CRM, "workflows")
STRANGE = "rest_4f1c3a9d7e"  # an activity that the simulated company has from an application
ADD, UPDATE = "bizproc.workflow.template.add", "bizproc.workflow.template.update"


class Died(Exception):
    """The process is no more."""


@contextmanager
def applying(folder: Path, box: Portal | None = None, **plan: Any) -> Iterator[Move]:
    sizes = {"companies": 3, "contacts": 3, "deals": 4, "smart_items": 2, "templates": 16}
    box = box or Portal(role="box", application=LocalApplication(), activities=[STRANGE])
    with moving(folder, *ENTITIES, box=box, **sizes | plan) as move:
        configure(move)
        yield move


def configure(move: Move) -> None:
    keys = move.world.box.ready()["application"]
    names = ("client_id", "client_secret", "refresh_token", "access_token", "token_url")
    move.world.settings["target"] = {"kind": "rest", "application": {name: keys[name] for name in names}}


def application(move: Move) -> LocalApplication:
    found = move.world.box.portal.application
    assert found is not None
    return found


def rows(move: Move) -> list[dict[str, Any]]:
    templates = move.world.box.portal.company.workflows.templates
    return [templates.row(number) for number in templates]


def as_announced(move: Move) -> None:
    assert move.unforeseen == []
    assert move.spared == []
    own = [one for one in move.announced() if one.stream == "workflow_templates"]
    assert [one for one in own if one.expected != one.seen] == []
    assert {one.field for one in own if one.seen} == {"MODIFIED", "USER_ID", "SYSTEM_CODE"}


def taken_back(move: Move) -> undo.Tally:
    with move.app() as app:
        scope = undo.find_scope(app.context, ("workflows",), "")
        dry_run = undo.DryRun(app.context, scope)
        deque(dry_run.walk(), maxlen=0)
        assert dry_run.strange == 0  # else it is taken for another box
        taking = undo.Undo(app.context, scope, dry_run)
        taking.take()
        return taking.tallies["workflow_templates"]


def test_templates_arrive_once_as_announced_over_a_bad_line_and_start_only_when_everything_is_there(
    tmp_path: Path,
) -> None:
    """Answers are lost, and tokens expire."""
    with applying(tmp_path) as move:
        starts: list[set[str]] = []
        move.world.strike_box(
            {"method": ADD, "kind": "lost", "every": 3},
            {"method": UPDATE, "kind": "lost", "every": 4},
            {"method": ADD, "kind": "error", "code": "expired_token", "status": 401, "every": 7},
        )
        with move.app() as app:
            finalize = app.context.target.finalize

            def watched(after: str, *, run: str) -> str | None:
                starts.append({row["AUTO_EXECUTE"] for row in rows(move)})
                return finalize(after, run=run)

            app.context.target.finalize = watched  # type: ignore[method-assign]
            assert app.runner.run(app.chosen(), tick=move.world.leap()).exit_code == 0
        assert starts[0] == {"0"}
        unresolved = {source for (source,) in move.world.sql("SELECT DISTINCT SourceId FROM Unresolved")}
        wanted = {
            row["NAME"]: "0" if row["ID"] in unresolved else row["AUTO_EXECUTE"]
            for row in (
                move.world.cloud.portal.company.workflows.templates.row(int(one))
                for one in move.world.records("WorkflowTemplates")
            )
        }
        assert {row["NAME"]: row["AUTO_EXECUTE"] for row in rows(move)} == wanted
        assert len(rows(move)) == 15  # one of sixteen is a robot's, which no method shows
        assert move.world.box.portal.stats.faults["lost"] > 5
        assert application(move).refreshes > 0
        assert move.twice() == []
        as_announced(move)


def item(key: str = "source:workflow_templates:5", **fields: Any) -> Item:
    tree = {"Type": "SequentialWorkflowActivity", "Name": "Template", "Properties": {"Title": "Ход ✓"}, "Children": []}
    document = {"MODULE_ID": "crm", "ENTITY": "CCrmDocumentDeal", "DOCUMENT_TYPE": "DEAL"}
    variables = {"Sum": {"Default": 0.5, "Options": {"128": None, "07": True}}}
    parts = {"TEMPLATE": [tree], "PARAMETERS": [], "VARIABLES": variables, "CONSTANTS": []}
    return Item.make(key, {**document, **parts, "NAME": "Approve", "DESCRIPTION": "", "AUTO_EXECUTE": 1} | fields)


def send(move: Move, one: Item) -> str:
    with move.app() as app:
        (outcome,) = app.context.target.send("workflows", "workflow_templates", [one], run="r")
        return outcome.status


def read(move: Move, one: Item) -> dict[str, Any]:
    with move.app() as app:
        return dict(app.context.target.read("workflows", "workflow_templates", [one.key])[one.key].fields)


def test_the_same_key_with_another_body_is_updated_and_its_start_left_until_the_end(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        first, other = item(), item(NAME="Reject", DESCRIPTION="anew", VARIABLES=[], AUTO_EXECUTE=3)
        assert [send(move, one) for one in (first, first, other, other)] == [
            *("created", "unchanged"),
            *("updated", "unchanged"),
        ]
        (row,) = rows(move)
        assert (row["NAME"], row["DESCRIPTION"], row["VARIABLES"], row["AUTO_EXECUTE"]) == ("Reject", "anew", [], "0")
        with move.app() as app:
            assert app.context.target.finalize("workflow_templates:", run="r")
        assert read(move, other)["AUTO_EXECUTE"] == 3


@pytest.mark.parametrize("triples", [False, True])
def test_what_is_read_back_is_what_was_sent(tmp_path: Path, triples: bool) -> None:
    """Boxes tell the document by its type, or by all three parts."""
    with applying(tmp_path) as move:
        sent = item(AUTO_EXECUTE=0)
        assert send(move, sent) == "created"
        move.world.box.portal.document_triples = triples
        found = read(move, sent)
        assert {name: found[name] for name in sent.fields} == dict(sent.fields)


def test_a_start_on_deletion_is_left_out(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        sent = item(AUTO_EXECUTE=6)
        assert send(move, sent) == "created"
        with move.app() as app:
            app.context.target.finalize("workflow_templates:", run="r")
            rules = [one for one in app.context.target.fidelity() if one.stream == "workflow_templates"]
            assert {one.field for one in rules if one.judge()(sent.fields)} == {"AUTO_EXECUTE"}
        assert read(move, sent)["AUTO_EXECUTE"] == 2


@pytest.mark.parametrize("dies_at", [1, 2, 3, 4])
def test_whoever_dies_at_any_write_leaves_one_template_under_its_own_name(tmp_path: Path, dies_at: int) -> None:
    with applying(tmp_path) as move:
        writes = 0
        with move.app() as app:
            write = app.context.store.write

            def mortal(register: Any, some: Any) -> None:
                nonlocal writes
                writes += 1
                if writes == dies_at:
                    raise Died
                write(register, some)

            app.context.store.write = mortal  # type: ignore[method-assign,assignment]
            with suppress(Died):
                app.context.target.send("workflows", "workflow_templates", [item()], run="r")
        assert send(move, item()) in ("created", "unchanged")
        assert [row["NAME"] for row in rows(move)] == ["Approve"]


def test_templates_are_taken_back_except_what_somebody_changed(tmp_path: Path) -> None:
    """Without the application that wrote them they are not taken for gone."""
    with applying(tmp_path, templates=3) as move:
        assert move.run().exit_code == 0
        with_it = move.world.settings["target"]
        move.world.settings["target"] = {"kind": "rest"}
        tally = taken_back(move)
        assert (tally.deleted, tally.kept) == (0, 3)
        assert len(rows(move)) == 3
        move.world.settings["target"] = with_it
        table = move.world.box.portal.company.workflows.templates
        kept = rows(move)[0]
        table.put(int(kept["ID"]), kept | {"DESCRIPTION": "by hand"})
        tally = taken_back(move)
        assert (tally.deleted, tally.kept) == (2, 1)
        assert [row["ID"] for row in rows(move)] == [kept["ID"]]


def test_an_activity_that_the_box_does_not_have_fails_its_template_until_it_is_there(tmp_path: Path) -> None:
    box = Portal(role="box", application=LocalApplication())
    with applying(tmp_path, box, templates=3) as move:
        assert move.run().exit_code != 0
        records = move.world.records("WorkflowTemplates").values()
        assert sorted(row["Status"] for row in records) == ["IMPORT_ERR", "IMPORT_OK", "IMPORT_OK"]
        assert len(rows(move)) == 2
        box.activities = frozenset([STRANGE])
        with move.app() as app:
            renewed = requeue.requeue(app.context, ("workflows",), "")
            assert requeue.run_requeued(app.runner, renewed, move.world.leap()).exit_code == 0
        assert len(rows(move)) == 3


def test_a_template_of_which_the_source_tells_no_body_stays_behind_as_announced(tmp_path: Path) -> None:
    with applying(tmp_path, templates=3) as move:
        first = next(iter(move.world.cloud.portal.company.workflows.templates))
        move.world.change("workflow_templates", id=first, fields={"TEMPLATE": []})
        assert move.run().exit_code == 0
        assert len(rows(move)) == 2
        assert move.unforeseen == []
        ((source,),) = move.world.sql("SELECT SourceId FROM Foreseen WHERE Field IS NULL OR Field = ''")
        assert source == str(first)


# ---------------------------------------------------------------- code

CODE = ("CodeActivity", "codeACTIVITY", "AcmeSyncActivity", "codecondition")


def names_with_code(move: Move) -> set[str]:
    """The names of templates that run code. All of them would start by themselves."""
    workflows = move.world.cloud.portal.company.workflows
    names = set()
    for place in workflows.code_places:
        row = workflows.templates.row(workflows.id_at(place))
        workflows.templates.put(workflows.id_at(place), row | {"AUTO_EXECUTE": "1"})
        names.add(row["NAME"])
    return names


def test_templates_with_code_are_refused_unless_named_and_then_never_switched_on(tmp_path: Path) -> None:
    with applying(tmp_path, code_templates=4) as move:
        names = names_with_code(move)
        assert move.run().exit_code == 5
        assert len(rows(move)) == 11
        assert names.isdisjoint(row["NAME"] for row in rows(move))
        refused = move.world.sql("SELECT LastErrorCode FROM WorkflowTemplates WHERE Status = 'IMPORT_ERR'")
        assert refused == [("ACTIVITY_NOT_ALLOWED",)] * 4
        move.world.settings["run"] |= {"allow_activities": list(CODE)}
        with move.app() as app:
            renewed = requeue.requeue(app.context, ("workflows",), "")
            assert requeue.run_requeued(app.runner, renewed, move.world.leap()).exit_code == 0
        assert len(rows(move)) == 15
        assert {row["AUTO_EXECUTE"] for row in rows(move) if row["NAME"] in names} == {"0"}
        assert move.spared == []
        with move.app() as app:
            lines = fidelity.make_list(app.context, fidelity.ask_target(app.context)).lines
        records = [one.records for one in lines if one.field == "AUTO_EXECUTE" and "allow_activities" in one.reason]
        assert records == [4]


def test_code_that_was_switched_on_before_is_switched_off(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        plain = item(AUTO_EXECUTE=1)
        assert send(move, plain) == "created"
        tree = {"Type": "CodeActivity", "Name": "A", "Properties": {"ExecuteCode": "exit;"}, "Children": []}
        table = move.world.box.portal.company.workflows.templates
        (row,) = rows(move)
        table.put(int(row["ID"]), row | {"TEMPLATE": [*row["TEMPLATE"], tree], "AUTO_EXECUTE": "1"})
        with move.app() as app:
            app.context.target.finalize("workflow_templates:", run="r")
        assert rows(move)[0]["AUTO_EXECUTE"] == "0"


def test_the_target_itself_notes_no_start_for_code(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        tree = {"Type": "CodeActivity", "Name": "A", "Properties": {"ExecuteCode": "exit;"}, "Children": []}
        assert send(move, item(TEMPLATE=[tree], AUTO_EXECUTE=3)) == "created"
        with move.app() as app:
            app.context.target.finalize("workflow_templates:", run="r")
        assert rows(move)[0]["AUTO_EXECUTE"] == "0"


# ---------------------------------------------------------------- what an application may not


@pytest.mark.parametrize(
    ("box", "message", "fix"),
    [
        (Portal(role="box"), "target.application is not set", "Create a local application on the box"),
        (
            Portal(role="box", application=LocalApplication(scopes=["crm"])),
            "lacks the scope `bizproc`",
            "Add `bizproc` on the application's page",
        ),
        (
            Portal(role="box", admins=(1,), application=LocalApplication(user=2)),
            "is not an administrator",
            "Install the application as an administrator",
        ),
        (
            Portal(role="box", application=LocalApplication(), without=[ADD]),
            f"does not have the method {ADD}",
            "Install the business process module",
        ),
    ],
    ids=["no application", "no scope", "no administrator", "no method"],
)
def test_without_the_right_application_templates_stay_behind_and_the_doctor_says_what_to_do(
    tmp_path: Path, box: Portal, message: str, fix: str
) -> None:
    if box.application and box.application.user == 2:
        box.company.users.put(2, box.company.users.row(1) | {"ID": "2"})
    with moving(tmp_path, "users", "workflows", box=box, deals=0, smart_items=0) as move:
        if box.application:
            configure(move)
        with move.app() as app:
            checks = app.runner.examine([one for one in app.catalog.entities if one.name in ("users", "workflows")])
        (check,) = [one for one in checks.checks if one.name == "application"]
        assert (check.level, check.entity) == ("warning", "workflows")
        assert message in check.message
        assert check.fix.startswith(fix)
        assert [one.message for one in checks.checks if one.name == "import of workflows"] == []
        assert move.run().exit_code == 0
        assert rows(move) == []
        assert move.unforeseen == []
        foreseen = move.world.sql("SELECT Note FROM Foreseen WHERE Stream = 'workflow_templates' AND SourceId <> '*'")
        assert len(foreseen) == 3
        stays = "workflow_templates: 3 records not migrated: see `b24migrate fidelity`"
        assert move.world.entity("workflows").notes == (stays,)


def test_a_good_application_is_one_line_of_the_doctor_and_nobody_hears_of_it_without_templates(tmp_path: Path) -> None:
    with applying(tmp_path) as move, move.app() as app:
        known = {one.name: one for one in app.catalog.entities}
        diagnosis = app.runner.examine([known["users"], known["workflows"]])
        assert [(one.level, one.message) for one in diagnosis.checks if one.name == "application"] == [
            ("ok", "the target's application can write workflow templates")
        ]
        assert "application" not in {one.name for one in app.runner.examine([known["users"]]).checks}


def test_dead_tokens_close_workflows_alone_and_say_what_to_do(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        application(move).revoke()
        with move.app() as app:
            known = {one.name: one for one in app.catalog.entities}
            diagnosis = app.runner.examine([known["users"], known["workflows"]])
        (failed,) = diagnosis.failed
        assert failed.entity == "workflows"
        assert "answered invalid_grant" in failed.message
        assert "install it again" in failed.message


def test_a_box_that_does_not_answer_for_a_while_refuses_the_application_nothing(tmp_path: Path) -> None:
    with applying(tmp_path) as move:
        move.world.strike_box({"method": "scope", "kind": "lost", "count": 4})
        with move.app() as app:
            known = {one.name: one for one in app.catalog.entities}
            assert app.runner.examine([known["users"], known["workflows"]]).failed == ()
        assert move.world.box.portal.stats.faults["lost"] == 4


def test_what_stayed_behind_is_written_after_an_undo_when_there_is_an_application(tmp_path: Path) -> None:
    with applying(tmp_path, templates=3) as move:
        with_it = move.world.settings["target"]
        move.world.settings["target"] = {"kind": "rest"}
        for _ in range(2):  # the first time they come before what they name
            assert move.run().exit_code == 0
            assert rows(move) == []
            taken_back(move)
        move.world.settings["target"] = with_it
        assert move.run().exit_code == 0
        assert len(rows(move)) == 3
        assert move.unforeseen == []
        assert "not migrated" not in " ".join(move.world.entity("workflows").notes)
