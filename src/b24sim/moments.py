"""Times as a portal spells them: ISO with the server's offset, dates that are midnights in UTC, local formats."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

_DAY = 86_400
_MINUTES = tuple(f"{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440))
_SECONDS = tuple(f"{second:02d}" for second in range(60))


class Moments:
    """Writes unix seconds in one time zone. Days are remembered, since pages hold thousands of times."""

    def __init__(self, timezone: str):
        self.name = timezone
        self.zone = ZoneInfo(timezone)
        self._offsets: dict[int, tuple[int, str] | None] = {}
        self._dates: dict[int, str] = {}

    def iso(self, unix: float) -> str:
        """`2026-03-19T16:03:50+03:00`."""
        second = int(unix)
        day = second // _DAY
        offset = self._offsets[day] if day in self._offsets else self._offset_of_day(day)
        if offset is None:
            return datetime.fromtimestamp(second, self.zone).isoformat()
        local, rest = divmod(second + offset[0], _DAY)
        date_text = self._dates.get(local) or self._date(local)
        return f"{date_text}{_MINUTES[rest // 60]}{_SECONDS[rest % 60]}{offset[1]}"

    def offset_s(self, unix: float) -> int:
        delta = datetime.fromtimestamp(unix, self.zone).utcoffset()
        return int(delta.total_seconds()) if delta else 0

    def day(self, day: date) -> str:
        """A date without time: midnight in UTC, shown with the server's offset."""
        return self.iso(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())

    def culture(self, unix: float) -> str:
        return datetime.fromtimestamp(unix, self.zone).strftime("%d.%m.%Y %H:%M:%S")

    def plain(self, unix: float) -> str:
        return datetime.fromtimestamp(unix, self.zone).strftime("%Y-%m-%d %H:%M:%S")

    def parse(self, value: Any) -> float | None:
        """A time given in a filter: ISO or the portal's own format; None when it is neither."""
        text = str(value).strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment_or_none = _culture(text)
            if moment_or_none is None:
                return None
            moment = moment_or_none
        return (moment if moment.tzinfo else moment.replace(tzinfo=self.zone)).timestamp()

    def _offset_of_day(self, day: int) -> tuple[int, str] | None:
        """The offset all day long in UTC, or None on a day when the clocks change."""
        start, end = self.offset_s(day * _DAY), self.offset_s((day + 1) * _DAY - 1)
        text = datetime.fromtimestamp(day * _DAY, self.zone).isoformat()[19:]
        self._offsets[day] = (start, text) if start == end else None
        return self._offsets[day]

    def _date(self, day: int) -> str:
        text = datetime.fromtimestamp(day * _DAY, UTC).strftime("%Y-%m-%dT")
        self._dates[day] = text
        return text


def _culture(text: str) -> datetime | None:
    for pattern in ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y"):
        try:
            return datetime.strptime(text, pattern)  # noqa: DTZ007 - the zone is added by the caller
        except ValueError:
            continue
    return None
