"""Numbers, durations, moments and the geometry of charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from b24migrate.insight.report.model import EntityFacts, PhaseFacts, StreamFacts
from b24migrate.insight.status.model import Point
from b24migrate.messages import words
from b24migrate.report import charts
from b24migrate.report.page import Formats

ENGLISH, RUSSIAN = (Formats(words(language), ZoneInfo("Europe/Moscow")) for language in ("en", "ru"))
BEGAN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def text(seconds: float) -> str:
    return f"{BEGAN + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"


def entity(*counts: int, phases: tuple[tuple[float, float], ...] = ()) -> EntityFacts:
    imported, failed, excluded, impossible, waiting = (*counts, 0, 0, 0, 0, 0)[:5]
    stream = StreamFacts(
        name="users",
        source=None,
        read=0,
        staged=waiting + imported + failed,
        imported=imported,
        failed=failed,
        retrying=0,
        excluded=excluded,
        impossible=impossible,
        deleted=0,
        conflicts=0,
        undecided=0,
        verified=0,
        findings=0,
        drift=0,
        entity="users",
        places=0,
        losses={},
    )
    names = ("get", "set", "verify")
    steps = tuple(
        PhaseFacts("users", name, "done", text(start), text(end), end - start, "")
        for name, (start, end) in zip(names, phases, strict=False)
    )
    return EntityFacts("users", True, False, steps, (stream,), ())


@pytest.mark.parametrize(
    ("seconds", "english", "russian"),
    [
        (0, "0 s", "0 с"),
        (0.44, "0.4 s", "0,4 с"),
        (9.94, "10 s", "10 с"),
        (59, "59 s", "59 с"),
        (61, "1 min 1 s", "1 мин 1 с"),
        (600, "10 min", "10 мин"),
        (3600, "1 h", "1 ч"),
        (7 * 3600 + 1799, "7 h 29 min", "7 ч 29 мин"),
        (50 * 3600, "2 d 2 h", "2 дн. 2 ч"),
        (None, "–", "–"),
    ],
)
def test_durations(seconds: float | None, english: str, russian: str) -> None:
    assert (ENGLISH.duration(seconds), RUSSIAN.duration(seconds)) == (english, russian)


def test_numbers_and_sizes() -> None:
    assert (ENGLISH.number(1234567), RUSSIAN.number(1234567)) == ("1,234,567", "1\u00a0234\u00a0567")
    assert (ENGLISH.number(None), ENGLISH.signed(3), ENGLISH.signed(-3), ENGLISH.signed(0)) == ("–", "+3", "-3", "0")
    assert (ENGLISH.size(999), ENGLISH.size(1_500_000), RUSSIAN.size(2_340_000_000)) == (
        "999 bytes",
        "1.5 MB",
        "2,3 ГБ",
    )
    assert (ENGLISH.error(0.123), RUSSIAN.error(-0.5)) == ("+12%", "-50 %")


def test_moments_are_named_by_their_zone() -> None:
    assert ENGLISH.utc("2026-03-01T22:30:00Z") == "2026-03-01 22:30:00 UTC"
    assert ENGLISH.local("2026-03-01T22:30:00Z") == "2026-03-02 01:30:00 Europe/Moscow"
    assert RUSSIAN.local("2026-03-01T22:30:00Z") == "02.03.2026 01:30:00 Europe/Moscow"
    assert (ENGLISH.utc(""), ENGLISH.local("")) == ("–", "–")


def test_one_in_a_million_can_be_seen_and_the_bar_stays_as_long() -> None:
    drawn = charts.draw_bars([entity(1_000_000, 1, 0, 1)])
    assert drawn is not None
    (row,) = drawn.rows
    assert [part.kind for part in row.parts] == ["imported", "failed", "impossible"]
    assert all(part.width >= charts.LEAST for part in row.parts)
    assert sum(part.width for part in row.parts) == pytest.approx(charts.WIDTH - charts.LABELS - charts.NUMBERS)
    assert row.total == 1_000_002


def test_nothing_is_drawn_of_nothing() -> None:
    assert charts.draw_bars([entity()]) is None
    assert charts.draw_timeline([entity()], text(0)) is None
    assert charts.draw_speeds([]) is None
    assert charts.draw_speeds([Point(text(0), 0, 0, 0, 0, 0.0), Point(text(10), 0, 0, 0, 0, 0.0)]) is None


@pytest.mark.parametrize("whole_s", [0.0, 3.0, 90.0, 7200.0, 200_000.0, 9_000_000.0])
def test_steps_lie_within_the_chart_and_few_times_are_named(whole_s: float) -> None:
    drawn = charts.draw_timeline([entity(phases=((0, whole_s / 2), (whole_s / 2, whole_s)))], text(whole_s))
    assert drawn is not None
    spans = drawn.rows[0].spans
    assert spans[0].x == charts.LABELS
    assert all(span.x + span.width <= charts.WIDTH for span in spans)
    assert len(drawn.ticks) <= charts.MOST_TICKS + 1
    named = [ENGLISH.tick(one.at, drawn.form) for one in drawn.ticks]
    assert len(set(named)) == len(named)


def test_speed_is_what_came_between_two_moments() -> None:
    points = [Point(text(60 * n), 120 * n, 30 * n, 0, 0, 0.0) for n in range(5)]
    drawn = charts.draw_speeds(points)
    assert drawn is not None
    assert [line.kind for line in drawn.lines] == ["read", "imported"]
    assert drawn.levels[-1][1] == 200
    heights = {line.kind: {float(one.split(",")[1]) for one in line.points.split()} for line in drawn.lines}
    assert heights == {
        "read": {charts.SPEED_HEIGHT * (1 - 120 / 200)},
        "imported": {charts.SPEED_HEIGHT * (1 - 30 / 200)},
    }


def test_many_moments_become_a_few_points() -> None:
    points = [Point(text(10 * n), n, 0, 0, 0, 0.0) for n in range(700)]
    drawn = charts.draw_speeds(points)
    assert drawn is not None
    assert 100 <= len(drawn.lines[0].points.split()) <= 200
