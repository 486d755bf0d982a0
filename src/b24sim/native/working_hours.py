"""The hours in which a company works: from nine to six, except at weekends."""

from datetime import datetime, time, timedelta, tzinfo

OPENS, CLOSES = time(9), time(18)
SATURDAY = 5


def in_working_hours(unix: int, zone: tzinfo) -> int:
    """The same moment while people work, or else the next one at which they do."""
    at = datetime.fromtimestamp(unix, zone)
    if at.time() > CLOSES:
        at = datetime.combine(at.date() + timedelta(days=1), OPENS, zone)
    at = max(at, datetime.combine(at.date(), OPENS, zone))
    while at.weekday() >= SATURDAY:
        at = datetime.combine(at.date() + timedelta(days=1), OPENS, zone)
    return int(at.timestamp())
