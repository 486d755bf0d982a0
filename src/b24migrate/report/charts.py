"""The geometry of the charts. The template draws it and escapes its texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from b24migrate.insight.report.model import EntityFacts, PhaseFacts
from b24migrate.insight.status.model import Point

WIDTH = 720.0
LABELS = 140.0  # to the left
NUMBERS = 70.0  # to the right
MARGIN = 24.0  # on sides without numbers
ROW = 26.0
BAR = 15.0
AXIS = 24.0
LEAST = 2.0  # so that small values are visible
PARTS = ("imported", "failed", "excluded", "impossible", "waiting")
STEPS_S = (1, 2, 5, 10, 20, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800, 2592000)
MOST_TICKS = 6
# of a tick, by how far they are apart
FORMS = ((86400, "{day}"), (14400, "{day} %H:%M"), (60, "%H:%M"), (0, "%H:%M:%S"))
SPEED_HEIGHT = 150.0
BINS = 120


class Part(NamedTuple):
    kind: str
    x: float
    width: float
    value: float


class BarRow(NamedTuple):
    name: str
    y: float
    parts: Sequence[Part]
    total: float


class Bars(NamedTuple):
    height: float
    rows: Sequence[BarRow]


class Tick(NamedTuple):
    x: float
    at: datetime


class Span(NamedTuple):
    phase: PhaseFacts
    x: float
    width: float


class SpanRow(NamedTuple):
    name: str
    y: float
    spans: Sequence[Span]


class Timeline(NamedTuple):
    height: float
    rows: Sequence[SpanRow]
    ticks: Sequence[Tick]
    form: str  # of a tick's time


class Line(NamedTuple):
    kind: str
    points: str


class Speeds(NamedTuple):
    height: float
    lines: Sequence[Line]
    ticks: Sequence[Tick]
    levels: Sequence[tuple[float, float]]  # y, records a minute
    form: str


# ---------------------------------------------------------------- bars


def draw_bars(entities: Sequence[EntityFacts]) -> Bars | None:
    """Each entity as a whole, divided by what became of it; a small part is drawn large enough to be seen."""
    found: list[BarRow] = []
    for entity in entities:
        counts = dict.fromkeys(PARTS, 0)
        for one in entity.streams:
            for kind in PARTS[:-1]:
                counts[kind] += getattr(one, kind)
            counts["waiting"] += one.waiting + one.retrying
        total = sum(counts.values())
        if total:
            found.append(BarRow(entity.name, len(found) * ROW, _divide(counts, total), total))
    return Bars(len(found) * ROW, found) if found else None


def _divide(counts: dict[str, int], total: int) -> list[Part]:
    space = WIDTH - LABELS - NUMBERS
    widths = {kind: max(LEAST, space * count / total) for kind, count in counts.items() if count}
    largest = max(widths, key=lambda kind: widths[kind])
    widths[largest] -= sum(widths.values()) - space
    parts, x = [], LABELS
    for kind, width in widths.items():
        parts.append(Part(kind, round(x, 1), round(width, 1), counts[kind]))
        x += width
    return parts


# ---------------------------------------------------------------- time


def draw_timeline(entities: Sequence[EntityFacts], now: str) -> Timeline | None:
    begun = [one for entity in entities for one in entity.phases if one.started]
    if not begun:
        return None
    scale = _Scale(_parse(min(one.started for one in begun)), max(_parse(one.finished or now) for one in begun))
    rows: list[SpanRow] = []
    for entity in entities:
        spans = [_span(one, scale, now) for one in entity.phases if one.started]
        if spans:
            rows.append(SpanRow(entity.name, len(rows) * ROW, spans))
    return Timeline(len(rows) * ROW + AXIS, rows, scale.ticks(), scale.form)


def _span(one: PhaseFacts, scale: _Scale, now: str) -> Span:
    x, end = scale.x(_parse(one.started)), scale.x(_parse(one.finished or now))
    return Span(one, x, max(LEAST, round(end - x, 1)))


class _Scale:
    """From moments to places."""

    def __init__(self, first: datetime, last: datetime) -> None:
        self.first = first
        self.seconds = max(1.0, (last - first).total_seconds())
        self.step_s = next((one for one in STEPS_S if self.seconds / one <= MOST_TICKS), STEPS_S[-1])
        self.form = next(form for shortest_s, form in FORMS if self.step_s >= shortest_s)

    def x(self, at: datetime) -> float:
        share = (at - self.first).total_seconds() / self.seconds
        return round(LABELS + share * (WIDTH - LABELS - MARGIN), 1)

    def ticks(self) -> list[Tick]:
        step = self.step_s
        start = self.first.timestamp()
        offset = -start % step
        count = int((self.seconds - offset) // step) + 1
        moments = [self.first + timedelta(seconds=offset + step * number) for number in range(max(0, count))]
        return [Tick(self.x(one), one) for one in moments[:50]]


def _parse(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


# ---------------------------------------------------------------- speed


def draw_speeds(points: Sequence[Point]) -> Speeds | None:
    """Records a minute between one moment and the next, a hundred or so of them."""
    few = points[:: max(1, len(points) // BINS)]
    steps = [(one, two) for one, two in pairwise(few) if _parse(two.at) > _parse(one.at)]
    if len(steps) < 2:
        return None
    scale = _Scale(_parse(steps[0][0].at), _parse(steps[-1][1].at))
    paces = {kind: [_per_minute(kind, one, two) for one, two in steps] for kind in ("read", "imported", "verified")}
    top = _round(max(max(values) for values in paces.values()))
    lines = []
    for kind, values in paces.items():
        places = [
            f"{scale.x(_parse(two.at))},{round(SPEED_HEIGHT * (1 - pace / top), 1)}"
            for (_, two), pace in zip(steps, values, strict=True)
        ]
        if any(values):
            lines.append(Line(kind, " ".join(places)))
    levels = [(round(SPEED_HEIGHT * (1 - share), 1), top * share) for share in (0.0, 0.5, 1.0)]
    return Speeds(SPEED_HEIGHT + AXIS, lines, scale.ticks(), levels, scale.form) if lines else None


def _per_minute(kind: str, one: Point, two: Point) -> float:
    minutes = (_parse(two.at) - _parse(one.at)).total_seconds() / 60
    return max(0.0, float(getattr(two, kind) - getattr(one, kind)) / minutes)


def _round(value: float) -> float:
    """The next higher number that starts with 1, 2 or 5."""
    size = 1.0
    while size * 10 < value:
        size *= 10
    return next(size * step for step in (1, 2, 5, 10) if size * step >= value)
