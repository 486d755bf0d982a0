"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from b24migrate.messages import Words

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MINUTE, HOUR, DAY = 60, 3600, 86400
FEW_MINUTES = 10 * MINUTE  # up to here seconds are shown
POINT = {"en": ".", "ru": ","}


def number(value: float) -> str:
    """`1 234 567`, with narrow spaces that no line is broken at."""
    return f"{round(value):,}".replace(",", NARROW_SPACE)


def percent(words: Words, share: float) -> str:
    """Rounded down: unfinished work is never 100%."""
    return words("page.percent", number=int(max(0.0, min(1.0, share)) * 100 + 1e-9))


def duration(words: Words, spent_s: float) -> str:
    """`0.4 s`, `35 s`, `1 min 55 s`, `12 min`, `2 h 10 min`, `3 d 4 h`. The one formatter of durations;
    format.js does the same."""
    if 0 < (tenths := round(spent_s, 1)) < 1:
        return words("status.time.seconds", seconds=str(tenths).replace(".", POINT[words.language]))
    seconds = max(0, round(spent_s))
    if seconds < MINUTE:
        return words("status.time.seconds", seconds=seconds)
    if seconds < FEW_MINUTES:
        return _two(words, "minutes", "seconds", seconds // MINUTE, seconds % MINUTE)
    if seconds < HOUR:
        return words("status.time.minutes", minutes=seconds // MINUTE)
    hours, minutes = seconds // HOUR, seconds % HOUR // MINUTE
    if seconds < DAY:
        return _two(words, "hours", "minutes", hours, minutes)
    return _two(words, "days", "hours", hours // 24, hours % 24)


def about(words: Words, left_s: float) -> str:
    """As exact as a forecast can be: whole minutes, then tens of them, then hours."""
    if left_s < MINUTE:
        return words("status.time.moment")
    step = (
        MINUTE if left_s < 30 * MINUTE else 5 * MINUTE if left_s < 2 * HOUR else 10 * MINUTE if left_s < DAY else HOUR
    )
    return words("status.time.about", time=duration(words, round(left_s / step) * step))


def clock_time(words: Words, at: str, now: str, zone: tzinfo | None = None) -> str:
    """`02:14`; with the date if it differs from that of `now`. Without a zone: in the zone of the machine."""
    if not at:
        return "?"
    when, today = (datetime.fromisoformat(one).astimezone(zone) for one in (at, now or at))
    text = f"{when:%H:%M}" if when.date() == today.date() else f"{when:%Y-%m-%d %H:%M}"
    return words("status.time.utc", time=text) if zone is UTC else text


def _two(words: Words, large: str, small: str, many: int, few: int) -> str:
    if not few:
        return words(f"status.time.{large}", **{large: many})
    return words(f"status.time.{large}_{small}", **{large: many, small: few})
