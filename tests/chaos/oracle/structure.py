"""Smart processes, pipelines, stages and dictionaries. Records that the box had already keep their own values."""

from __future__ import annotations

import re

from tests.chaos.oracle.ids import Ids, yes
from tests.chaos.oracle.source import DEAL, Fields, Source


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    return {
        "crm_types": {number: _type(row) for number, row in source["crm_types"].items()},
        "crm_categories": {number: _category(row, ids) for number, row in source["crm_categories"].items()},
        "crm_stages": {number: _stage(row, ids) for number, row in source["crm_stages"].items()},
    }


def _type(row: Fields) -> Fields:
    switches = {name: yes(value) for name, value in row.items() if re.fullmatch(r"is\w+Enabled", name)}
    return {"title": row["title"], "entityTypeId": str(row["entityTypeId"]), "code": row["code"], **switches}


def _category(row: Fields, ids: Ids) -> Fields:
    if row["entityTypeId"] == DEAL and row["id"] == 0:
        return {"entityTypeId": "2", "isDefault": True}  # the box keeps its own name of the pipeline that all have
    return {
        "entityTypeId": ids.type(row["entityTypeId"]),
        "name": row["name"],
        "sort": row["sort"],
        "isDefault": yes(row["isDefault"]),
    }


def _stage(row: Fields, ids: Ids) -> Fields:
    """Of one that was linked only its dictionary is told here; `linked_to_its_like` looks at the rest."""
    dictionary, prefix = _place(row["ENTITY_ID"], ids)
    name = row["STATUS_ID"].rpartition(":")[2]
    return {
        "ENTITY_ID": dictionary,
        "STATUS_ID": prefix + name,
        "NAME": row["NAME"],
        "SORT": int(row["SORT"]),
        "SEMANTICS": row["SEMANTICS"],
        "COLOR": row["COLOR"],
    }


def _place(dictionary: str, ids: Ids) -> tuple[str, str]:
    """The dictionary's name on the box, and the prefix that its stages carry."""
    if found := re.fullmatch(r"DEAL_STAGE_(\d+)", dictionary):
        category = ids.category(DEAL, found[1])
        return f"DEAL_STAGE_{category}", f"C{category}:"
    if found := re.fullmatch(r"DYNAMIC_(\d+)_STAGE_(\d+)", dictionary):
        kind, category = ids.type(found[1]), ids.category(found[1], found[2])
        return f"DYNAMIC_{kind}_STAGE_{category}", f"DT{kind}_{category}:"
    if found := re.fullmatch(r"SMART_INVOICE_STAGE_(\d+)", dictionary):
        category = ids.category(31, found[1])
        return f"SMART_INVOICE_STAGE_{category}", f"DT31_{category}:"
    return dictionary, ""
