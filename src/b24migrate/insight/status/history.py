"""How far it was at each moment: kept in the store, so that the page can show all of it.

A moment's key is its time, cut to ten seconds: several processes may remember the same one. There are never many: when
they become too many, old ones go, and what is left lies evenly over the whole time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from b24migrate.insight.status.model import Point
from b24migrate.model.records import Json
from b24migrate.ports import HISTORY, RegisterRow, Store

STEP_S = 10
MOST = 700
FRESH = 200  # the last ones stay as they are
AT_ONCE = 20  # dropped at once: each is a request to a remote store
WINDOW_S = 600.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A point of the history, with the values for pace and standstill. `units` of the work are done, counted by
    `basis`."""

    point: Point
    run: str = ""
    share: float = 0.0
    units: float = 0.0
    basis: str = ""
    moved: str = ""  # is another one when anything has moved
    waits: Mapping[str, float] = field(default_factory=dict)  # by method
    step_s: float = STEP_S  # until the next one was meant to follow

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(self.point.at)


def points(store: Store, since: str = "") -> list[Point]:
    """The oldest first. With `since` only the new ones."""
    if not since:
        return [one.point for one in moments(store)]
    begins = datetime.fromisoformat(since)
    before = moment_key(begins)[:-1]  # sorts before that key
    found = map(_moment, store.some_rows(HISTORY, "", before, 2 * MOST))
    return [one.point for one in found if one.at >= begins]


def moments(store: Store, prefix: str = "") -> list[Moment]:
    return [_moment(row) for row in store.rows(HISTORY, prefix)]


def recent(store: Store, now: datetime) -> list[Moment]:
    """Those of the last ten minutes, and some before; without any, the last ones."""
    beginnings = sorted({_ten_minutes(now - timedelta(seconds=WINDOW_S)), _ten_minutes(now)})
    found = [one for beginning in beginnings for one in moments(store, beginning)]
    return found or moments(store)[-FRESH:]


def keep(store: Store, moment: Moment) -> None:
    store.write(HISTORY, [_row(moment)])


def thin(store: Store) -> None:
    """A few at a time, once there are too many."""
    if store.count(HISTORY, "") > MOST:
        keys = [row.key for row in store.rows(HISTORY)]
        for key in surplus_keys(keys)[:AT_ONCE]:
            store.erase(HISTORY, key)


def surplus_keys(keys: Sequence[str]) -> list[str]:
    """Which of them to drop. The first and the last ones stay; those in between as far apart as it takes."""
    if len(keys) <= MOST:
        return []
    old = keys[:-FRESH]
    apart_s = 2.0 * STEP_S
    while len(kept := _spread_keys(old, apart_s)) + FRESH > MOST * 6 // 7:
        apart_s *= 2
    return [key for key in old if key not in kept]


def _spread_keys(keys: Sequence[str], apart_s: float) -> set[str]:
    kept: set[str] = set()
    last = -apart_s
    for key in keys:
        at = datetime.fromisoformat(key).timestamp()
        if at - last >= apart_s or not kept:
            kept.add(key)
            last = at
    return kept


def moment_key(now: datetime) -> str:
    """The key of a moment."""
    seconds = int(now.timestamp()) // STEP_S * STEP_S
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _ten_minutes(at: datetime) -> str:
    """`2026-03-01T12:3`: how every key of those ten minutes begins."""
    return moment_key(at)[:15]


def _row(moment: Moment) -> RegisterRow:
    point = moment.point
    more: dict[str, Json] = {
        "at": point.at,
        "share": moment.share,
        "units": moment.units,
        "basis": moment.basis,
        "moved": moment.moved,
        "waits": dict(moment.waits),
        "step_s": moment.step_s,
    }
    values: dict[str, Json] = {
        "Run": moment.run,
        "Read": point.read,
        "Imported": point.imported,
        "Verified": point.verified,
        "Failed": point.failed,
        "WaitedS": float(point.waited_s),
        "More": more,
    }
    return RegisterRow(moment_key(moment.at), values)


def _moment(row: RegisterRow) -> Moment:
    values = row.values
    read, imported, verified, failed = (int(values[name]) for name in ("Read", "Imported", "Verified", "Failed"))
    more = dict(values["More"])
    point = Point(more.pop("at"), read, imported, verified, failed, float(values["WaitedS"]))
    return Moment(point, str(values["Run"] or ""), **more)
