"""The shortest time that the documented limits of a cloud portal allow for a piece of work: for a client that is
limited by nothing else, whose requests and answers take no time, and that knows all its requests beforehand."""

from __future__ import annotations

from collections import deque

PER_SECOND = 2.0
BUCKET = 50.0
OPERATING_S = 480.0
WINDOW_MINUTES = 10
COMMANDS = 50  # in a request
PAGE = 50  # records in a command


def pages(records: int) -> int:
    return -(-records // PAGE)


def full(commands: int) -> int:
    """Requests for so many commands."""
    return -(-commands // COMMANDS)


def requests_alone(requests: int) -> float:
    """The bucket is empty at first and takes 50 at once; from then on one request fits in every half second."""
    return max(0.0, (requests - BUCKET) / PER_SECOND)


def soonest(commands: int, cost_s: float, *, at: float, before: int = 0) -> float:
    """Seconds for so many commands that cost `cost_s` each, after `before` other requests.

    A request takes 50 commands, of whatever methods: `batch` pays for all of them, so that they share one budget.
    Nothing is sent once more than 480 s are spent in the present and the nine minutes before it, minutes being those of
    the portal's clock, which shows `at` at the beginning; the command that crosses the limit is the last. Sending as
    early as possible is fastest: time that is spent earlier is restored earlier.
    """
    now, level = at, float(before)
    spent: deque[tuple[float, float]] = deque()  # minute, seconds
    while commands:
        if level + 1 > BUCKET:
            now, level = now + (level + 1 - BUCKET) / PER_SECOND, BUCKET - 1
        while spent and spent[0][0] <= now // 60 - WINDOW_MINUTES:
            spent.popleft()
        left_s = OPERATING_S - sum(seconds for _, seconds in spent)
        if left_s < 0:
            freed = (spent[0][0] + WINDOW_MINUTES) * 60
            level = max(0.0, level - (freed - now) * PER_SECOND)
            now = freed
            continue
        sent = min(COMMANDS, commands, int(left_s / cost_s) + 1)
        spent.append((now // 60, sent * cost_s))
        commands -= sent
        level += 1
    return now - at
