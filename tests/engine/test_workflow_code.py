"""No code of the source reaches the box, unless the configuration names it; and it never starts by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.php_world import PhpWorld
from tests.engine.world import Migration, World, small, world
from tests.php_box import php_box
from tests.report.report_reader import report

from b24migrate.insight import fidelity
from b24sim import Company, Portal, serve

ENTITIES = ["users", "groups", "crm_structure", "workflows"]
PLAN = small(templates=10, code_templates=4, deals=1, contacts=1, companies=1, smart_items=1)
NAMES = ("CodeActivity", "codeACTIVITY", "AcmeSyncActivity", "codecondition")
ALLOWED = {"entities": ENTITIES, "verify_sample": 100, "allow_activities": list(NAMES)}
TABLE = "WorkflowTemplates"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as found:
        found.settings = settings()
        yield found


def settings() -> dict[str, dict[str, Any]]:
    return {"run": {"entities": ENTITIES, "verify_sample": 100}, "mapping": {"placeholder_user": "1"}}


def templates_with_code(made: Migration) -> dict[str, int]:
    """Id of the source -> in which way it runs code. All of them would start by themselves."""
    workflows = made.cloud.portal.company.workflows
    found = {str(workflows.id_at(place)): way for place, way in workflows.code_places.items()}
    for number in found:
        workflows.templates.put(int(number), workflows.templates.row(int(number)) | {"AUTO_EXECUTE": "3"})
    return found


def failures(made: Migration) -> dict[str, tuple[str, str]]:
    rows = made.table(TABLE, "RowKey", "Status", "LastErrorCode", "LastError")
    return {row["RowKey"]: (row["LastErrorCode"], row["LastError"]) for row in rows if row["Status"] == "IMPORT_ERR"}


def on_the_box(made: Migration) -> dict[str, Any]:
    rows = made.imported("workflow_templates")
    return {key.rpartition(":")[2]: row["fields"] for key, row in rows.items()}


def test_templates_with_code_are_refused_by_name_and_the_others_arrive(made: World) -> None:
    code = templates_with_code(made)
    assert made.run().exit_code == 5
    assert failures(made) == {
        number: ("ACTIVITY_NOT_ALLOWED", f"Activities not allowed: {NAMES[way]}") for number, way in code.items()
    }
    there = on_the_box(made)
    assert set(there) == set(made.records(TABLE)) - set(code)
    assert len(there) == 5  # one of ten is a robot's
    everything = json.dumps(there).lower()
    assert not [name for name in (*NAMES, "executecode") if name.lower() in everything]
    found = made.entity("workflows")
    assert not found.verified
    numbers = found.streams["workflow_templates"]
    assert (numbers.source, numbers.read, numbers.imported, numbers.failed) == (9, 9, 5, 4)


def test_a_second_run_and_a_retry_do_not_let_them_through(made: World) -> None:
    code = templates_with_code(made)
    made.run()
    assert made.run().exit_code == 5
    assert made.retry().exit_code == 5
    assert set(failures(made)) == set(code)
    assert len(on_the_box(made)) == 5


def test_the_report_shows_the_code_of_each(made: World) -> None:
    code = templates_with_code(made)
    made.run()
    rows = report(made, "report").rows("activities")
    assert {(row["source_id"], row["activity"]) for row in rows} == {(key, NAMES[way]) for key, way in code.items()}
    assert {row["state"] for row in rows} == {"failed"}
    shown = {row["activity"]: row["code"] for row in rows}
    assert shown["CodeActivity"] == shown["codeACTIVITY"] == "$GLOBALS['DB']->Query('SELECT 1'); // <?php"
    assert shown["codecondition"] == "time() > 0"
    assert "acme.example" in shown["AcmeSyncActivity"]


def test_what_the_configuration_names_arrives_switched_off_and_is_told(made: World) -> None:
    code = templates_with_code(made)
    made.run()
    made.settings["run"] = ALLOWED
    with made.app() as app:
        lines = fidelity.make_list(app.context, fidelity.ask_target(app.context)).lines
        (line,) = [one for one in lines if one.stream == "workflow_templates"]
        assert (line.field, line.keeping, line.records) == ("AUTO_EXECUTE", "lost", 4)
        app.gate.consent = lambda _: "a test"
        assert app.runner.run(app.chosen(), tick=made.leap()).exit_code == 5  # what failed stays so until it is retried
    assert made.retry(code="ACTIVITY_NOT_ALLOWED").exit_code == 0
    there = on_the_box(made)
    assert set(code) <= set(there)
    assert {there[number]["AUTO_EXECUTE"] for number in code} == {0}
    assert {row["state"] for row in report(made, "report").rows("activities")} == {"imported"}
    unresolved: dict[str, str] = dict(
        made.sql("SELECT SourceId, What FROM Unresolved WHERE What LIKE '%is not standard%'")
    )
    assert unresolved == {
        number: f"activity {NAMES[way]} is not standard: read its code" for number, way in code.items()
    }


def test_naming_one_activity_lets_no_other_through(made: World) -> None:
    code = templates_with_code(made)
    made.settings["run"] = {**ALLOWED, "allow_activities": ["ACMEsyncactivity"]}
    with made.app() as app:
        app.gate.consent = lambda _: "a test"
        assert app.runner.run(app.chosen(), tick=made.leap()).exit_code == 5
    assert sorted(failures(made)) == sorted(number for number, way in code.items() if NAMES[way] != "AcmeSyncActivity")


def test_code_that_came_before_the_list_is_no_longer_called_clean(made: World) -> None:
    code = templates_with_code(made)
    made.settings["run"] = ALLOWED
    with made.app() as app:
        app.gate.consent = lambda _: "a test"
        assert app.runner.run(app.chosen(), tick=made.leap()).exit_code == 0
    made.settings = settings()
    assert made.run().exit_code == 5
    found = made.sql("SELECT SourceId, Note FROM Findings WHERE Stream = 'workflow_templates'")
    assert dict(found) == {number: f"Activities not allowed: {NAMES[way]}" for number, way in code.items()}


def test_the_module_refuses_on_its_own_until_the_box_allows_the_same(tmp_path: Path) -> None:
    with serve(Portal(Company(PLAN))) as cloud, php_box(tmp_path) as box:
        made = PhpWorld(cloud, tmp_path, settings={**settings(), "run": ALLOWED}, box=box)
        code = templates_with_code(made)
        with made.app() as app:
            app.gate.consent = lambda _: "a test"
            assert app.runner.run(app.chosen(), tick=made.leap()).exit_code == 5
        refusals = failures(made)
        assert set(refusals) == set(code)
        assert {kind for kind, _ in refusals.values()} == {"VALIDATION"}
        assert all(
            f"not allowed on this box: {NAMES[code[number]]}." in message for number, (_, message) in refusals.items()
        )
        assert len(on_the_box(made)) == 5
        box.tell("allow_activities", [name.lower() for name in NAMES])
        assert made.retry().exit_code == 0
        assert {on_the_box(made)[number]["AUTO_EXECUTE"] for number in code} == {0}
