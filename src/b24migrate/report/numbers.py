"""Numbers, durations, sizes and moments as people of a language write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from b24migrate.messages import Words
from b24migrate.messages.measures import POINT, duration

BETWEEN = {"en": ",", "ru": "\u00a0"}  # the thousands
DATES = {"en": "%Y-%m-%d", "ru": "%d.%m.%Y"}
DAYS = {"en": "%m-%d", "ru": "%d.%m"}
NONE = "–"
SIZES = ("b", "kb", "mb", "gb", "tb")
STEP = 1000.0


class Formats:
    def __init__(self, words: Words, zone: ZoneInfo) -> None:
        self._words = words
        self._language = words.language
        self.zone = zone

    def number(self, value: float | None) -> str:
        """`12,345`; a dash for what nobody knows."""
        return NONE if value is None else f"{round(value):,}".replace(",", BETWEEN[self._language])

    def signed(self, value: float | None) -> str:
        return f"+{self.number(value)}" if value and value > 0 else self.number(value)

    def decimal(self, value: float, digits: int = 1) -> str:
        whole, _, part = f"{value:,.{digits}f}".partition(".")
        whole = whole.replace(",", BETWEEN[self._language])
        return f"{whole}{POINT[self._language]}{part}" if part else whole

    def error(self, value: float) -> str:
        """Of a forecast: `+12 %` means that it was too long."""
        sign = "+" if value > 0 else ""
        return sign + self._words("report.amount.percent", value=self.decimal(100 * value, 0))

    def duration(self, seconds: float | None) -> str:
        return NONE if seconds is None else duration(self._words, seconds)

    def size(self, value: float | None) -> str:
        if value is None:
            return NONE
        step = 0
        while value >= STEP and step < len(SIZES) - 1:
            value, step = value / STEP, step + 1
        return self._words(f"report.amount.{SIZES[step]}", value=self.decimal(value, 1 if step else 0))

    def utc(self, moment: str) -> str:
        return self._format(self._parse(moment), "UTC") if moment else NONE

    def local(self, moment: str) -> str:
        """In the zone of the source, by its name."""
        return self._format(self._parse(moment).astimezone(self.zone), self.zone.key) if moment else NONE

    def tick(self, moment: datetime, form: str) -> str:
        """On the axis of a chart, in the zone of the source."""
        return moment.astimezone(self.zone).strftime(form.format(day=DAYS[self._language]))

    def _parse(self, moment: str) -> datetime:
        return datetime.fromisoformat(moment).astimezone(UTC)

    def _format(self, at: datetime, zone: str) -> str:
        return f"{at.strftime(DATES[self._language])} {at:%H:%M:%S} {zone}"
