"""How CRM records are read: `crm.item.list`, and the deprecated listings where a portal lacks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from b24migrate.entities.codes import DEAL, LEAD, QUOTE, SMART_INVOICE
from b24migrate.entities.crm.products import SOME, older_products, products, rows_at_once
from b24migrate.entities.readers import IDS_AT_ONCE, fetch_one_by_one, is_not_found, mark_unread
from b24migrate.messages import say
from b24migrate.model.answers import id_in, id_of, open_list, unexpected_answer
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT
from b24migrate.model.readings import Changes, Enrichment, Keyset, Listing
from b24migrate.model.records import Args, Json, Row
from b24migrate.model.source_records import Fetch, FileRef, FindRefused, Known, SourceRecord
from b24migrate.model.streams import FileKind
from b24migrate.model.values import flag, is_number, number, objects, reference, text, whole
from b24migrate.ports import Command, Source

FILE_KIND = "crm"
MODERN = "crm.item.list"
MULTIFIELDS = ("PHONE", "EMAIL", "WEB", "IM", "LINK")
# The owner's type in product rows.
OWNERS_OF_ROWS = {LEAD: "L", DEAL: "D", QUOTE: "Q", SMART_INVOICE: "SI"}
# the types of values that may contain a file: few of a record's 70 values, and half a million are checked
HOLDING = (dict, list)


def by_id(name: str, filter_name: str) -> Keyset:
    return Keyset(filter_name, name, {"order": {name: "ASC"}}, {"order": {name: "DESC"}})


# An update of any kind moves the time, a deletion does not. `crm.item.list` reads a time in a filter as local time of
# the webhook's owner, the deprecated lists as an instant.
MODERN_CHANGES = Changes(
    "updatedTime", {"order": {"updatedTime": "DESC"}}, {"select": ["id", "updatedTime"]}, shifted=True
)
LEGACY_CHANGES = Changes("DATE_MODIFY", {"order": {"DATE_MODIFY": "DESC"}}, {"select": ["ID", "DATE_MODIFY"]})


def items(kind: int) -> Mapping[str, Json]:
    """The parameters and further questions of `crm.item.list`. Multifields come only with `*`."""
    rows_of = OWNERS_OF_ROWS.get(kind)
    enrich = Enrichment(products(rows_of), "crm", at_once=rows_at_once) if rows_of else None
    params = {"entityTypeId": kind, "select": ["*"], "useOriginalUfNames": "Y"}
    return {"params": params, "enrich": enrich, "changes": MODERN_CHANGES}


def type_number(kind: SourceRecord) -> int:
    """Of a smart process. Raises the error of an answer that makes no sense."""
    found = str(kind.payload.get("entityTypeId"))
    if not is_number(found):
        raise unexpected_answer("crm.type.list", ("types", "entityTypeId"))
    return int(found)


def smart_items(kind: SourceRecord) -> Listing:
    """Of one smart process; product rows only where it has any."""
    entity_type = type_number(kind)
    params = {"entityTypeId": entity_type, "select": ["*"], "useOriginalUfNames": "Y"}
    sells = flag(kind.payload.get("isLinkWithProductsEnabled"))
    return Listing(
        MODERN,
        by_id("id", "filter"),
        params=params,
        items=("items",),
        id="id",
        enrich=Enrichment(products(f"T{entity_type:x}"), "crm", at_once=rows_at_once) if sells else None,
        changes=MODERN_CHANGES,
    )


# ---------------------------------------------------------------- what is said about a record


def multifields(seen: SourceRecord) -> Json:
    """Phones, addresses and the like; their own ids mean nothing to another portal."""
    listed = seen.payload.get("fm", ABSENT)
    if listed is ABSENT:
        return ABSENT
    return [
        {"typeId": text(one.get("typeId")), "valueType": text(one.get("valueType")), "value": text(one.get("value"))}
        for one in objects(listed)
    ]


def emails(seen: SourceRecord) -> list[str]:
    listed = multifields(seen)
    return [one["value"] or "" for one in (() if listed is ABSENT else listed) if one["typeId"] == "EMAIL"]


def product_rows(seen: SourceRecord) -> Json:
    rows = seen.extras.get("productRows", ABSENT)
    return rows if rows is ABSENT else [product_row(row) for row in rows]


def product_row(row: Mapping[str, Json]) -> Args:
    return {
        "productId": reference(row.get("productId")),
        "productName": text(row.get("productName")),
        "price": number(row.get("price")),
        "quantity": number(row.get("quantity")),
        "discountTypeId": whole(row.get("discountTypeId")),
        "discountRate": number(row.get("discountRate")),
        "discountSum": number(row.get("discountSum")),
        "taxRate": number(row.get("taxRate")),
        "taxIncluded": flag(row.get("taxIncluded")),
        "measureCode": text(row.get("measureCode")),
        "sort": whole(row.get("sort")),
    }


def files_of(seen: SourceRecord, kind: int = 0) -> Iterator[FileRef]:
    """A picture or a custom field's file is an object with an ID; its link is requested when it is fetched. The ID of a
    smart process item contains its type."""
    holding = [value for value in seen.payload.values() if isinstance(value, HOLDING)]
    for value in holding:
        for one in value if isinstance(value, list) else (value,):
            if is_file(one):
                yield FileRef(FILE_KIND, str(one["id"]), place=f"{kind or seen.parent}:{seen.child}", url="")


def is_file(value: Json) -> bool:
    return isinstance(value, dict) and bool(value.get("id")) and ("urlMachine" in value or "downloadUrl" in value)


def drop_tokens(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Links to files hold a token that is another one each time."""
    return {**payload, **{name: drop_links(value) for name, value in payload.items() if isinstance(value, HOLDING)}}


