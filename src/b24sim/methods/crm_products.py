"""crm.item.productrow.list and crm.deal.productrows.get: the rows of one owner at a time."""

from collections.abc import Callable
from typing import Any

from b24sim.company.crm_ids import DEAL, LEAD, QUOTE, letters
from b24sim.company.crm_schema import upper
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, split
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, by_chance

FILTERABLE = {"id", "productId"}


def product_rows(context: Context, params: Params) -> Result:
    asked = params["filter"] if isinstance(params.get("filter"), dict) else {}
    rows = [row for owner in _owners(context, asked) for row in _of_owner(context, str(asked["=ownerType"]), owner)]
    for key, value in asked.items():
        operator, name = split(key)
        # Other fields, and lists for anything but @id, are passed over in silence.
        if name in FILTERABLE and (not isinstance(value, list) or key == "@id"):
            test = condition(operator, name, value, context.portal.company.moments)
            rows = [row for row in rows if test(row)]
    rows = _ordered(sorted(rows, key=lambda row: by_chance(row["id"])), params.get("order"))
    start = whole(params.get("start", 0))
    page = page_by_offset(range(len(rows)), start, lambda place: encode(rows[place]))
    return Result(Parts({"productRows": page.value}), None if start < 0 else page.total, page.next)


def _owners(context: Context, asked: dict[str, Any]) -> list[int]:
    """One owner. A list of them counts as none, unless the portal is one of those that take it."""
    for name in ("=ownerType", "=ownerId"):
        value = asked.get(name)
        if not value or (isinstance(value, list) and not (name == "=ownerId" and context.portal.many_owners)):
            raise RestError("REQUIRED_ARG_MISSING", f"Required argument missing: {name}")
    owners = asked["=ownerId"]
    return [whole(owner) for owner in (owners if isinstance(owners, list) else [owners])]


def _of_owner(context: Context, kind: str, owner: int) -> list[Row]:
    crm = context.portal.company.crm
    number = next((number for number in crm.items if letters(number) == kind), 0)
    return crm.product_rows(number, owner)


def _ordered(rows: list[Row], asked: Any) -> list[Row]:
    order = {name: way for name, way in asked.items() if name in {"id", "sort"}} if isinstance(asked, dict) else {}
    for name, way in reversed(order.items()):
        rows = sorted(rows, key=_key(name), reverse=str(way).lower() == "desc")
    return rows


def _key(name: str) -> Callable[[Row], int]:
    return lambda row: int(row[name])


def _rows_of(entity_type_id: int) -> Callable[[Context, Params], Result]:
    def rows_of(context: Context, params: Params) -> Result:
        """The older method, under older names."""
        rows = context.portal.company.crm.product_rows(entity_type_id, whole(params.get("ID")))
        return Result(encode_all(_older(row) for row in context.portal.in_no_order(rows)))

    return rows_of


def _older(row: Row) -> Row:
    """Ids are strings here, and so is one of the prices."""
    shape = {upper(name): value for name, value in row.items() if name != "taxName"}
    return shape | {
        "ID": str(row["id"]), "OWNER_ID": str(row["ownerId"]), "PRICE_ACCOUNT": str(row["priceAccount"]),
        "ORIGINAL_PRODUCT_NAME": row["productName"], "PRODUCT_DESCRIPTION": None, "STORE_ID": 0, "RESERVE_ID": 0,
        "DATE_RESERVE_END": "", "RESERVE_QUANTITY": 0,
    }  # fmt: skip


METHODS = [
    Method("crm.item.productrow.list", ("crm",), product_rows),
    Method("crm.deal.productrows.get", ("crm",), _rows_of(DEAL), upper=True),
    Method("crm.lead.productrows.get", ("crm",), _rows_of(LEAD), upper=True),
    Method("crm.quote.productrows.get", ("crm",), _rows_of(QUOTE), upper=True),
]
