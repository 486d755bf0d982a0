"""The deprecated crm.deal/contact/company.list and get: upper case, strings, and links to files that open nothing."""

from collections.abc import Callable, Iterable
from typing import Any

from b24sim.company.crm import Items
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE
from b24sim.company.crm_schema import NOT_FIELDS, Schema, upper
from b24sim.company.crm_world import FileId
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.habits import INSTANT, as_read
from b24sim.methods.crm_filters import direction_of, first_passing, found, ordered, passing
from b24sim.methods.crm_items import rights
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Rows, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

ENTITIES = {DEAL: "deal", CONTACT: "contact", COMPANY: "company", LEAD: "lead", QUOTE: "quote"}
OLD_NAMES = {
    "createdTime": "DATE_CREATE", "updatedTime": "DATE_MODIFY", "createdBy": "CREATED_BY_ID",
    "updatedBy": "MODIFY_BY_ID", "movedBy": "MOVED_BY_ID", "emailWork": "", "phoneWork": "", "fm": "",
    "contactIds": "", "companyIds": "", "observers": "", "entityTypeId": "", "previousStageId": "",
}  # fmt: skip
TIMES = {"DATE_CREATE", "DATE_MODIFY", "MOVED_TIME", "LAST_ACTIVITY_TIME"}
CHANNELS = ("PHONE", "EMAIL", "WEB", "IM", "LINK")


def _list(entity_type_id: int) -> Callable[[Context, Params], Result]:
    def listed(context: Context, params: Params) -> Result:
        items = context.portal.company.crm.items.get(entity_type_id)
        if items is None:
            return Result(Rows(), total=0)
        known = _fields(items.schema)
        conditions = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
        # Names that are not known are passed over.
        asked = {key: value for key, value in conditions.items() if key.lstrip("!<>=@%") in known}
        asked = as_read(context, asked, INSTANT, TIMES)
        ids, tests = found(items, asked, context.portal.company.moments, lambda name: known[name])
        tests += rights(context, items)
        if entity_type_id == DEAL and not any(key.lstrip("!<>=@%") == "IS_RECURRING" for key in asked):
            tests.append(
                lambda row: row.get("isRecurring") != "Y"
            )  # `crm.item.list` shows templates, this one hides them
        order = _order(params.get("ORDER"), known)
        select = params["SELECT"] if isinstance(params.get("SELECT"), list) and params["SELECT"] else ["*"]
        wanted = _wanted([str(name) for name in select], known)
        start = whole(params.get("START", 0))

        def show(number: int) -> bytes:
            return encode(_row(items, items.row(number), wanted, known))

        if start < 0:
            return Result(Rows(map(show, first_passing(items, ordered(items, ids, order), tests))), total=0)
        return page_by_offset(ordered(items, passing(items, ids, tests), order), start, show)

    return listed


def _get(entity_type_id: int) -> Callable[[Context, Params], Result]:
    def one(context: Context, params: Params) -> Result:
        items = context.portal.company.crm.items.get(entity_type_id)
        number = whole(params.get("ID"))
        if number <= 0:
            raise RestError("", "ID is not defined or invalid.")
        if items is None or number not in items:
            raise RestError("", "Not found")
        row = items.row(number)
        if not all(test(row) for test in rights(context, items)):
            raise RestError("", "Access denied.")
        known = _fields(items.schema)
        channels = {channel["typeId"] for channel in row.get("fm") or ()}
        shape = _row(items, row, [*known, *(name for name in CHANNELS if name in channels)], known)
        return Result(encode(dict.fromkeys(_unused(entity_type_id)) | shape))

    return one


def _unused(entity_type_id: int) -> list[str]:
    """Addresses live in requisites now; their old fields are shown empty (crm-contact-get.md, crm-company-get.md)."""
    if entity_type_id == DEAL:
        return []
    names = [f"ADDRESS{part}" for part in ("", "_2", "_CITY", "_POSTAL_CODE", "_REGION", "_PROVINCE", "_COUNTRY")]
    if entity_type_id == CONTACT:
        return [*names, "ADDRESS_LOC_ADDR_ID"]
    names += ["ADDRESS_COUNTRY_CODE", "ADDRESS_LOC_ADDR_ID"]
    return [*names, *(f"REG_{name}" for name in names), "LAST_COMMUNICATION_TIME"]


def contact_companies(context: Context, params: Params) -> Result:
    """With the primary one marked. Refusals come with HTTP 200."""
    items = context.portal.company.crm.items[CONTACT]
    number = whole(params.get("ID"))
    if number not in items:
        raise RestError("", "Not found", 200)
    row = items.row(number)
    bindings = _bindings("COMPANY_ID", row["companyIds"], row["companyId"])
    return Result(encode_all(context.portal.in_no_order(bindings)))