def drop_links(value: Json) -> Json:
    if isinstance(value, list):
        return [drop_links(one) for one in value]
    return value["id"] if is_file(value) else value


# ---------------------------------------------------------------- files


def links(source: Source, refs: Sequence[FileRef]) -> dict[str, str]:
    """The record is read again for the link, because the token in it expires."""
    owners = sorted({ref.place for ref in refs})
    commands = [
        Command("crm.item.get", {"entityTypeId": kind, "id": item, "useOriginalUfNames": "Y"})
        for kind, _, item in (owner.partition(":") for owner in owners)
    ]
    found: dict[str, str] = {}
    for answer in source.batch(commands):
        answer.raise_if_unheard()
        said = msgspec.json.decode(answer.result) if answer.result else None
        item = said.get("item") if isinstance(said, dict) else None
        for value in item.values() if isinstance(item, dict) else ():
            for one in value if isinstance(value, list) else (value,):
                if is_file(one) and one.get("urlMachine"):
                    found[f"{FILE_KIND}:{one['id']}"] = str(one["urlMachine"])
    return {ref.key: found[ref.key] for ref in refs if ref.key in found}


def as_json(url: str) -> str:
    """On some portals the method's name has a suffix."""
    return url.replace("getFile/?", "getFile.json?")


CRM_FILES = FileKind(FILE_KIND, links, as_json)


# ---------------------------------------------------------------- the deprecated listings


def legacy(method: str, multifield: Iterable[str] = (), enrich: Enrichment | None = None) -> Listing:
    params = {"order": {"ID": "ASC"}, "select": ["*", "UF_*", *multifield]}
    return Listing(method, by_id("ID", "filter"), params=params, without=MODERN, enrich=enrich, changes=LEGACY_CHANGES)


def legacy_contacts() -> Listing:
    enrich = read_bindings("crm.contact.company.items.get", "COMPANY_ID", "companyIds", say("part.companies"))
    return legacy("crm.contact.list", MULTIFIELDS, enrich=Enrichment(enrich, "crm", at_once=lambda _: SOME))


def legacy_sold(methods: str, rows_of: str, multifield: Iterable[str] = ()) -> Listing:
    """For records with contacts and product rows: `methods` is `crm.deal`."""
    contacts = read_bindings(f"{methods}.contact.items.get", "CONTACT_ID", "contactIds", say("part.contacts"))
    products_of = older_products(rows_of, f"{methods}.productrows.get")

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        return products_of(source, contacts(source, rows))

    return legacy(f"{methods}.list", multifield, enrich=Enrichment(enrich, "crm", at_once=lambda _: SOME))


