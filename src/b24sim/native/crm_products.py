"""crm.item.productrow.set: the rows that are sent take the place of those that were there."""

from typing import Any

from b24sim.company.crm_ids import COMPANY, CONTACT, letters
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.native.crm_box import BoxItems
from b24sim.native.writing import access_denied, flag, iso_now, listed
from b24sim.paging import whole
from b24sim.phpjson import Parts, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

PIECES = 796
MEASURES = {6: "м", 112: "л", 163: "г", 166: "кг", PIECES: "шт"}


def productrow_set(context: Context, params: Params) -> Result:
    """The owner's sum follows, unless it was given by hand, and the owner counts as changed."""
    kind, owner = str(required(params, "ownerType")), whole(required(params, "ownerId"))
    rows = listed(required(params, "productRows"))
    if not context.caller.admin:
        raise access_denied()
    items = _owners(context, kind)
    if owner not in items:
        raise RestError("OWNER_NOT_FOUND", "Владелец не найден")
    made = [_row(context, kind, owner, row) for row in rows if isinstance(row, dict)]
    record = items.row(owner) | {
        "_productRows": made,
        "updatedTime": iso_now(context),
        "updatedBy": context.caller.user,
    }
    if record.get("isManualOpportunity") != "Y":
        record["opportunity"] = _plain(round(sum(row["price"] * row["quantity"] for row in made), 2))
    items.put(owner, record)
    context.portal.native.updated("items", owner)
    return Result(Parts({"productRows": encode_all(made)}))


def _owners(context: Context, kind: str) -> BoxItems:
    crm = context.portal.company.crm
    number = next((number for number in crm.items if letters(number) == kind), 0)
    items, smart = crm.items.get(number), crm.smart(number)
    switched_off = smart is not None and crm.types.row(smart.id)["isLinkWithProductsEnabled"] != "Y"
    if not isinstance(items, BoxItems) or number in {CONTACT, COMPANY} or switched_off:
        raise RestError("ENTITY_TYPE_NOT_SUPPORTED", f"Тип {kind} не поддерживает товарные позиции")
    return items


def _row(context: Context, kind: str, owner: int, sent: Row) -> Row:
    product = whole(sent.get("productId"))
    if product and not context.portal.company.catalog.iblock_of(product):
        raise RestError("INVALID_ARG_VALUE", f"Товар {sent['productId']} не найден")
    price, rate, included = _number(sent.get("price")), sent.get("taxRate"), flag(sent.get("taxIncluded"))
    tax = _number(rate) / 100 if rate is not None else 0
    exclusive = price / (1 + tax)
    measure = whole(sent.get("measureCode", PIECES))
    discount = _number(sent.get("discountSum"))
    netto = exclusive + discount
    return {
        "id": context.portal.native.number("product_rows"), "ownerId": owner, "ownerType": kind, "productId": product,
        "productName": str(sent.get("productName") or ""), "price": _plain(price), "priceAccount": _plain(price),
        "priceExclusive": _plain(round(exclusive, 8)), "priceNetto": _plain(round(netto, 8)),
        "priceBrutto": _plain(round(netto * (1 + tax), 8)), "quantity": _plain(_number(sent.get("quantity", 1))),
        "discountTypeId": whole(sent.get("discountTypeId", 2)),
        "discountRate": _plain(_number(sent.get("discountRate"))), "discountSum": _plain(discount),
        "taxRate": None if rate is None else _plain(_number(rate)),
        "taxIncluded": included, "taxName": "" if rate else "Без НДС", "customized": "Y",
        "measureCode": measure, "measureName": MEASURES.get(measure, "шт"),
        "sort": whole(sent.get("sort", 10)), "xmlId": "", "type": 4,
    }  # fmt: skip


def _number(value: Any) -> float:
    return float(value) if value not in (None, "") else 0.0


def _plain(number: float) -> float | int:
    return int(number) if number == int(number) else number


METHODS = [Method("crm.item.productrow.set", ("crm",), productrow_set)]
