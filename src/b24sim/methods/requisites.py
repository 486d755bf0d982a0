"""crm.requisite.*, crm.address.list: lists in upper case, of strings. For a page of most of them the portal reads the
whole rest of the table (kernel 25.100), which costs execution time."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from b24sim.company.crm_fields import legacy_row
from b24sim.company.requisites import Requisites
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import matching, split
from b24sim.habits import INSTANT, as_read
from b24sim.methods.crm_structure import chosen, in_order
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Rows, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import HIDDEN, Row, Table, shown

TIMES = {"DATE_CREATE", "DATE_MODIFY"}
Pick = Callable[[Requisites], Table]


def lister(pick: Pick, *, whole_table: bool = True) -> Callable[[Context, Params], Result]:
    """`whole_table`: a page is cut out of all rows that are left. The others stop behind the page, unless there is none
    to count: then they show everything."""

    def listed(context: Context, params: Params) -> Result:
        company = context.portal.company
        table = pick(company.requisites)
        first = table.row(table.ids[0]) if table.ids else {}
        names, filtered = shown(first), {name.removeprefix(HIDDEN) for name in first}
        asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
        known = {key: value for key, value in asked.items() if split(key)[1] in filtered}
        ids = matching(table, table.ids, as_read(context, known, INSTANT, TIMES), company.moments)
        ids = ordered(table, ids, params.get("ORDER"))
        start = whole(params.get("START", 0))
        wanted = selected(params.get("SELECT"), names)

        def show(number: int) -> bytes:
            row = shown(table.row(number))
            return encode({name: row.get(name) for name in wanted})

        if start < 0 and not whole_table:
            return Result(Rows(map(show, ids)), total=0)
        page = page_by_offset(ids, start, show)
        page.read = max(0, len(ids) - max(0, start)) if whole_table else 0
        return page

    return listed


def selected(asked: Any, names: Iterable[str]) -> list[str]:
    """All of them where none is named."""
    known = list(names)
    wanted = [str(name) for name in asked] if isinstance(asked, list) else []
    return [name for name in known if name in wanted] if wanted and "*" not in wanted else known


def ordered(table: Table, ids: Sequence[int], asked: Any) -> Sequence[int]:
    order = asked if isinstance(asked, dict) else {}
    if not order:
        return table.in_no_order(ids)
    if list(order) == ["ID"]:
        return ids[::-1] if str(order["ID"]).upper() == "DESC" else ids

    def sort() -> Sequence[int]:
        return [row["_number"] for row in in_order([table.row(one) | {"_number": one} for one in ids], order)]

    return table.in_order(str(order), sort) if len(ids) == len(table) else sort()


def preset_fields(context: Context, params: Params) -> Result:
    asked = params["PRESET"] if isinstance(params.get("PRESET"), dict) else {}
    number = whole({str(key).upper(): value for key, value in asked.items()}.get("ID"))
    requisites = context.portal.company.requisites
    if number not in requisites.presets:
        raise RestError("", f"The Preset with ID '{number}' is not found")
    rows: list[Row] = requisites.preset_fields.get(number, [])
    return Result(encode_all(rows), total=len(rows))


def user_fields(context: Context, params: Params) -> Result:
    if not context.caller.admin:
        raise RestError("", "Access denied.")
    asked = dict(params["FILTER"]) if isinstance(params.get("FILTER"), dict) else {}
    language = str(asked.pop("LANG", "") or "")
    fields = context.portal.company.requisites.fields
    rows = chosen(context, [legacy_row(field, language) for field in fields], asked)
    rows = in_order(context.portal.in_no_order(rows), params.get("ORDER"))
    return Result(encode_all(rows), total=len(rows))


METHODS = [
    Method("crm.requisite.preset.list", ("crm",), lister(lambda all_: all_.presets), upper=True),
    Method("crm.requisite.preset.field.list", ("crm",), preset_fields, upper=True),
    Method("crm.requisite.list", ("crm",), lister(lambda all_: all_.requisites), upper=True),
    Method("crm.requisite.bankdetail.list", ("crm",), lister(Requisites.listed_accounts), upper=True),
    Method("crm.address.list", ("crm",), lister(lambda all_: all_.addresses, whole_table=False), upper=True),
    Method("crm.requisite.link.list", ("crm",), lister(lambda all_: all_.links), upper=True),
    Method("crm.requisite.userfield.list", ("crm",), user_fields, upper=True),
]
