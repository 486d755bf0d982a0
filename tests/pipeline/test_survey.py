"""The analysis before a migration: what it finds, what it leaves alone, and what it foretells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.pipeline.world import LeapingClock

from b24migrate.pipeline.survey import Limits, Meter, Survey, compared, last, survey
from b24migrate.pipeline.survey.forecasting import nights_s
from b24migrate.pipeline.survey.playing import Course, Stage, length_s, play
from b24migrate.ports import Bill
from b24migrate.settings import load
from b24migrate.wiring import App, open_app
from b24sim.options import parser, portal_from
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
    return survey(app.work, meter, entities, Limits(), timezone=app.settings.source.zone, share=share)


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
    told, app = found
    assert [one.entity for one in told.forecast.entities] == [one.name for one in app.catalog.entities]
    assert all(one.low_s <= one.total_s <= one.high_s for one in told.forecast.entities)
    assert told.forecast.low_s <= told.forecast.total_s <= told.forecast.high_s


def test_nothing_is_staged_and_the_result_is_remembered(found: tuple[Survey, App]) -> None:
    told, app = found
    assert not any(sum(app.work.store.counts(table).values()) for table in app.catalog.tables)
    assert last(app.work.store) == told
    assert Survey.from_json(told.to_json()) == told


def test_people_files_fields_and_pipelines_are_there(found: tuple[Survey, App]) -> None:
    told = found[0]
    assert told.seats is not None
    assert 0 < told.seats.value <= 60
    assert told.unread_people is not None
    assert told.unread_people.value == 59  # everybody but the webhook's owner
    assert {one.entity for one in told.files} >= {"users", "chats"}
    assert any(one.filled for one in told.fields)
    assert told.pipelines


def test_what_the_sample_does_not_show_is_marked_as_an_estimate(tmp_path: Path) -> None:
    with opened(tmp_path, "--chats", "900", "--messages", "4000") as (app, meter):
        told = surveyed(app, meter)
    messages = next(one.records for one in told.streams if one.stream == "chat_messages")
    assert not messages.exact
    assert messages.low < messages.value < messages.high


def test_after_a_run_the_forecast_stands_beside_what_it_took(tmp_path: Path) -> None:
    with opened(tmp_path) as (app, meter):
        surveyed(app, meter)
        assert compared(app.work.store) == []
        app.runner.run(["users"])
        phases = {(one.entity, one.phase) for one in compared(app.work.store)}
    assert phases == {("users", "get"), ("users", "set")}


# ---------------------------------------------------------------- on paper


def test_requests_alone_take_what_the_bucket_lets_through() -> None:
    took = play([Course("users", frozenset(), (Stage("read", "get", requests=1050),))], Limits())
    assert length_s(took) == pytest.approx(500, abs=1)


def test_execution_time_comes_in_windows_of_ten_minutes() -> None:
    stage = Stage("read", "get", requests=20, seconds_of={(0, "user.get"): 480 * 3})
    took = play([Course("users", frozenset(), (stage,))], Limits())["users"]
    assert took.ended_s == pytest.approx(1200, abs=60)  # 480 s at once, and twice after ten minutes
    assert max(took.waits, key=lambda name: took.waits[name]) == "user.get"


def test_who_waits_for_nobody_goes_on_side_by_side_and_shares_the_bucket() -> None:
    stage = Stage("read", "get", requests=1050)
    alone = [Course("users", frozenset(), (stage,)), Course("crm", frozenset(), (stage,))]
    sent = Stage("send", "set", seconds=300)
    waiting = [Course("users", frozenset(), (sent,)), Course("chats", frozenset({"users"}), (sent,))]
    assert length_s(play(alone, Limits())) == pytest.approx(1025, abs=2)
    assert length_s(play(waiting, Limits())) == pytest.approx(600)


def test_a_long_migration_is_played_in_small() -> None:
    took = play([Course("users", frozenset(), (Stage("read", "get", requests=4_000_000),))], Limits())
    assert length_s(took) == pytest.approx(2_000_000, rel=0.01)


def test_nights_count_the_days_between() -> None:
    assert nights_s(9 * 3600) == 9 * 3600
    assert nights_s(20 * 3600) == (24 * 2 + 2) * 3600


# ---------------------------------------------------------------- what a call costs


def test_a_growing_sum_tells_what_a_call_costs() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 5, 1.0, 3.0, 0.0, 0.2))
    assert meter.costs["user.get"] == (0.5, 4)


def test_without_a_sum_the_duration_counts() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 1, None, None, 0.25, 0.3))
    assert meter.costs["user.get"].seconds == 0.25


def test_a_sum_that_falls_is_no_measure() -> None:
    meter = Meter()
    meter(Bill(0, "user.get", 2, 470.0, 10.0, 0.0, 0.2))
    assert "user.get" not in meter.costs
