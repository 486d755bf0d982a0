"""Workflow templates: a box takes them from an application only. Without one they are not migrated.

A template is created with its stamp as its name and without autorun. It is renamed at once, and gets its autorun after
the whole import, so that imported records do not start it."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from b24migrate.entities.workflows import rest_rules
from b24migrate.entities.workflows.rest_rights import check_rights, may_write, rights
from b24migrate.entities.workflows.rest_rules import MOST, has_body
from b24migrate.model.activities import find_forbidden
from b24migrate.model.errors import Permanent
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import NOWHERE, Args, Item, Json
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import Box, ask_as_application, call_as_application, new_id, rows_at
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, stamp_key

VERSION = 2
PARTS = ("TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS")
NUMBER = re.compile(r"0|-?[1-9]\d{0,17}")  # a key that PHP takes for a number


def encode_template(fields: Args) -> str:
    """As methods take files: base64."""
    whole = {"VERSION": VERSION, **{name: fields.get(name) or [] for name in PARTS}, "DOCUMENT_FIELDS": []}
    return base64.b64encode(zlib.compress(serialized(whole))).decode()


def serialized(value: Json) -> bytes:
    """As PHP would: a list is a map from numbers, and a text is as long as its bytes."""
    if value is None:
        return b"N;"
    if isinstance(value, bool):
        return b"b:%d;" % value
    if isinstance(value, int):
        return b"i:%d;" % value
    if isinstance(value, float):
        return f"d:{value!r};".encode()
    if isinstance(value, Mapping):
        return _array([(_key(str(name)), inner) for name, inner in value.items()])
    if isinstance(value, (list, tuple)):
        return _array(list(enumerate(value)))
    text = str(value).encode("utf-8", "replace")
    return b's:%d:"%s";' % (len(text), text)


def _array(pairs: list[tuple[int | str, Json]]) -> bytes:
    return b"a:%d:{%s}" % (len(pairs), b"".join(serialized(key) + serialized(value) for key, value in pairs))


def _key(name: str) -> int | str:
    return int(name) if NUMBER.fullmatch(name) else name


ADD = "bizproc.workflow.template.add"
UPDATE = "bizproc.workflow.template.update"
DELETE = "bizproc.workflow.template.delete"
LIST = "bizproc.workflow.template.list"
NEVER = "0"
OF_AN_APPLICATION = "rest_app_"
OF_TEMPLATE = (
    *(values.Column(name, name) for name in ("MODULE_ID", "ENTITY", "NAME", "DESCRIPTION")),
    values.Column("AUTO_EXECUTE", "AUTO_EXECUTE", back=values.whole),
    values.Column("USER_ID", "USER_ID", back=values.optional_id),
    values.Column("MODIFIED", "MODIFIED", back=values.utc),
    *(values.Column(name, name, back=values.unchanged) for name in PARTS),
)
SELECT = ["ID", "DOCUMENT_TYPE", "SYSTEM_CODE", *(one.native for one in OF_TEMPLATE)]


# ---------------------------------------------------------------- writing


def add_templates(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    writes = may_write(box)
    for item in items:
        yield add_template(box, item) if writes and has_body(item.fields) else CreateResult(item.key, NOWHERE)


def add_template(box: Box, item: Item) -> CreateResult:
    params = {
        "DOCUMENT_TYPE": [str(item.fields.get(name) or "") for name in ("MODULE_ID", "ENTITY", "DOCUMENT_TYPE")],
        "NAME": stamp_key(item.key),
        "DESCRIPTION": item.fields.get("DESCRIPTION") or "",
        "TEMPLATE_DATA": body(item),
        "AUTO_EXECUTE": NEVER,  # kernels want a text, also in JSON
    }
    try:
        return CreateResult(item.key, new_id(call_as_application(box, ADD, params), ADD))
    except Permanent as error:
        return CreateResult(item.key, error=error)


def body(item: Item) -> list[str]:
    return ["template.bpt", encode_template(item.fields)]


def find_templates(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key in begun:
        asked = {"SELECT": ["ID", "NAME"], "FILTER": {"=NAME": stamp_key(key)}}
        for row in rows_at(ask_as_application(box, LIST, asked)):
            if row.get("NAME") == stamp_key(key):
                found[key] = str(row["ID"])
    return found


def name_template(box: Box, known: Known, item: Item) -> None:
    change(box, known, {"NAME": item.fields.get("NAME") or ""})


def update_template(box: Box, known: Known, item: Item) -> None:
    """Autorun is not changed until the end."""
    fields: dict[str, Json] = {name: item.fields.get(name) or "" for name in ("NAME", "DESCRIPTION")}
    change(box, known, {**fields, "TEMPLATE_DATA": body(item)} if has_body(item.fields) else fields)


def change(box: Box, known: Known, fields: Args) -> None:
    if known.target_id != NOWHERE:
        call_as_application(box, UPDATE, {"ID": known.target_id, "FIELDS": fields})


# ---------------------------------------------------------------- when everything has arrived


def final_fields(item: Item) -> Args:
    start = 0 if find_forbidden(item.fields) else int(item.fields.get("AUTO_EXECUTE") or 0)
    return {"AUTO_EXECUTE": start & MOST}


def switch_on(box: Box, some: Mapping[str, Known]) -> None:
    """Never one that runs code: what is on the box counts, whatever was noted when it was written."""
    rows = read_rows(box, some.values()) if may_write(box) else {}
    for one in some.values():
        wanted = str(one.trace.get("AUTO_EXECUTE", 0)) if isinstance(one.trace, Mapping) else NEVER
        row = rows.get(one.target_id)
        if row is not None and find_forbidden(row):
            wanted = NEVER
        if row is not None and str(row.get("AUTO_EXECUTE")) != wanted:
            change(box, one, {"AUTO_EXECUTE": wanted})


# ---------------------------------------------------------------- reading


def read_rows(box: Box, some: Iterable[Known]) -> dict[str, Args]:
    ids = [one.target_id for one in some if one.target_id != NOWHERE]
    asked = {"SELECT": SELECT, "FILTER": {"ID": ids}}
    return {str(row["ID"]): row for row in rows_at(ask_as_application(box, LIST, asked))} if ids else {}


def read_templates(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = read_rows(box, wanted.values())
    return {key: decode_template(rows[one.target_id]) for key, one in wanted.items() if one.target_id in rows}


def decode_template(row: Args) -> Args:
    """The mark of the application that wrote it is not data of the source. Some kernels return module, class and type
    where the documentation shows the type only."""
    code = str(row.get("SYSTEM_CODE") or "")
    document = row.get("DOCUMENT_TYPE")
    return {
        **values.decode_columns(OF_TEMPLATE, row),
        "DOCUMENT_TYPE": document[-1] if isinstance(document, list) and document else document,
        "SYSTEM_CODE": None if code.startswith(OF_AN_APPLICATION) else code,
    }


def rules(box: Box) -> Sequence[Rule]:
    found = rights(box)
    return rest_rules.template_rules(box, found.standing, found.owner)


TEMPLATES = Writer(
    stream=rest_rules.STREAM,
    entity="workflows",
    needs=(),
    create=add_templates,
    trace=final_fields,
    find=find_templates,
    finish=name_template,
    update=update_template,
    read=read_templates,
    at_last=switch_on,
    delete=lambda box, known: call_as_application(box, DELETE, {"ID": known.target_id}),
    restless=frozenset({"AUTO_EXECUTE", "MODIFIED"}),
    rules=rules,
    check=check_rights,
)

WRITERS = (TEMPLATES,)
