"""Bodies of resources against the types that Bicep itself checks them with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.deploy.bicep.evaluation import Later, Resource

Schema = list[dict[str, Any]]
PLAIN: dict[str, type] = {"string": str, "int": int, "bool": bool}


def complaints(resource: Resource, schema: Schema) -> Iterator[str]:
    """`schema` as `azmcp bicepschema get` prints it: the resource first, then the types it names."""
    types = {one["name"]: one for one in schema if one["$type"] != "Resource"}
    whole = next(one for one in schema if one["$type"] == "Resource")
    where = f"{resource.file}:{resource.line}: {resource.type}"
    if whole["name"] != f"{resource.type}@{resource.version}":
        yield f"{where}: the types are those of {whole['name']}, not of version {resource.version}"
        return
    for text in _against(resource.body, _chosen(whole["bodyType"], resource.body), types, ""):
        yield f"{where}{text}"


def _chosen(type_: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Some types differ by the resource's name, such as the kinds of a site's configuration."""
    for one in type_.get("elements", ()):
        names = [known["type"] for known in one["properties"] if known["name"] == "name"]
        if body.get("name") in names:
            return dict(one)
    return type_


def _against(value: dict[str, Any], type_: dict[str, Any], types: dict[str, Any], where: str) -> Iterator[str]:
    known = {one["name"]: one for one in type_.get("properties", ())}
    for name, one in known.items():
        if "Required" in one.get("flags", "") and name not in value:
            yield f"{where}: {name} is missing"
    for name, inner in value.items():
        one = known.get(name)
        if one is None:
            extra = type_.get("additionalPropertiesType")
            if extra is None:
                yield f"{where}: there is no property {name}"
            else:
                yield from _is(inner, extra, types, f"{where}.{name}")
        elif "ReadOnly" in one.get("flags", ""):
            yield f"{where}: {name} can only be read"
        else:
            yield from _is(inner, one["type"], types, f"{where}.{name}")


def _is(value: Any, type_: str, types: dict[str, Any], where: str) -> Iterator[str]:
    if isinstance(value, Later) or value is None or type_ in ("any", "object"):
        return
    if type_.endswith("[]"):
        if not isinstance(value, list):
            yield f"{where}: is not a list"
            return
        for item in value:
            yield from _is(item, type_.removesuffix("[]").strip("()"), types, where)
    elif type_ in types:
        if not isinstance(value, dict):
            yield f"{where}: is not an object"
            return
        yield from _against(value, types[type_], types, where)
    elif not any(_plainly(value, one.strip()) for one in type_.split("|")):
        yield f"{where}: {value!r} is not {type_}"


def _plainly(value: Any, word: str) -> bool:
    if word in PLAIN:
        return isinstance(value, PLAIN[word]) and not (word == "int" and isinstance(value, bool))
    return bool(value == word) or (isinstance(value, str) and "⟨" in value)