def read_bindings(method: str, field: str, name: str, label: str) -> Callable[[Source, Sequence[Row]], list[Row]]:
    """All the bindings of each record; the listing has the first one only."""

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        answers = source.batch([Command(method, {"id": row.source_id}) for row in rows])
        done = []
        for row, answer in zip(rows, answers, strict=True):
            if isinstance(answer.error, Permanent):
                done.append(mark_unread(row, label, answer.error))
                continue
            bindings = [id_in(raw, field, method) for raw in open_list(answer.require(), (), method).items]
            done.append(row._replace(extras={**(row.extras or {}), name: bindings}))
        return done

    return enrich


LEGACY_NAMES = {
    "DATE_CREATE": "createdTime",
    "DATE_MODIFY": "updatedTime",
    "CREATED_BY_ID": "createdBy",
    "MODIFY_BY_ID": "updatedBy",
    "MOVED_BY_ID": "movedBy",
    "COMPANY_TYPE": "typeId",
    "STATUS_ID": "stageId",
    "STATUS_SEMANTIC_ID": "stageSemanticId",
}


def modern_names(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """A record of a deprecated listing under the names of `crm.item.list`."""
    if "ID" not in payload:
        return payload
    named = {modern_name(name): value for name, value in payload.items() if name not in MULTIFIELDS}
    kinds = [one for kind in MULTIFIELDS for one in payload.get(kind) or ()]
    fm = [{"typeId": one["TYPE_ID"], "valueType": one["VALUE_TYPE"], "value": one["VALUE"]} for one in kinds]
    return {**named, "fm": fm} if any(kind in payload for kind in MULTIFIELDS) else named


def modern_name(name: str) -> str:
    if name.startswith("UF_"):
        return name
    first, *others = name.lower().split("_")
    return LEGACY_NAMES.get(name) or first + "".join(part.capitalize() for part in others)


# ---------------------------------------------------------------- reading again, by id


def refetch_items(kind: int) -> Fetch:
    def fetch(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
        return refetch(source, kind, [one.id for one in wanted], "")

    return fetch


def find_refused(kind: int = 0) -> FindRefused:
    """A list omits items that its reader may not see. For a single item the portal distinguishes a refusal
    (ACCESS_DENIED) from a missing item (NOT_FOUND) (api-reference/crm/universal/crm-item-get.md). Items that it shows
    are requested at the end: if it refuses them too, it refuses the method. The ID of a smart process item contains its
    type."""

    def refused(source: Source, wanted: Sequence[SourceRecord], shown: Sequence[SourceRecord]) -> set[str]:
        asked = [{"entityTypeId": kind or int(one.parent), "id": int(one.child)} for one in (*wanted, *shown)]
        answers = source.batch([Command("crm.item.get", params) for params in asked])
        for answer in answers:
            answer.raise_if_unheard()
        if all(answer.error for answer in answers[len(wanted) :]):
            return set()
        return {one.id for one, answer in zip(wanted, answers, strict=False) if not is_not_found(answer.error)}

    return refused


def refetch_legacy(listing: Listing) -> Fetch:
    return fetch_one_by_one(listing.method, lambda source_id: {**listing.params, "filter": {"ID": source_id}})


def refetch_smart_items(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for kind in sorted({one.parent for one in wanted}):
        mine = [one.child for one in wanted if one.parent == kind]
        found |= refetch(source, int(kind), mine, f"{kind}:")
    return found


def refetch(source: Source, kind: int, ids: Sequence[str], prefix: str) -> dict[str, Row]:
    groups = [ids[at : at + IDS_AT_ONCE] for at in range(0, len(ids), IDS_AT_ONCE)]
    commands = [
        Command(
            MODERN,
            {
                "entityTypeId": kind,
                "select": ["*"],
                "useOriginalUfNames": "Y",
                "filter": {"@id": list(group)},
                "order": {"id": "ASC"},
                "start": -1,
            },
        )
        for group in groups
    ]
    found: dict[str, Row] = {}
    for answer in source.batch(commands):
        for raw in open_list(answer.require(), ("items",), MODERN).items:
            source_id = f"{prefix}{id_of(raw, 'id', MODERN)}"
            found[source_id] = Row(source_id, bytes(raw))
    return {f"{prefix}{one}": found[f"{prefix}{one}"] for one in ids if f"{prefix}{one}" in found}