def _contacts_of(entity_type_id: int) -> Callable[[Context, Params], Result]:
    def contacts(context: Context, params: Params) -> Result:
        items = context.portal.company.crm.items.get(entity_type_id)
        number = whole(params.get("ID"))
        if items is None or number not in items:
            raise RestError("", "Not found", 200)
        row = items.row(number)
        bindings = _bindings("CONTACT_ID", row["contactIds"], row["contactId"])
        return Result(encode_all(context.portal.in_no_order(bindings)))

    return contacts


def _bindings(name: str, numbers: Iterable[int], primary: int) -> list[Row]:
    return [
        {name: number, "SORT": 10 * place, "ROLE_ID": 0, "IS_PRIMARY": "Y" if number == primary else "N"}
        for place, number in enumerate(numbers, 1)
    ]


def _fields(schema: Schema) -> dict[str, str]:
    """Old names of the fields that these methods have at all, and their own names."""
    names = (name for name in schema.names if name not in NOT_FIELDS)
    known = {old: name for name in names if (old := OLD_NAMES.get(name, upper(name)))}
    if schema.entity_type_id == COMPANY:
        known["COMPANY_TYPE"] = known.pop("TYPE_ID")
    if schema.entity_type_id in {LEAD, QUOTE}:
        known["STATUS_ID"] = known.pop("STAGE_ID")
    if "STAGE_SEMANTIC_ID" in known and schema.entity_type_id == LEAD:
        known["STATUS_SEMANTIC_ID"] = known.pop("STAGE_SEMANTIC_ID")
    return known


def _wanted(select: list[str], known: dict[str, str]) -> list[str]:
    """`*` is every field of the system, `UF_*` every custom one; telephones and such must be named."""
    wanted = ["ID"]
    for name in select:
        if name == "*":
            wanted += [old for old in known if not old.startswith("UF_CRM")]
        elif name == "UF_*":
            wanted += [old for old in known if old.startswith("UF_CRM")]
        elif name in known or name in CHANNELS:
            wanted.append(name)
    return list(dict.fromkeys(wanted))


def _row(items: Items, row: Row, wanted: Iterable[str], known: dict[str, str]) -> Row:
    shape: Row = {}
    flags = items.schema.flags
    for old in wanted:
        if old in known:
            name = known[old]
            value = _text(row.get(name), items, row["id"], old)
            shape[old] = {"Y": "1", "N": "0"}.get(str(value), value) if name in flags else value
        else:
            channels = [channel for channel in row.get("fm") or () if channel["typeId"] == old]
            if channels:
                shape[old] = [_channel(channel) for channel in channels]
    return shape


def _channel(channel: Row) -> Row:
    return {"ID": str(channel["id"]), "VALUE_TYPE": channel["valueType"], "VALUE": channel["value"],
            "TYPE_ID": channel["typeId"]}  # fmt: skip


def _text(value: Any, items: Items, owner: int, name: str) -> Any:
    if isinstance(value, FileId):
        return _dead_links(ENTITIES[items.entity_type_id], owner, name, value)
    if isinstance(value, list):
        return [_text(item, items, owner, name) for item in value]
    if isinstance(value, float):
        return f"{value:.2f}" if not name.startswith("UF_") else str(value)
    return str(value) if isinstance(value, int) else value


def _dead_links(entity: str, owner: int, name: str, file: FileId) -> Row:
    """A webhook has no `auth` to put in, so that the link leads to the login page."""
    page = f"/bitrix/components/bitrix/crm.{entity}.show/show_file.php"
    place = f"ownerId={owner}&fieldName={name}&dynamic=Y&fileId={file}"
    return {"id": int(file), "showUrl": f"{page}?{place}", "downloadUrl": f"{page}?auth=&{place}"}


def _order(asked: Any, known: dict[str, str]) -> dict[str, str]:
    entries = asked.items() if isinstance(asked, dict) else ()
    return {known[name]: direction_of(name, way) for name, way in entries if name in known}


METHODS = [
    *(Method(f"crm.{name}.list", ("crm",), _list(number), upper=True) for number, name in ENTITIES.items()),
    *(
        Method(f"crm.{name}.get", ("crm",), _get(number), upper=True)
        for number, name in ENTITIES.items()
        if number not in {LEAD, QUOTE}
    ),
    Method("crm.contact.company.items.get", ("crm",), contact_companies, upper=True),
    Method("crm.deal.contact.items.get", ("crm",), _contacts_of(DEAL), upper=True),
    Method("crm.lead.contact.items.get", ("crm",), _contacts_of(LEAD), upper=True),
    Method("crm.quote.contact.items.get", ("crm",), _contacts_of(QUOTE), upper=True),
]
