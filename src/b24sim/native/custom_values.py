"""Values of custom fields as a portal shows them, whatever way they were sent."""

from datetime import date
from typing import Any

from b24sim.context import Context
from b24sim.native.writing import file_sent, listed
from b24sim.paging import whole


def value_of(context: Context, kind: str, multiple: bool, value: Any) -> Any:
    if multiple:
        return [_single(context, kind, item) for item in listed(value)]
    return _single(context, kind, value)


def _single(context: Context, kind: str, value: Any) -> Any:
    if kind == "boolean":
        return "1" if value is True or str(value).upper() in {"Y", "1", "TRUE"} else "0"
    if kind == "file":
        return _file(context, value)
    if value in (None, ""):
        return ""
    if kind == "enumeration":
        return whole(value)
    if kind == "date":
        return context.portal.company.moments.day(date.fromisoformat(str(value)[:10]))
    if kind == "datetime":
        unix = context.portal.company.moments.parse(value)
        return "" if unix is None else context.portal.company.moments.iso(unix)
    return str(value)


def _file(context: Context, value: Any) -> Any:
    """Only as `{"fileData": [name, base64]}`; a bare pair, which other methods take, is nothing here."""
    if file_sent(value.get("fileData") if isinstance(value, dict) else None) is None:
        return ""
    number = context.portal.native.number("crm_files")
    return {"id": number, "showUrl": f"/bitrix/services/main/ajax.php?action=rest.file.get&value={number}"}
