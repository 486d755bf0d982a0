"""crm.activity.*: all activities in one list, the records that each belongs to; and voximplant.statistic.get."""

from collections.abc import Sequence
from typing import Any

from b24sim.company.activity_rows import ACTIVITY
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import matching, split
from b24sim.habits import INSTANT, as_read
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, Table, shown

ACTIVITY_TIMES = {"CREATED", "LAST_UPDATED", "START_TIME", "END_TIME", "DEADLINE"}
CALL_TIMES = {"CALL_START_DATE"}
# Only these come where nothing or `*` is selected.
NAMED = ("COMMUNICATIONS", "FILES", "STORAGE_ELEMENT_IDS", "IS_INCOMING_CHANNEL")
MOST_BINDINGS = 100
NOT_FILTERED = ("CALL_TYPE",)  # of calls nothing is sorted by it


def activity_list(context: Context, params: Params) -> Result:
    """Names that the fields do not have are dropped from a filter without a word, which makes it wider."""
    company = context.portal.company
    table = company.activities.activities
    asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
    bound = asked.get("BINDINGS")
    known = {key: value for key, value in asked.items() if split(key)[1] in _fields(table)}
    ids = matching(table, table.ids, as_read(context, known, INSTANT, ACTIVITY_TIMES), company.moments)
    if isinstance(bound, list):  # one that belongs to two of these records comes twice
        ids = [number for number in ids for one in bound for owner in _bound_by(context, number) if _fits(one, owner)]
    order = params["ORDER"] if isinstance(params.get("ORDER"), dict) and params["ORDER"] else {"START_TIME": "ASC"}
    select = [str(one) for one in params["SELECT"]] if isinstance(params.get("SELECT"), list) else []
    return page_by_offset(
        _ordered(table, ids, order), whole(params.get("START", 0)), lambda number: encode(_row(context, number, select))
    )


def activity_get(context: Context, params: Params) -> Result:
    number = whole(params.get("ID"))
    table = context.portal.company.activities.activities
    if number not in table:
        raise RestError("", "Not found")
    if table.row(number)["PROVIDER_ID"] == "CONFIGURABLE_REST_APP":
        raise RestError("ERROR_WRONG_CONTEXT", "It is allowed only for applications")
    return Result(encode(_row(context, number, ["*", "FILES"])))


def bindings(context: Context, params: Params) -> Result:
    """All records that it belongs to, as whole numbers."""
    activities = context.portal.company.activities
    number = whole(params.get("activityId"))
    if number not in activities.activities:
        raise RestError("NOT_FOUND", "Элемент не найден")
    pairs = [{"entityTypeId": kind, "entityId": owner} for kind, owner in activities.bindings(number)]
    return Result(encode_all(context.portal.in_no_order(pairs[:MOST_BINDINGS])))


def statistics(context: Context, params: Params) -> Result:
    """Without both SORT and ORDER there is no order. A user who sees only own calls gets no error."""
    company = context.portal.company
    table = company.activities.calls
    asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
    known = {key: value for key, value in asked.items() if split(key)[1] in _fields(table)}
    ids = matching(table, table.ids, as_read(context, known, INSTANT, CALL_TIMES), company.moments)
    if not context.caller.admin:
        ids = [number for number in ids if table.row(number)["PORTAL_USER_ID"] == str(context.caller.user)]
    sort, order = str(params.get("SORT") or "").upper(), str(params.get("ORDER") or "").upper()
    sortable = sort in _fields(table) and sort not in NOT_FILTERED and order in {"ASC", "DESC"}
    ordered = _ordered(table, ids, {sort: order}) if sortable else list(table.in_no_order(ids))
    return page_by_offset(ordered, whole(params.get("START", 0)), table.encoded)


def _fields(table: Table) -> frozenset[str]:
    return frozenset(table.row(table.ids[0])) if len(table) else frozenset({"ID"})


def _bound_by(context: Context, number: int) -> list[tuple[int, int]]:
    return context.portal.company.activities.bindings(number)


def _fits(asked: Any, owner: tuple[int, int]) -> bool:
    if not isinstance(asked, dict):
        return False
    wanted = (asked.get("OWNER_TYPE_ID"), asked.get("OWNER_ID"))
    return all(one is None or whole(one) == own for one, own in zip(wanted, owner, strict=True))


def _ordered(table: Table, ids: Sequence[int], order: dict[str, Any]) -> Sequence[int]:
    if list(order) == ["ID"]:  # they come in this order, half a million of them
        return ids[::-1] if str(order["ID"]).upper() == "DESC" else ids
    for name, direction in reversed(order.items()):
        ids = sorted(ids, key=_key(table, name), reverse=str(direction).upper() == "DESC")
    return ids


def _key(table: Table, name: str) -> Any:
    if name == "ID":
        return lambda number: number
    return lambda number: str(table.row(number).get(name) or "")


def _row(context: Context, number: int, select: list[str]) -> Row:
    row = context.portal.company.activities.activities.row(number)
    every = not select or "*" in select
    visible = {name: value for name, value in shown(row).items() if name not in NAMED}
    made = {name: value for name, value in visible.items() if every or name in select or name == "ID"}
    if "COMMUNICATIONS" in select:
        made["COMMUNICATIONS"] = row["_COMMUNICATIONS"]
    if ("FILES" in select or "STORAGE_ELEMENT_IDS" in select) and row["_FILES"]:
        made["FILES"] = [_file(context, number, file) for file in row["_FILES"]]
    if "IS_INCOMING_CHANNEL" in select and "ID" in select:
        made["IS_INCOMING_CHANNEL"] = row["IS_INCOMING_CHANNEL"]
    return made


def _file(context: Context, number: int, file: int) -> Row:
    """A webhook has no `auth` to put in, so that the link leads to the login page."""
    place = f"fileId={file}&ownerTypeId={ACTIVITY}&ownerId={number}&auth="
    return {"id": file, "url": f"{context.portal.company.portal_url}/bitrix/tools/crm_show_file.php?{place}"}


METHODS = [
    Method("crm.activity.list", ("crm",), activity_list, upper=True),
    Method("crm.activity.get", ("crm",), activity_get, upper=True),
    Method("crm.activity.binding.list", ("crm",), bindings),
    Method("voximplant.statistic.get", ("telephony",), statistics, upper=True),
]
