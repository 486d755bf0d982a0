"""An entity that came after the first version of the contract: portals that know nothing of it stay as they were."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, small, world

from b24migrate import entities
from b24migrate.engine import analysis
from b24migrate.engine.diagnosis import Facts
from b24migrate.entities import catalog
from b24migrate.insight import fidelity
from b24migrate.insight.certificate import make
from b24migrate.insight.report.data import gather
from b24migrate.ports import ANALYSIS, RegisterRow
from b24sim.imports.catalog import STREAMS
from b24sim.imports.kinds import TEXT, TIME, USER, Kind, Ref
from b24sim.imports.stream import Stream
from b24sim.methods.system import ALL_SCOPES

HERE = Path(__file__).parent / "made_up"
FAMILY = f"{entities.__name__}.processes"
METHOD = "bizproc.workflow.instances"
Made = Callable[..., AbstractContextManager[World]]


def forget() -> None:
    for name in [one for one in sys.modules if one.startswith(FAMILY)]:
        del sys.modules[name]


@pytest.fixture
def optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """A world whose plan names no entities, and whose box announces the streams that it is given."""
    monkeypatch.setattr(entities, "__path__", [*entities.__path__, str(HERE)])
    forget()
    module = importlib.import_module(f"{FAMILY}.streams")
    (one,) = module.ENTITIES
    fields: dict[str, Kind] = {"DOCUMENT_ID": TEXT, "STARTED": TIME, "MODIFIED": TIME, "STARTED_BY": USER}
    fields["TEMPLATE_ID"] = Ref("workflow_templates")
    monkeypatch.setitem(STREAMS, "processes", Stream("processes", "workflows", fields, ("TEMPLATE_ID",)))

    @contextmanager
    def make_world(*streams: str, scopes: tuple[str, ...] = ("bizproc",), **portal: Any) -> Iterator[World]:
        monkeypatch.setattr(
            module, "ENTITIES", (replace(one, optional=True, scopes=scopes, probes={METHOD: {"SELECT": ["ID"]}}),)
        )
        with world(tmp_path, small(templates=8), **portal) as made:
            others = [name.name for name in catalog().entities if name.name not in ("users", "workflows", "processes")]
            made.settings = {"entities": {name: {"enabled": False} for name in others}}
            made.box.portal.imports.streams = streams
            yield made

    yield make_world
    forget()


def accept(made: World) -> list[str]:
    with made.app() as app:
        rules = fidelity.relevant_rules(app.context, fidelity.ask_target(app.context), app.chosen())
        fidelity.accept(app.context, rules, "a test")
        told = (f"{rule.stream} {rule.field} {rule.keeping}" for rule in rules if rule.stream == "processes")
        return [one.replace("  ", " ") for one in told]


def left_out(made: World) -> Mapping[str, str]:
    with made.app() as app:
        return analysis.load(app.context.store).facts.left_out


def was_called(made: World) -> bool:
    stats = made.cloud.portal.stats
    return bool(stats.methods[METHOD] + stats.inner[METHOD])


def test_a_target_of_the_first_version_gets_what_it_got(optional: Made) -> None:
    with optional() as made:
        assert made.run().exit_code == 0  # nobody need accept what was never asked for
        assert accept(made) == ["processes lost"]
        assert not was_called(made)
        assert made.imported("processes") == {}
        assert made.entity("workflows").verified
        assert any("does not import" in note for note in made.entity("processes").notes)
        assert made.run().exit_code == 0
        with made.app() as app:
            assert "processes" not in app.planned()
            assert make(app.context, made.folder / "certificate.jsonl").lines
            listed = gather(app.context, made.folder, wanted=app.planned()).fidelity
            assert listed is not None  # left out, and told as lost
            assert [one.stream for one in listed.lines if one.stream == "processes"] == ["processes"]
            warnings = [
                one.message for one in app.runner.examine(app.catalog.entities).warnings if "processes" in one.message
            ]
        assert len(warnings) == 1


def test_one_that_the_target_announces_is_migrated(optional: Made) -> None:
    with optional("processes") as made:
        assert accept(made) == []
        assert made.run().exit_code == 0
        assert left_out(made) == {}
        assert len(made.imported("processes")) == 5
        assert made.entity("processes").verified


def test_a_target_that_learns_of_it_gets_it_in_the_next_run(optional: Made) -> None:
    with optional() as made:
        accept(made)
        assert made.run().exit_code == 0
        made.box.portal.imports.streams = ("processes",)
        assert made.run().exit_code == 0
        assert len(made.imported("processes")) == 5
        assert not made.entity("processes").notes


def test_one_that_somebody_names_meets_the_gate(optional: Made) -> None:
    with optional() as made:
        accept(made)
        made.run()
        ended = made.run("processes")
        assert ended.exit_code == 3
        assert "auth.target.import.processes" in ended.message
        with made.app(run={"entities": ["users", "workflows", "processes"]}) as app:
            (failed,) = app.runner.examine(app.catalog.entities[:]).failed
        assert (failed.entity, failed.gate) == ("processes", "auth.target.import.processes")


def test_a_source_webhook_without_its_scope_leaves_it_out(optional: Made) -> None:
    with optional("processes", scopes=("calendar",)) as made:
        accept(made)
        assert made.run().exit_code == 0
        assert "`calendar`" in left_out(made)["processes"]
        assert not made.imported("processes")
        assert "auth.cloud.processes" in made.run("processes").message


def test_a_source_without_its_methods_leaves_it_out(optional: Made) -> None:
    with optional("processes", without=(METHOD,), scopes=ALL_SCOPES[:2]) as made:
        accept(made)
        assert made.run().exit_code == 0
        assert "no methods" in left_out(made)["processes"]
        assert made.entity("workflows").verified


def test_a_store_of_an_earlier_version_goes_on(optional: Made) -> None:
    """Its analysis knows nothing of what a target announces."""
    with optional("processes") as made:
        accept(made)
        made.run("users", "workflows")
        with made.app() as app:
            store = app.context.store
            facts = {
                name: value
                for name, value in analysis.load(store).facts.as_json().items()
                if name not in ("streams", "left_out")
            }
            assert Facts.from_json(facts).streams == ()
            store.write(ANALYSIS, [RegisterRow(analysis.KEY, {"Data": {"mapped": True, "facts": facts}})])
            assert app.planned() == app.chosen()
        assert made.run().exit_code == 0
        assert len(made.imported("processes")) == 5


def test_what_comes_with_an_entity_that_a_person_names(tmp_path: Path) -> None:
    with world(tmp_path, small(companies=0)) as made:
        with made.app() as app:
            assert set(app.chosen_together(["crm_activities"])) == {"crm_calls", "crm_activities", "crm_notes"}
            assert set(app.chosen_together(["crm_comments"])) == {"crm_comments", "crm_notes"}
            assert app.chosen_together(["crm_calls"]) == ["crm_calls"]
            assert app.chosen(["crm_activities"]) == ["crm_activities"]  # one step of it
        made.settings = {"entities": {"crm_calls": {"enabled": False}}, "run": {"entities": ["crm_activities"]}}
        with made.app() as app:
            assert set(app.chosen()) == {"crm_activities", "crm_notes"}
            assert "crm_calls" in app.chosen_together(["crm_calls", "crm_activities"])
