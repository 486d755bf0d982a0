"""catalog.*: lists of the product catalogue, and links to its pictures."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import bounded, condition, split
from b24sim.habits import as_read
from b24sim.methods.crm_filters import direction_of
from b24sim.methods.crm_items import required
from b24sim.methods.disk import signature
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, Rows, encode, encode_all
from b24sim.request import Params
from b24sim.result import PAGE, Result
from b24sim.table import Row, Table, shown

DENIED = 200040300010
TIMES = {"timestampX", "dateCreate", "dateActiveFrom", "dateActiveTo"}
ARRAYS = ("select", "filter", "order")


def catalog_list(context: Context, params: Params) -> Result:
    table = Table([], lambda _number: {})
    for row in context.portal.company.catalog.catalogs:
        table.put(row["id"], row)
    return _listed(context, params, table, "catalogs")


def section_list(context: Context, params: Params) -> Result:
    """The information block must be named."""
    if not _filter(params).get("iblockId"):
        raise RestError(0, "Required fields: iblockId")
    return _listed(context, params, context.portal.company.catalog.sections, "sections")


def product_list(context: Context, params: Params) -> Result:
    """All that one information block holds; its id and that of the product must be selected."""
    selected = params.get("select")
    if not isinstance(selected, list) or not {"id", "iblockId"} <= set(selected):
        raise RestError(0, "Required select fields: id, iblockId")
    asked = dict(_filter(params))
    if not asked.get("iblockId"):
        raise RestError(0, "Required filter fields: iblockId")
    table = context.portal.company.catalog.products.get(whole(asked.pop("iblockId")))
    if table is None:
        raise RestError(DENIED, "Access Denied")
    return _listed(context, {**params, "filter": asked}, table, "products")


def image_list(context: Context, params: Params) -> Result:
    _administrator(context)
    catalog, number = context.portal.company.catalog, whole(required(params, "productId"))
    if not catalog.iblock_of(number):
        raise RestError(0, "Product was not found")
    rows = [_image(context, number, file, kind) for file, kind in catalog.pictures(number)]
    return Result(Parts({"productImages": encode_all(rows)}), total=len(rows))


def _image(context: Context, product: int, file: int, kind: str) -> Row:
    """The link holds a token of the webhook."""
    portal, caller = context.portal, context.caller
    token = quote(f"catalog|{file}|{signature(caller.secret, file)}", safe="")
    found = portal.company.catalog.file(file)
    name = found.name if found else ""
    return {
        "id": file, "name": name, "productId": product, "type": kind, "createTime": portal.company.moments.iso(0),
        "downloadUrl": f"{portal.company.portal_url}/rest/{caller.user}/{caller.secret}/download/?token={token}",
        "detailUrl": f"/upload/iblock/{file}/{quote(name)}",
    }  # fmt: skip


def _plain(name: str, key: str) -> Callable[[Context, Params], Result]:
    def listed(context: Context, params: Params) -> Result:
        return _listed(context, params, getattr(context.portal.company.catalog, name), key)

    return listed


def _listed(context: Context, params: Params, table: Table, key: str) -> Result:
    _administrator(context)
    for name in ARRAYS:
        if name in params and not isinstance(params[name], list | dict):
            raise RestError(100, f"Invalid value {{{params[name]}}} to match with parameter {{{name}}}.")
    ids = _ordered(table, _passing(context, table, _filter(params)), params.get("order"))
    wanted = params.get("select") or ["*"]
    columns = None if "*" in wanted else set(wanted)
    start = whole(params.get("start", 0))

    def show(number: int) -> bytes:
        row = table.row(number)
        return encode(shown(row) if columns is None else {name: row[name] for name in row if name in columns})

    if start < 0:
        return Result(Parts({key: Rows(map(show, ids[:PAGE]))}))
    page = page_by_offset(ids, start, show)
    return Result(Parts({key: page.value}), page.total, page.next)


def _passing(context: Context, table: Table, asked: dict[str, Any]) -> Sequence[int]:
    """In ascending order; ids are looked up, other fields compared row by row."""
    moments = context.portal.company.moments
    ids: Sequence[int] = table.ids
    tests = []
    for key, value in as_read(context, asked, context.portal.habits.other_dates, TIMES).items():
        operator, name = split(key)
        if name == "id" and operator in {">", ">=", "<", "<="}:
            ids = bounded(ids, operator, whole(value))
        elif name == "id" and operator in {"", "=", "@"}:
            wanted = {whole(item) for item in (value if isinstance(value, list) else [value])}
            low, high = (ids[0], ids[-1]) if ids else (1, 0)
            ids = sorted(number for number in wanted if number in table and low <= number <= high)
        else:
            tests.append(condition(operator, name, value, moments))
    return [number for number in ids if all(test(table.row(number)) for test in tests)] if tests else ids


def _ordered(table: Table, ids: Sequence[int], order: Any) -> Sequence[int]:
    if not isinstance(order, dict) or not order:
        return table.in_no_order(ids)
    for name, asked in reversed(order.items()):
        descending = direction_of(name, asked) == "DESC"
        if name == "id" and len(order) == 1:
            ids = ids[::-1] if descending else ids
        else:
            ids = sorted(ids, key=lambda number, name=name: _natural(table.row(number).get(name)), reverse=descending)  # type: ignore[misc]
    return ids


def _natural(value: Any) -> tuple[float, str]:
    return (float(value), "") if isinstance(value, int | float) else (0.0, str(value or ""))


def _filter(params: Params) -> dict[str, Any]:
    asked = params.get("filter")
    return asked if isinstance(asked, dict) else {}


def _administrator(context: Context) -> None:
    if not context.caller.admin:
        raise RestError(DENIED, "Access Denied")


METHODS = [
    Method("catalog.catalog.list", ("catalog",), catalog_list),
    Method("catalog.section.list", ("catalog",), section_list),
    Method("catalog.productProperty.list", ("catalog",), _plain("properties", "productProperties")),
    Method("catalog.productPropertyEnum.list", ("catalog",), _plain("enums", "productPropertyEnums")),
    Method("catalog.product.list", ("catalog",), product_list),
    Method("catalog.productImage.list", ("catalog",), image_list),
    Method("catalog.price.list", ("catalog",), _plain("prices", "prices")),
    Method("catalog.priceType.list", ("catalog",), _plain("price_types", "priceTypes")),
    Method("catalog.measure.list", ("catalog",), _plain("measures", "measures")),
    Method("catalog.vat.list", ("catalog",), _plain("vats", "vats")),
]
