"""A family is one package beside the others: everything else knows it without any other change."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.world import World, small, world

from b24migrate import cli, entities
from b24migrate.entities import catalog, rest_writers
from b24migrate.insight.status import overview
from b24migrate.messages import templates, words
from b24sim.imports.catalog import STREAMS
from b24sim.imports.kinds import TEXT, TIME, USER, Kind, Ref
from b24sim.imports.stream import Stream

HERE = Path(__file__).parent / "made_up"
CHOSEN = ("users", "workflows", "processes")


def forget() -> None:
    for name in [one for one in sys.modules if one.startswith(f"{entities.__name__}.processes")]:
        del sys.modules[name]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """The file lies among the entities, and the box takes what it sends."""
    monkeypatch.setattr(entities, "__path__", [*entities.__path__, str(HERE)])
    templates.cache_clear()
    forget()
    fields: dict[str, Kind] = {"DOCUMENT_ID": TEXT, "STARTED": TIME, "MODIFIED": TIME, "STARTED_BY": USER}
    fields["TEMPLATE_ID"] = Ref("workflow_templates")
    monkeypatch.setitem(STREAMS, "processes", Stream("processes", "workflows", fields, ("TEMPLATE_ID",)))
    with world(tmp_path, small(templates=8)) as one:
        yield one
    forget()
    templates.cache_clear()


def test_the_catalog_finds_it_behind_what_it_refers_to(made: World) -> None:
    names = [entity.name for entity in catalog().entities]
    assert names.index("processes") > max(names.index("users"), names.index("workflows"))


def test_it_is_read_imported_and_verified(made: World) -> None:
    assert made.run(*CHOSEN).exit_code == 0
    about = made.stream("processes")
    assert about.source == about.read == about.imported == len(made.imported("processes")) == 5
    assert made.entity("processes").verified
    templates = {row["id"] for row in made.imported("workflow_templates").values()}
    assert {row["fields"]["TEMPLATE_ID"] for row in made.imported("processes").values()} <= templates


def test_a_further_run_sends_only_what_changed(made: World) -> None:
    made.run(*CHOSEN)
    first, *_ = made.cloud.portal.company.workflows.instances
    first["DOCUMENT_ID"] = "DEAL_77"
    assert made.run(*CHOSEN).exit_code == 0
    effects = {key: row["updated_count"] for key, row in made.imported("processes").items()}
    assert {key for key, updated in effects.items() if updated} == {f"source:processes:{first['ID']}"}


def test_what_it_lacks_on_the_box_is_a_finding(made: World) -> None:
    made.run(*CHOSEN)
    (gone, *_) = made.imported("processes").values()
    made.box.portal.imports.edit("processes", str(gone["id"]), {"DOCUMENT_ID": "DEAL_1"})
    assert made.run(*CHOSEN, phases=("verify",)).exit_code == 5
    assert made.stream("processes").findings == 1
    assert not made.entity("processes").verified


def test_the_command_line_shows_it(made: World, capsys: pytest.CaptureFixture[str]) -> None:
    made.run(*CHOSEN)
    command = ["--config", str(made.folder / "b24migrate.toml")]
    cli.execute([*command, "status", "--json"])
    shown = json.loads(capsys.readouterr().out)["entities"]["processes"]
    assert shown["verified"] is True
    assert shown["streams"]["processes"]["import_ok"] == 5
    cli.execute([*command, "metrics"])
    metrics = capsys.readouterr().out
    assert 'records_import_ok_total{entity="processes"} 5.0' in metrics
    assert 'duration_ms{entity="processes",phase="set"}' in metrics
    assert cli.execute([*command, "do", "processes-verify"]) == 0


def test_people_read_its_name_in_their_language(made: World, capsys: pytest.CaptureFixture[str]) -> None:
    made.run(*CHOSEN)
    out = made.folder / "report"
    command = ["--config", str(made.folder / "b24migrate.toml"), "report", "--out", str(out), "--language", "ru"]
    assert cli.execute(command) == 0, capsys.readouterr().err
    (page,) = out.glob("*.html")
    assert "Запущенные процессы" in page.read_text("utf-8")
    with made.app() as app:
        assert "processes" in [entity.name for entity in overview(app.context).entities]
    assert words("ru").topic("names.entity")["processes"] == "Запущенные процессы"  # what the dashboard is given


def test_a_box_without_the_module_says_what_it_does_not_keep_of_it(made: World) -> None:
    writer = next(one for one in rest_writers(catalog()) if one.stream == "processes")
    assert [rule.field for rule in writer.rules(None)] == ["STARTED"]  # type: ignore[arg-type]
