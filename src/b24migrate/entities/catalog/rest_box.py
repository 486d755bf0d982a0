"""Queries about the catalog of a box: its information blocks, and the rows of its lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from b24migrate.entities.catalog.reader import BY_ID, OFFER, PHOTOS, PRODUCT, choose_catalogs
from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Json
from b24migrate.ports import Command
from b24migrate.targets.rest.box import Box, in_chunks
from b24migrate.targets.rest.deletion import keys_with_prefix
from b24migrate.targets.rest.writer import Content, Known

KEPT_S = 600.0
RECORDS = say("keep.records")
SERVICE, PARENT = "service", "parent"
METHODS = {
    PRODUCT: "catalog.product",
    SERVICE: "catalog.product.service",
    PARENT: "catalog.product.sku",
    OFFER: "catalog.product.offer",
}
KEYS = {PRODUCT: "element", SERVICE: "service", PARENT: "sku", OFFER: "offer"}


class Catalogs(NamedTuple):
    """The information blocks of the CRM, by what they hold; the property that names the product of an offer, and those
    with the other pictures."""

    iblocks: Mapping[str, int]
    parent: str
    photos: Mapping[str, str]


def catalogs(box: Box) -> Catalogs:
    return box.kept("catalogs", lambda: ask_catalogs(box), KEPT_S)


def ask_catalogs(box: Box) -> Catalogs:
    """Raises Permanent where the box has no catalog: it makes one when a user first opens it."""
    known = choose_catalogs(list(box.pages("catalog.catalog.list", BY_ID, "catalogs")))
    if PRODUCT not in known:
        raise Permanent(say("target.no_catalog"), code="CATALOG_NOT_FOUND", hint=say("target.no_catalog_fix"))
    iblocks = {kind: int(one["iblockId"]) for kind, one in known.items()}
    kinds = {number: kind for kind, number in iblocks.items()}
    asked = {**BY_ID, "filter": {"code": PHOTOS}}
    photos = {
        kinds[row["iblockId"]]: str(row["id"])
        for row in box.pages("catalog.productProperty.list", asked, "productProperties")
        if row.get("iblockId") in kinds and row.get("code") == PHOTOS
    }
    return Catalogs(iblocks, str((known.get(OFFER) or {}).get("skuPropertyId") or ""), photos)


def iblock_of(box: Box, kind: str) -> int:
    """Of products, or of offers. Raises Permanent."""
    found = catalogs(box).iblocks.get(OFFER if kind == OFFER else PRODUCT)
    if found is None:
        raise Permanent(say("target.no_offers"), code="CATALOG_NOT_FOUND", hint=say("target.no_catalog_fix"))
    return found


def rows_by_id(box: Box, method: str, key: str, ids: Iterable[str]) -> dict[str, Args]:
    """As many as a page holds at a time."""
    wanted = sorted({one for one in ids if one.isdecimal()})
    commands = [Command(method, {**BY_ID, "filter": {"@id": some}}) for some in in_chunks(wanted)]
    return {str(row["id"]): row for rows in box.lists(commands, key) for row in rows}


def used_by_others(box: Box, wanted: Mapping[str, Known], field: str) -> Iterator[Content]:
    """Records that products of users name."""
    ours = keys_with_prefix(box, "crm_products")
    keys = {one.target_id: key for key, one in wanted.items()}
    for number in catalogs(box).iblocks.values():
        asked = {"select": ["id", "iblockId", field], "filter": {"iblockId": number, field: sorted(keys)}, **BY_ID}
        for row in box.pages("catalog.product.list", asked, "products"):
            if str(row["id"]) not in ours and str(row.get(field)) in keys:
                yield Content(keys[str(row[field])], RECORDS)


def same_text(one: Json, other: Json) -> bool:
    return str(one or "") == str(other or "")


def unclaimed(box: Box, stream: str, rows: Sequence[Args]) -> list[Args]:
    """Without those that were written for another record."""
    ours = keys_with_prefix(box, stream)
    return [row for row in rows if str(row["id"]) not in ours]


Same: TypeAlias = Callable[[Args, Args], bool]  # whether a row of the box is what the fields say


def first_same(rows: Sequence[Args], wanted: Mapping[str, Args], same: Same) -> dict[str, str]:
    """By key, the ID of the first row that is the same record."""
    pairs = ((key, next((row for row in rows if same(row, fields)), None)) for key, fields in wanted.items())
    return {key: str(row["id"]) for key, row in pairs if row is not None}
