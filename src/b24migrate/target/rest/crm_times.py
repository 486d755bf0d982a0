"""The times of CRM records: to a box none is older than the one with the highest id (bitrix24-rest-2 §D.4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from b24migrate.fidelity import Draft, Judge
from b24migrate.records import Json
from b24migrate.target.rest.box import Box, inside
from b24migrate.target.rest.memory import Memory
from b24migrate.target.rest.spelling import moment, utc

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
TIMES = ("createdTime", "movedTime", "updatedTime")  # none of them before the one to its left


class Raised(NamedTuple):
    """The times that are sent, and the floor of the next record."""

    times: Mapping[str, str]
    floor: datetime


def raised(fields: Mapping[str, Json], floor: datetime) -> Raised:
    """What is too early becomes as late as it must be; nothing else changes."""
    found: dict[str, str] = {}
    at = floor
    for name in TIMES:
        told = moment(fields.get(name))
        if told is not None:
            at = max(at, told.replace(microsecond=0))
            found[name] = str(utc(at.isoformat()))
    created = moment(found.get("createdTime"))
    return Raised(found, created or datetime.now(UTC))


def floor_now(box: Box, number: str) -> datetime:
    """When the record with the highest id was created."""
    asked = {"entityTypeId": number, "select": ["id", "createdTime"], "order": {"id": "DESC"}, "start": 0}
    newest = next(inside(box.question("crm.item.list", asked), "items"), None)
    return (moment(newest.get("createdTime")) if newest else None) or LONG_AGO


def first_floor(box: Box, number: str) -> datetime:
    """Before anything of ours was there: remembered when it is first asked for, and for ever."""
    memory = Memory(box.store)
    return moment(memory.note(f"floor {number}")) or floor_now(box, number)


def keep_floor(box: Box, number: str, floor: datetime) -> None:
    Memory(box.store).keep(f"floor {number}", floor.isoformat())


def changes(name: str, floors: Mapping[str, datetime]) -> Judge:
    """For one pass over the drafts in order of id: whether the time of this name will be raised. Smart processes have a
    row of their own each."""
    reached = dict(floors)

    def judge(draft: Draft) -> bool:
        kind = str(draft.get("entityTypeId") or "")
        sent = raised(draft, reached.get(kind, LONG_AGO))
        reached[kind] = sent.floor
        told = moment(draft.get(name))
        return told is not None and sent.times.get(name) != utc(told.replace(microsecond=0).isoformat())

    return judge
