"""Every verdict has its sentence, in every language, with numbers and times as people read them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from b24migrate.insight.status.model import (
    EntityView,
    FilesView,
    Now,
    Overview,
    PhaseView,
    Progress,
    RunFacts,
    Speed,
    Verdict,
)
from b24migrate.messages import LANGUAGES, words
from b24migrate.messages.measures import about, clock_time, duration, number, percent
from b24migrate.report.status_text import advice, progress_sentence, sentence

THIN = "\N{NARROW NO-BREAK SPACE}"


def overview_of(verdict: Verdict, *, progress: dict[str, Any] | None = None, **now: Any) -> Overview:
    entity = EntityView("users", True, False, (PhaseView("get", "running"), PhaseView("set", "blocked")), (), ())
    known = Progress(0.345, 10, 20, "source", 7800.0, "pace", 600.0, 1_234_567, 5, 5)
    return Overview(
        at="2026-03-02T02:20:00Z",
        now=replace(Now(verdict, "2026-03-02T02:14:00Z", ("users-get",), spent_s=3700.0), **now),
        run=RunFacts("r", "active", "", "", None, ("users",), ("get",), 0),
        progress=replace(known, **(progress or {})),
        speed=Speed(0.0, 0.0, 0.0, 0.0),
        entities=(entity,),
        files=FilesView(1036, None, 3, 0),
        waits=(),
        gates=(),
        failed=3,
        retrying=0,
        findings=2,
        undecided=0,
        dead_letters=0,
        workers=1,
        forecast_s=18000.0,
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_sentence_and_no_place_is_left_open(language: str, verdict: Verdict) -> None:
    spoken = words(language)
    for view in (overview_of(verdict), overview_of(verdict, waits_for=("source",), next_at="", stops_at="", busy=())):
        for text in (sentence(spoken, view), progress_sentence(spoken, view)):
            assert text.endswith(".")
            assert "{" not in text


def test_an_outage_says_since_when_and_until_when_it_is_waited_for() -> None:
    now: dict[str, Any] = {
        "waits_for": ("source",),
        "next_at": "2026-03-02T02:21:00Z",
        "stops_at": "2026-03-02T02:44:00Z",
    }
    text = sentence(words("en"), overview_of(Verdict.OUTAGE, **now), UTC)
    for part in ("The source has not answered since 02:14 UTC", "Next attempt at 02:21 UTC", "by 02:44 UTC"):
        assert part in text
    assert "Облако не отвечает с 02:14 UTC" in sentence(words("ru"), overview_of(Verdict.OUTAGE, **now), UTC)


def test_what_runs_is_named_by_what_people_call_it() -> None:
    assert sentence(words("en"), overview_of(Verdict.RUNNING)).startswith("Running for 1 h 1 min. Now: reading Users.")
    assert "чтение, Сотрудники" in sentence(words("ru"), overview_of(Verdict.RUNNING))
    assert f"Files: 3 of 1{THIN}036 on the target." in sentence(words("en"), overview_of(Verdict.RUNNING))
    assert "Blocked: importing Users." in sentence(words("en"), overview_of(Verdict.RUNNING))


def test_a_standstill_says_how_long_it_has_lasted() -> None:
    assert "No progress for 6 min" in sentence(words("en"), overview_of(Verdict.STILL))


def test_what_stopped_it_is_said_and_what_to_do() -> None:
    view = overview_of(Verdict.STOPPED, message="The disk is full.")
    assert "The disk is full." in sentence(words("ru"), view)
    assert "Run the same command" in advice(words("en"), view)
    assert advice(words("en"), overview_of(Verdict.RUNNING)) == ""


def test_findings_are_counted() -> None:
    assert "Failed: 3. Differences: 2." in sentence(words("en"), overview_of(Verdict.FINDINGS))


def test_many_names_are_cut_short() -> None:
    view = overview_of(Verdict.LIMITED, waits_for=("a.get", "b.get", "c.get", "d.get", "e.get"))
    assert "a.get, b.get, c.get and 2 more" in sentence(words("en"), view)


@pytest.mark.parametrize(
    ("progress", "wanted"),
    [
        ({}, "34% done, about 2 h 10 min left at the speed of the last 10 min."),
        ({"left_basis": "forecast"}, "by the forecast"),
        ({"left_s": None, "left_basis": "unknown"}, "not known yet"),
        ({"total_basis": "forecast"}, f"of about 1{THIN}234{THIN}567"),
        ({"total_basis": "unknown", "records": None}, "Records read so far: 5"),
    ],
)
def test_the_time_left_says_what_it_rests_on(progress: dict[str, Any], wanted: str) -> None:
    assert wanted in progress_sentence(words("en"), overview_of(Verdict.RUNNING, progress=progress))


def test_before_a_run_the_forecast_speaks() -> None:
    assert progress_sentence(words("en"), overview_of(Verdict.NO_RUN)) == "Forecast: about 5 h."
    assert progress_sentence(words("ru"), overview_of(Verdict.NO_RUN)) == "Прогноз: около 5 ч."


@pytest.mark.parametrize(
    ("seconds", "en", "ru"),
    [
        (0, "0 s", "0 с"),
        (59.6, "1 min", "1 мин"),
        (115, "1 min 55 s", "1 мин 55 с"),
        (599.4, "9 min 59 s", "9 мин 59 с"),
        (754, "12 min", "12 мин"),
        (7200, "2 h", "2 ч"),
        (7800, "2 h 10 min", "2 ч 10 мин"),
        (86400 * 3 + 4 * 3600, "3 d 4 h", "3 дн. 4 ч"),
    ],
)
def test_durations(seconds: float, en: str, ru: str) -> None:
    assert (duration(words("en"), seconds), duration(words("ru"), seconds)) == (en, ru)


def test_nobody_knows_the_time_left_to_the_second() -> None:
    assert about(words("en"), 20) == "less than a minute"
    assert about(words("ru"), 7999) == "около 2 ч 10 мин"
    assert about(words("en"), 100_000) == "about 1 d 4 h"


@given(st.floats(0, 366 * 86400))
def test_no_time_is_told_with_sixty_minutes_or_twenty_four_hours(seconds: float) -> None:
    for text in (about(words("en"), seconds), duration(words("en"), seconds)):
        assert "60 min" not in text
        assert "60 s" not in text
        assert " 24 h" not in text


def test_nothing_is_a_hundred_percent_that_is_not_done() -> None:
    assert percent(words("en"), 0.99999) == "99%"
    assert percent(words("ru"), 1.0) == f"100{THIN}%"
    assert number(1234567.4) == f"1{THIN}234{THIN}567"


def test_another_day_is_told_with_its_date() -> None:
    assert clock_time(words("en"), "2026-03-01T23:59:00Z", "2026-03-02T02:20:00Z", UTC) == "2026-03-01 23:59 UTC"
