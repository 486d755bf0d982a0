"""Company details of clients, with their templates, bank details, addresses, and what records chose of them."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, utc, yes
from tests.chaos.oracle.source import REQUISITES, Fields, Json, Source

REQUISITE = 8
CHOSEN = {
    **dict.fromkeys(("REQUISITE_ID", "MC_REQUISITE_ID"), "crm_requisites"),
    **dict.fromkeys(("BANK_DETAIL_ID", "MC_BANK_DETAIL_ID"), "crm_bank_details"),
}
LINES = ("ADDRESS_1", "ADDRESS_2", "CITY", "POSTAL_CODE", "REGION", "PROVINCE", "COUNTRY", "COUNTRY_CODE")


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    makers = {
        "crm_requisite_presets": _preset,
        "crm_requisites": _requisite,
        "crm_bank_details": _bank_detail,
        "crm_addresses": _address,
        "crm_requisite_links": _link,
    }
    assert makers.keys() == set(REQUISITES)
    return {stream: {key: make(row, ids) for key, row in source[stream].items()} for stream, make in makers.items()}


def _preset(row: Fields, ids: Ids) -> Fields:
    """The box keeps its own of those that it had."""
    codes = {one["code"]: one["target"] for one in ids.customs["crm_requisites"]}
    fields = [{**one, "FIELD_NAME": codes.get(one["FIELD_NAME"], one["FIELD_NAME"])} for one in row["fields"]]
    return {
        "NAME": row["NAME"],
        "COUNTRY_ID": int(row["COUNTRY_ID"]),
        "ACTIVE": yes(row["ACTIVE"]),
        "XML_ID": row["XML_ID"],
        "SORT": int(row["SORT"]),
        "fields": [
            {
                **{name: one[name] for name in ("FIELD_NAME", "FIELD_TITLE")},
                "SORT": int(one["SORT"]),
                "IN_SHORT_LIST": yes(one["IN_SHORT_LIST"]),
            }
            for one in fields
            if not one["FIELD_NAME"].startswith("UF_") or one["FIELD_NAME"] in codes.values()
        ],
    }


def _requisite(row: Fields, ids: Ids) -> Fields:
    preset = ids.record("crm_requisite_presets", row["PRESET_ID"])
    custom = ids.custom("crm_requisites", row)
    return {
        **_any(row, ids),
        **_owner(row, ids),
        **custom,
        "PRESET_ID": preset,
        "ADDRESS_ONLY": yes(row["ADDRESS_ONLY"]),
    }


def _bank_detail(row: Fields, ids: Ids) -> Fields:
    owner = ids.record("crm_requisites", row["ENTITY_ID"])
    return {**_any(row, ids), "ENTITY_ID": owner, "COUNTRY_ID": int(row["COUNTRY_ID"]), "COMMENTS": row["COMMENTS"]}


def _address(row: Fields, ids: Ids) -> Fields:
    anchor = int(row["ANCHOR_TYPE_ID"])
    return {
        **{name: row[name] for name in LINES},
        **_owner(row, ids),
        "TYPE_ID": int(row["TYPE_ID"]),
        "ANCHOR_TYPE_ID": anchor,
        "ANCHOR_ID": ids.item(anchor, row["ANCHOR_ID"]),
    }


def _link(row: Fields, ids: Ids) -> Fields:
    return {**_owner(row, ids), **{name: _chosen(row[name], stream, ids) for name, stream in CHOSEN.items()}}


def _chosen(number: Json, stream: str, ids: Ids) -> str | None:
    return None if number == "0" else ids.record(stream, number)


def _any(row: Fields, ids: Ids) -> Fields:
    details = {name: value for name, value in row.items() if name.startswith("RQ_") and value not in (None, "")}
    return {
        **details,
        **{name: row[name] for name in ("NAME", "XML_ID", "CODE", "ORIGINATOR_ID")},
        "ACTIVE": yes(row["ACTIVE"]),
        "SORT": int(row["SORT"]),
        "DATE_CREATE": utc(row["DATE_CREATE"]),
        "DATE_MODIFY": utc(row["DATE_MODIFY"]),
        "CREATED_BY_ID": ids.author(row["CREATED_BY_ID"]),
        "MODIFY_BY_ID": ids.user(row["MODIFY_BY_ID"]),
    }


def _owner(row: Fields, ids: Ids) -> Fields:
    kind = int(row["ENTITY_TYPE_ID"])
    found = ids.record("crm_requisites", row["ENTITY_ID"]) if kind == REQUISITE else ids.item(kind, row["ENTITY_ID"])
    there = ids.type(kind)
    return {"ENTITY_TYPE_ID": int(there) if there else None, "ENTITY_ID": found}
