"""Numbers, durations, sizes and moments as people of a language write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from b24migrate.hosts.words import Words

BETWEEN = {"en": ",", "ru": "\u00a0"}  # the thousands
POINT = {"en": ".", "ru": ","}
DATES = {"en": "%Y-%m-%d", "ru": "%d.%m.%Y"}
NONE = "–"
SIZES = ("b", "kb", "mb", "gb", "tb")
STEP = 1000.0


class Amounts:
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

    def share(self, part: float, whole: float) -> str:
        """Never 100 % while something is missing, and never 0 % when something is there."""
        if not whole:
            return NONE
        percent = 100 * part / whole
        if part != whole:
            percent = min(percent, 99.9)
        if part:
            percent = max(percent, 0.1)
        digits = 0 if percent == round(percent) else 1
        return self._words("report.amount.percent", value=self.decimal(percent, digits))

    def error(self, value: float) -> str:
        """Of a forecast: `+12 %` was foretold too long."""
        sign = "+" if value > 0 else ""
        return sign + self._words("report.amount.percent", value=self.decimal(100 * value, 0))

    def duration(self, seconds: float | None) -> str:
        if seconds is None:
            return NONE
        if seconds < 60:
            return self._words("report.amount.seconds", seconds=self.decimal(seconds, 0 if seconds >= 10 else 1))
        minutes, rest = divmod(round(seconds), 60)
        if minutes < 60:
            return self._words("report.amount.minutes", minutes=minutes, seconds=f"{rest:02}")
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return self._words("report.amount.hours", hours=hours, minutes=f"{minutes:02}")
        days, hours = divmod(hours, 24)
        return self._words("report.amount.days", days=days, hours=f"{hours:02}")

    def size(self, value: float | None) -> str:
        if value is None:
            return NONE
        step = 0
        while value >= STEP and step < len(SIZES) - 1:
            value, step = value / STEP, step + 1
        return self._words(f"report.amount.{SIZES[step]}", value=self.decimal(value, 1 if step else 0))

    def utc(self, moment: str) -> str:
        return self._written(self._at(moment), "UTC") if moment else NONE

    def local(self, moment: str) -> str:
        """In the zone of the source, by its name."""
        return self._written(self._at(moment).astimezone(self.zone), self.zone.key) if moment else NONE

    def tick(self, moment: datetime, *, with_day: bool) -> str:
        """On the axis of a chart, in the zone of the source."""
        day = "%d.%m " if self._language == "ru" else "%m-%d "
        return moment.astimezone(self.zone).strftime(f"{day if with_day else ''}%H:%M")

    def _at(self, moment: str) -> datetime:
        return datetime.fromisoformat(moment).astimezone(UTC)

    def _written(self, at: datetime, zone: str) -> str:
        return f"{at.strftime(DATES[self._language])} {at:%H:%M:%S} {zone}"
