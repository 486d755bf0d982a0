"""The times of CRM records: to a box none is older than the one with the highest id (bitrix24-rest-2 §D.4).

Records go in the order of their times. So what the box had before the first of ours says which times are raised. Only
what comes later than its turn (a retry, a record of another pass, one behind that of another user) is raised beyond
that, and is remembered (`crm_late`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from b24migrate.model.records import Json
from b24migrate.ports import NATIVE, RegisterRow
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.journal import Journal
from b24migrate.targets.rest.values import parse_time, utc

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = ("createdTime", "movedTime", "updatedTime")  # none of them before the one to its left


class RaisedTimes(NamedTuple):
    """The times that are sent, and the floor of the next record."""

    times: Mapping[str, str]
    floor: datetime


def raise_times(fields: Mapping[str, Json], floor: datetime) -> RaisedTimes:
    """A time that is too early is raised to the lowest possible one; no other changes. The box accepts no other time
    without the creation time: then the record is created now."""
    found: dict[str, str] = {}
    at = floor
    for name in TIMES if parse_time(fields.get("createdTime")) else ():
        told = parse_time(fields.get(name))
        if told is not None:
            at = max(at, told.replace(microsecond=0))
            found[name] = str(utc(at.isoformat()))
    return RaisedTimes(found, parse_time(found.get("createdTime")) or datetime.now(UTC))


def changed_names(fields: Mapping[str, Json], sent: Mapping[str, str]) -> list[str]:
    """The names of those that are not sent as the source returns them."""
    told = {name: parse_time(fields.get(name)) for name in TIMES}
    return [
        name for name, when in told.items() if when and sent.get(name) != utc(when.replace(microsecond=0).isoformat())
    ]


def floor_now(box: Box, number: str) -> datetime:
    """When the record with the highest id was created."""
    asked = {"entityTypeId": number, "select": ["id", "createdTime"], "order": {"id": "DESC"}, "start": 0}
    newest = next(rows_at(box.question("crm.item.list", asked), "items"), None)
    return (parse_time(newest.get("createdTime")) if newest else None) or LONG_AGO


def first_floor(box: Box, number: str) -> datetime:
    """Before anything of ours was there: remembered when the first is sent."""
    return box.kept(_name(number), lambda: _remembered_floor(box, number) or floor_now(box, number))


def keep_floor(box: Box, number: str, floor: datetime) -> None:
    """The lowest stands. It sinks only when all of ours are gone: each of them is at least as late as it was."""
    before = _remembered_floor(box, number)
    if before is None or floor < before:
        note = {"Stream": "note", "Trace": floor.isoformat()}
        box.store.write(NATIVE, [RegisterRow(f"note:{_name(number)}", note)])
        box.forget(_name(number))


def _remembered_floor(box: Box, number: str) -> datetime | None:
    return parse_time(Journal(box.store).note(_name(number)))


def _name(number: str) -> str:
    return f"floor {number}"
