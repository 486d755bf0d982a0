"""The analysis before a migration: what it finds, what it leaves alone, and its forecast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine.world import LeapingClock

from b24migrate.app import App, open_app
from b24migrate.config import load
from b24migrate.insight.forecast import Limits, Meter, Survey, compare_forecast, load_last, survey, whole_run
from b24migrate.insight.forecast.sampler import Sampler
from b24migrate.insight.forecast.schedule import EXECUTION
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import serve

COMPANY = (
    "--users",
    "60",
    "--groups",
    "8",
    "--chats",
    "30",
    "--messages",
    "900",
    "--files",
    "12",
    "--foreign-chats",
    "0",
)
CLIENTS = ("--tasks", "40", "--deals", "120", "--contacts", "60", "--companies", "30", "--posts", "30")


@contextmanager
def opened(folder: Path, *more: str) -> Iterator[tuple[App, Meter]]:
    cloud = portal_from(parser().parse_args([*COMPANY, *CLIENTS, "--limits", "off", *more]))
    box = portal_from(parser().parse_args(["--role", "box"]))
    with serve(cloud, "127.0.0.1", 0) as source, serve(box, "127.0.0.1", 0) as target:
        config = folder / "b24migrate.toml"
        config.write_text(
            f'[source]\nwebhook = "{source.webhook()}"\nrequests_per_second = 0\noperating_seconds = 0\n'
            f'[target]\nwebhook = "{target.webhook()}"\n'
        )
        meter = Meter()
        with open_app(load(config, environ={}), base=folder, clock=LeapingClock(), meter=meter) as app:
            yield app, meter


def surveyed(app: App, meter: Meter, share: float = 0.02) -> Survey:
    entities = app.catalog.entities
    return survey(app.context, meter, entities, Limits(), timezone=app.settings.source.zone, share=share)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Survey, App]]:
    with opened(tmp_path_factory.mktemp("survey")) as (app, meter):
        yield surveyed(app, meter), app


def test_what_the_portal_counts_is_told_exactly(found: tuple[Survey, App]) -> None:
    records = {one.stream: one.records for one in found[0].streams}
    assert records["users"].value == 60
    assert records["users"].exact
    assert records["crm_deals"].value == 120
    assert records["tasks"].value == 40


def test_every_entity_has_its_hours(found: tuple[Survey, App]) -> None:
    analysis, app = found
    assert [one.entity for one in analysis.forecast.entities] == [one.name for one in app.catalog.entities]
    assert all(one.low_s <= one.total_s <= one.high_s for one in analysis.forecast.entities)
    assert analysis.forecast.low_s <= analysis.forecast.total_s <= analysis.forecast.high_s


def test_nothing_is_staged_and_the_result_is_remembered(found: tuple[Survey, App]) -> None:
    analysis, app = found
    assert not any(sum(app.context.store.counts(table).values()) for table in app.catalog.tables)
    assert load_last(app.context.store) == analysis
    assert Survey.from_json(analysis.to_json()) == analysis


def test_people_files_fields_and_pipelines_are_there(found: tuple[Survey, App]) -> None:
    analysis = found[0]
    assert analysis.seats is not None
    assert 0 < analysis.seats.value <= 60
    assert analysis.unread_people is not None
    assert analysis.unread_people.value == 59  # everybody but the webhook's owner
    assert {one.entity for one in analysis.files} >= {"users", "chats"}
    assert any(one.filled for one in analysis.fields)
    assert analysis.pipelines


def test_what_the_sample_does_not_show_is_marked_as_an_estimate(tmp_path: Path) -> None:
    with opened(tmp_path, "--groups", "700") as (app, meter):
        analysis = surveyed(app, meter)
    members = next(one.records for one in analysis.streams if one.stream == "group_members")
    assert not members.exact
    assert members.low < members.value < members.high


def test_after_a_run_the_forecast_of_its_part_stands_beside_what_it_took(tmp_path: Path) -> None:
    with opened(tmp_path) as (app, meter):
        analysis = surveyed(app, meter)
        assert compare_forecast(app.context.store) == []
        app.runner.run(["users"])
        found = {(one.entity, one.phase): one for one in compare_forecast(app.context.store)}
        one = whole_run(app.context.store)
    phases = ("custom-fields-get", "custom-fields-set", "get", "set", "verify")
    assert set(found) == {*(("users", phase) for phase in phases), ("", "get"), ("", "run")}
    assert all(one.foretold_s > 0 and one.took_s > 0 for one in found.values())
    assert one is not None
    assert one.foretold_s < analysis.forecast.total_s / 2


def test_a_try_out_before_the_analysis_measures_the_target_and_is_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path) as (app, meter):
        before = surveyed(app, meter).forecast
        app.runner.run(["users", "groups"], test_limit=20)
        after = surveyed(app, meter).forecast
        assert compare_forecast(app.context.store) == []
    assert not any("earlier run" in line for line in before.basis)
    assert any("earlier run" in line for line in after.basis)


def test_files_are_counted_once_whoever_refers_to_them(tmp_path: Path) -> None:
    with opened(tmp_path, "--messages", "200", "--deals", "30", "--contacts", "15", "--companies", "8") as (app, meter):
        analysis = surveyed(app, meter)
        app.runner.run([entity.name for entity in app.catalog.entities])
        moved = sum(app.context.store.counts(app.context.streams["files"].table).values())
    assert sum(one.files.value for one in analysis.files) == pytest.approx(moved, rel=0.03)


def test_what_one_method_refuses_is_a_warning_and_the_rest_is_forecast(tmp_path: Path) -> None:
    faults = '[{"method": "tasks.task.list", "kind": "error", "code": "ACCESS_DENIED", "status": 403}]'
    with opened(tmp_path, "--faults", faults) as (app, meter):
        analysis = surveyed(app, meter)
    assert "tasks" in analysis.skipped
    assert "chats" in {one.entity for one in analysis.forecast.entities}


def test_a_scope_that_is_missing_is_a_warning_and_the_rest_is_forecast(tmp_path: Path) -> None:
    with opened(tmp_path, "--scopes", "user,department,user.userfield,sonet_group,im,disk") as (app, meter):
        analysis = surveyed(app, meter)
    assert "crm_deals" in analysis.skipped
    assert {one.entity for one in analysis.forecast.entities} == {"users", "groups", "chats"}


def test_an_analysis_costs_a_bounded_number_of_requests_however_large_the_portal(tmp_path: Path) -> None:
    with opened(tmp_path, "--users", "1500", "--chats", "1000", "--messages", "100000", "--deals", "5000") as (
        app,
        meter,
    ):
        analysis = surveyed(app, meter)
    assert analysis.requests < 400
    assert all(sampled <= 60_000 for sampled in (one.sampled for one in analysis.streams))


@pytest.mark.parametrize("billing", ["batch", "inner"])
def test_whoever_pays_calls_are_measured_and_booked(tmp_path: Path, billing: str) -> None:
    costs = {"user.get": 1.5, "crm.item.list": 4.0, "im.dialog.messages.get": 0.7}
    cost = ",".join(f"{method}={seconds}" for method, seconds in costs.items())
    limits = ("--limits", "on", "--requests-per-second", "1000", "--bucket", "10000", "--operating", "100000")
    with opened(tmp_path, *limits, "--billing", billing, "--cost", cost) as (app, meter):
        zone = app.settings.source.zone
        analysis = survey(app.context, meter, app.catalog.entities, Limits(0, 50, 40), timezone=zone)
        assert app.context.source.billing == billing
    measured = {one.method: one.seconds for one in analysis.methods}
    assert {method: measured[method] for method in costs} == pytest.approx(costs, rel=0.05)
    together = any("all batch calls" in one for one in analysis.forecast.basis)
    assert (together, analysis.forecast.limited_by) == (billing == "batch", EXECUTION)
    assert analysis.forecast.method == ("batch" if billing == "batch" else "crm.item.list")


def test_calls_for_what_belongs_to_tasks_are_forecast_as_get_makes_them(tmp_path: Path) -> None:
    """Of tasks that say they have none, and of a forum that is empty, get asks a sample; a chat's small page is its
    end."""
    with opened(tmp_path, "--tasks", "1500", "--new-card", "--list-checklists", "told") as (app, meter):
        sampler = Sampler(app.context, meter, 0.02)
        loads = [
            load
            for stream in ("tasks", "task_checklists", "task_comments")
            for chain in sampler.sample(app.context.streams[stream]).loads
            for load in chain
        ]
        counts: Counter[str] = Counter()
        for load in loads:
            counts.update({method: round(count) for (_, method), count in load.calls.items()})
        assert app.runner.run(["users", "groups"]).exit_code == 0
        before = meter.used
        assert app.runner.run(["tasks"], ("get",)).exit_code == 0
        made: Counter[str] = Counter()
        for (_, method), count in meter.used.since(before).calls.items():
            made[method] += round(count)
    for method in ("task.checklistitem.getlist", "task.commentitem.getlist", "im.dialog.messages.get"):
        assert counts[method] == pytest.approx(made[method], rel=0.2), method  # of the tasks it knows a hundred
    assert made["task.commentitem.getlist"] < 600
    assert made["task.checklistitem.getlist"] < 900
