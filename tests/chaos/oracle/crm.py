"""Companies, contacts, deals and items of smart processes."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, day, utc, yes
from tests.chaos.oracle.source import CRM, DEAL, INVOICE, Fields, Json, Source
from tests.chaos.oracle.texts import rewritten

UTM = ("utmSource", "utmMedium", "utmCampaign", "utmContent", "utmTerm")
OF_A_LEAD = ("name", "lastName", "secondName", "post", "companyTitle", "statusDescription")
OF_A_QUOTE = (
    *("quoteNumber", "content", "terms", "commentsType", "contentType", "termsType"),
    *("clientTitle", "clientAddr", "clientContact", "clientEmail", "clientPhone", "clientTpId", "clientTpaId"),
)


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    made = {
        stream: {number: {**_any(row, ids), **ids.custom(stream, row)} for number, row in source[stream].items()}
        for stream in CRM
    }
    for number, row in source["crm_contacts"].items():
        own = made["crm_contacts"][number]
        own |= {name: row[name] for name in ("name", "lastName", "secondName")}
        own["companyIds"] = ids.records("crm_companies", row["companyIds"])
    for stream in ("crm_companies", "crm_contacts"):
        for key, row in source[stream].items():
            category = row["categoryId"]  # 0 is the one that every portal has
            made[stream][key]["categoryId"] = ids.category(CRM[stream], category) if category else None
    for number, row in source["crm_deals"].items():
        own = {"closed": yes(row["closed"]), "isReturnCustomer": yes(row["isReturnCustomer"])}
        own |= {"isRecurring": True} if yes(row["isRecurring"]) else {}  # it comes with its schedule
        made["crm_deals"][number] |= {**_sold(row, DEAL, ids), **own}
    for stream in ("crm_companies", "crm_contacts", "crm_deals", "crm_quotes"):
        for key, row in source[stream].items():
            made[stream][key]["leadId"] = ids.record("crm_leads", row["leadId"]) if row.get("leadId") else None
    for key, row in source["crm_deals"].items():
        made["crm_deals"][key]["quoteId"] = ids.record("crm_quotes", row["quoteId"]) if row.get("quoteId") else None
    for key, row in source["crm_leads"].items():
        made["crm_leads"][key] |= {**_valued(row, ids), "stageId": ids.stage("STATUS", row["stageId"])}
        own = {name: row[name] for name in OF_A_LEAD}
        own["honorific"] = ids.stage("HONORIFIC", row["honorific"] or "") or row["honorific"]
        own |= {"dateClosed": utc(row["dateClosed"]), "birthdate": day(row["birthdate"])}
        made["crm_leads"][key] |= {**own, "isReturnCustomer": yes(row["isReturnCustomer"])}
    for key, row in source["crm_quotes"].items():
        own = {name: row[name] for name in OF_A_QUOTE}
        own |= {name: rewritten(ids, row[name]) for name in ("content", "terms")}
        own |= {"closed": yes(row["closed"]), "mycompanyId": _own_company(row, ids)}
        own["dealId"] = ids.record("crm_deals", row["dealId"]) if row["dealId"] else None
        own |= {name: day(row[name]) for name in ("begindate", "closedate", "actualDate")}
        own["storageElementIds"] = ids.files(f"disk:{one}" for one in row["storageElementIds"])
        made["crm_quotes"][key] |= {**_valued(row, ids), **own, "stageId": ids.stage("QUOTE_STATUS", row["stageId"])}
    for key, row in source["crm_invoices"].items():
        own = {"accountNumber": row["accountNumber"], "mycompanyId": _own_company(row, ids)}
        made["crm_invoices"][key] |= {**_sold(row, INVOICE, ids), **own}
    made["crm_spitems"] = {number: _item(number, row, ids) for number, row in source["crm_spitems"].items()}
    return made


def _own_company(row: Fields, ids: Ids) -> str | None:
    return ids.record("crm_companies", row["mycompanyId"]) if row["mycompanyId"] else None


def _item(number: str, row: Fields, ids: Ids) -> Fields:
    kind = int(number.partition(":")[0])
    custom = ids.custom(f"crm_spitems:{kind}", row)
    return {**_any(row, ids), **_sold(row, kind, ids), **custom, "entityTypeId": ids.type(kind)}


def _any(row: Fields, ids: Ids) -> Fields:
    same = ("title", "currencyId", *UTM, "originatorId", "originId", "xmlId")
    made: Fields = {name: row[name] for name in same if name in row}
    if "sourceDescription" in row:
        made["sourceDescription"] = rewritten(ids, row["sourceDescription"])
    made |= {name: ids.author(row[name]) for name in ("assignedById", "createdBy")}
    made |= {name: ids.user(row.get(name)) for name in ("updatedBy", "movedBy")}
    made |= {name: utc(row.get(name)) for name in ("createdTime", "updatedTime", "movedTime")}
    made |= {"opened": yes(row["opened"]), "observers": ids.users(row.get("observers") or [])}
    if "comments" in row:
        made["comments"] = rewritten(ids, row["comments"])
    made["sourceId"] = ids.stage("SOURCE", row["sourceId"]) if row.get("sourceId") else None
    if "companyId" in row:
        made["companyId"] = ids.record("crm_companies", row["companyId"])
    if "fm" in row:
        made["fm"] = [{name: one[name] for name in ("typeId", "valueType", "value")} for one in row["fm"]]
    return {**made, **_parents(row, ids)}


def _parents(row: Fields, ids: Ids) -> Fields:
    """Both sides: the parent's type in the name, and the parent itself. One that is gone leaves no field."""
    made: Fields = {}
    for name, value in row.items():
        kind = name.removeprefix("parentId")
        if kind.isdecimal() and kind != name:
            made[f"parentId{ids.type(kind)}"] = ids.item(int(kind), value) if value else None
    return made


def _sold(row: Fields, kind: int, ids: Ids) -> Fields:
    category = row["categoryId"]
    dictionary = f"DYNAMIC_{kind}_STAGE_{category}"
    if kind == INVOICE:
        dictionary = f"SMART_INVOICE_STAGE_{category}"
    if kind == DEAL:
        dictionary = f"DEAL_STAGE_{category}" if category else "DEAL_STAGE"
    return {
        "categoryId": ids.category(kind, category),
        "stageId": ids.stage(dictionary, row["stageId"]) if row["stageId"] else None,
        "begindate": day(row["begindate"]),
        "closedate": day(row["closedate"]),
        **_valued(row, ids),
    }


def _valued(row: Fields, ids: Ids) -> Fields:
    return {
        "opportunity": row["opportunity"],
        "isManualOpportunity": yes(row["isManualOpportunity"]),
        "contactIds": ids.records("crm_contacts", row["contactIds"]),
        "productRows": [_product(one, ids) for one in row["productRows"]],
    }


def _product(row: Fields, ids: Ids) -> Json:
    same = ("productName", "price", "quantity", "discountTypeId", "discountRate", "discountSum", "taxRate", "sort")
    measure = row["measureCode"]
    return {
        **{name: row[name] for name in same},
        "productId": ids.record("crm_products", row["productId"]),
        "taxIncluded": yes(row["taxIncluded"]),
        "measureCode": None if measure is None else str(measure),
    }
