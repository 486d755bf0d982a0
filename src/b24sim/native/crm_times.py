"""When an imported record was made, moved and changed, as far as a box believes it."""

from b24sim.context import Context
from b24sim.native.crm_box import BoxItems
from b24sim.native.crm_rows import not_valid
from b24sim.native.writing import now_of
from b24sim.paging import whole
from b24sim.table import Row

TIMES = ("createdTime", "updatedTime", "movedTime")
PEOPLE = ("createdBy", "updatedBy", "movedBy")


def history(context: Context, items: BoxItems, fields: Row) -> Row:
    """The six fields that only administrators set, and only in an import. Nothing lies in the future; a record is
    not older than the one with the highest id; and it was made before it was moved, and moved before it changed."""
    asked = {name: fields[name] for name in (*TIMES, *PEOPLE) if fields.get(name) not in (None, "")}
    if asked and not context.caller.admin:
        raise not_valid(next(iter(asked)))
    moments, now = context.portal.company.moments, float(int(now_of(context)))
    times = {name: _parsed(context, name, asked[name]) for name in TIMES if name in asked}
    created = times.get("createdTime", now)
    _demand("createdTime", created <= now and created >= _newest(context, items))
    # Without a time of change it changed now.
    updated = times.get("updatedTime", now)
    _demand("updatedTime", created <= updated <= now)
    moved = times.get("movedTime", created)
    ceiling = updated if "updatedTime" in times else created
    _demand("movedTime", created <= moved <= ceiling)
    row: Row = dict(zip(TIMES, map(moments.iso, (created, updated, moved)), strict=True))
    row |= {name: whole(asked.get(name, context.caller.user)) for name in PEOPLE}
    return row | {"lastActivityTime": row["createdTime"], "lastActivityBy": row["createdBy"]}


def _parsed(context: Context, name: str, value: object) -> float:
    unix = context.portal.company.moments.parse(value)
    if unix is None:
        raise not_valid(name)
    return float(int(unix))


def _newest(context: Context, items: BoxItems) -> float:
    """Of the record with the highest id that is still there, whatever the dates of the others are."""
    if not items.ids:
        return 0.0
    return context.portal.company.moments.parse(items.row(items.ids[-1])["createdTime"]) or 0.0


def _demand(name: str, fulfilled: bool) -> None:
    if not fulfilled:
        raise not_valid(name)
