"""The box's names of custom fields of CRM records. A CRM before 25.0 ignores the requested codes and uses names derived
from them, from which the codes cannot be derived back. So the names of each type are requested."""

from __future__ import annotations

from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import Box

WISH = {"useOriginalUfNames": "Y"}
KEPT_S = 600.0
_MARK = "names of custom fields in the CRM"


def encode_names(box: Box, number: str, fields: Args) -> dict[str, Json]:
    """A record to be written, under the names that the box takes."""
    names = _names(box, number, {name for name in fields if _is_custom(name)})
    return {names.get(code, code): value for code, value in fields.items()}


def decode_names(box: Box, number: str, row: Args) -> dict[str, Json]:
    """A record as the box returns it, under the codes by which its fields were created."""
    names = _names(box, number, {name for name in row if _is_custom(name)})
    codes = {name: code for code, name in names.items()}
    return {codes.get(name, name): value for name, value in row.items()}


def forget(box: Box) -> None:
    """When fields are made."""
    box.forget(_MARK)


def _names(box: Box, number: str, met: set[str]) -> dict[str, str]:
    """Names by code. For an unknown one the box is queried, because another worker may have just created it. A name
    that is still unknown stays unchanged, and is not requested again for a while."""
    kept = box.kept(_MARK, dict[str, dict[str, str]], KEPT_S)
    known = kept.get(number, {})
    if met - known.keys() - set(known.values()):
        told = _read_names(box, number)
        untold = (met | known.keys()) - told.keys() - set(told.values())
        known = kept[number] = {**{name: name for name in untold}, **told}
    return known


def _read_names(box: Box, number: str) -> dict[str, str]:
    """If the box accepts the requested code, each name is its code."""
    said = box.question("crm.item.fields", {"entityTypeId": number, **WISH})["fields"]
    described = said.items() if isinstance(said, dict) else ()  # no field at all is an empty list
    codes = {name: str(about.get("upperName") or name) for name, about in described}
    return {code: name for name, code in codes.items() if code.startswith("UF_")}


def _is_custom(name: str) -> bool:
    return name.startswith(("UF_", "uf"))
