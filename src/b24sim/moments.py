"""Times in the spellings of a portal: ISO with the server's offset, dates that are midnights in UTC, culture formats."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

_QUARTER = 900


class Moments:
    """Writes unix seconds in one time zone; quarter hours are remembered, since offsets change only between them."""

    def __init__(self, timezone: str):
        self.name = timezone
        self.zone = ZoneInfo(timezone)
        self._quarters: dict[int, tuple[str, int, str]] = {}

    def iso(self, unix: float) -> str:
        """`2026-03-19T16:03:50+03:00`."""
        second = int(unix)
        quarter = self._quarters.get(second // _QUARTER)
        if quarter is None:
            quarter = self._quarter(second // _QUARTER)
        hour, minute, offset = quarter
        rest = second % _QUARTER
        return f"{hour}{minute + rest // 60:02d}:{rest % 60:02d}{offset}"

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

    def _quarter(self, number: int) -> tuple[str, int, str]:
        if len(self._quarters) > 400_000:
            self._quarters.clear()
        local = datetime.fromtimestamp(number * _QUARTER, self.zone)
        offset = local.strftime("%z")
        entry = (local.strftime("%Y-%m-%dT%H:"), local.minute, f"{offset[:3]}:{offset[3:5]}")
        self._quarters[number] = entry
        return entry


def _culture(text: str) -> datetime | None:
    for pattern in ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y"):
        try:
            return datetime.strptime(text, pattern)  # noqa: DTZ007 - the zone is added by the caller
        except ValueError:
            continue
    return None
