"""How custom fields of smart processes are created: `userfieldconfig.*`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from b24migrate.entities.crm import rest_field_codes
from b24migrate.messages import say
from b24migrate.model.answers import open_entry
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Json
from b24migrate.ports import Command
from b24migrate.targets.rest.box import Box, rows_at
from b24migrate.targets.rest.fields import FieldMethods


def owner(box: Box, type_id: str) -> str:
    """`CRM_<id>`, where the id is another number than the one by which the type is known elsewhere."""
    return box.kept(f"owner of {type_id}", lambda: f"CRM_{_number(box, type_id)}", 3600.0)


def _number(box: Box, type_id: str) -> str:
    for row in box.pages("crm.type.list", {"filter": {"entityTypeId": type_id}}, "types"):
        if str(row["entityTypeId"]) == type_id:
            return str(row["id"])
    raise Permanent(say("target.no_smart_process", number=type_id), code="TYPE_NOT_FOUND")


def list_of_type(box: Box, type_id: str) -> list[Args]:
    asked = {"moduleId": "crm", "filter": {"entityId": owner(box, type_id)}, "order": {"id": "ASC"}}
    rows = [row for row in box.pages("userfieldconfig.list", asked, "fields") if row["entityId"] == owner(box, type_id)]
    commands = [Command("userfieldconfig.get", {"moduleId": "crm", "id": row["id"]}) for row in rows]
    return [
        _upper({**row, **(open_entry(said, "field", "userfieldconfig.get") if said is not None else {})})
        for row, said in zip(rows, box.questions(commands), strict=True)
    ]


def add_to_type(box: Box, type_id: str, described: Args) -> Json:
    field = {_camel(name): value for name, value in described.items() if name != "LIST"}
    enum = [{_camel(name): value for name, value in one.items()} for one in rows_at(described.get("LIST"))]
    field |= {"entityId": owner(box, type_id)} | ({"enum": enum} if enum else {})
    return box.call("userfieldconfig.add", {"moduleId": "crm", "field": field})


def update_of_type(box: Box, _: str, number: str, changed: Args) -> Json:
    enum = [{_camel(name): value for name, value in one.items()} for one in rows_at(changed.get("LIST"))]
    # Without the type options are left as they are, without a word (userfieldconfig-update.md).
    field = {"userTypeId": "enumeration", "enum": enum}
    return box.call("userfieldconfig.update", {"moduleId": "crm", "id": number, "field": field})


def code_of_type(box: Box, type_id: str, code: str) -> str:
    """It must start with the number of its type on this box."""
    name = re.sub(r"^UF_CRM_\d+_", "", code)
    return f"UF_{owner(box, type_id)}_{name}"


def _upper(row: Args) -> Args:
    found = {re.sub(r"(?=[A-Z])", "_", name).upper(): value for name, value in row.items()}
    return {**found, "LIST": list(_enum(row))}


def _enum(row: Args) -> Iterator[Args]:
    for one in rows_at(row.get("enum")):
        yield {re.sub(r"(?=[A-Z])", "_", name).upper(): value for name, value in one.items()}


def _camel(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(part.capitalize() for part in others)


METHODS = FieldMethods(list_of_type, add_to_type, update_of_type, code_of_type, forget=rest_field_codes.forget)
