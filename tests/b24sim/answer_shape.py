"""Compares an answer with the keys and types that a page of the documentation shows.

A shape is written as the sample is: objects by key, lists by the shape of their rows, scalars by the names of their
types (`"string|null"`). `"NAME?"` is not in every row of the sample; `"*"` stands for keys that are ids or languages;
other keys with a `*` for names that every portal has of its own. Alternatives are listed under `"|"`.
A sample that shows only `null`, or an empty list (which PHP makes of every empty array), says nothing more.
"""

import re
from collections.abc import Iterator
from typing import Any

ANY_OF, EACH = "|", "*"
UNKNOWN: tuple[Any, ...] = ("null", [])


def kind(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    names = {bool: "bool", int: "int", float: "float", str: "string", list: "list", dict: "object"}
    return names[type(value)]


def differences(shape: Any, value: Any, path: str = "") -> Iterator[str]:
    """`missing PATH`, `extra PATH`, or the type that the page does not know: `null PATH`."""
    if shape in UNKNOWN or (value == [] and _is_map(shape)):
        return
    if kind(value) in _kinds(shape, path):
        yield from _compare_inside(shape, value, path)
    else:
        yield f"{kind(value)} {path}"


def _is_map(shape: Any) -> bool:
    return isinstance(shape, dict) and (EACH in shape or any(map(_is_map, shape.get(ANY_OF, ()))))


def _kinds(shape: Any, path: str) -> set[str]:
    if isinstance(shape, str):
        kinds = set(shape.split("|"))
        # PHP writes a whole number without a fraction, so one sample of a price says nothing; an id is whole.
        numbers = {"int", "float"} if kinds & {"int", "float"} and not path.lower().endswith("id") else set()
        return kinds | numbers
    if isinstance(shape, list):
        return {"list"}
    return set().union(*(_kinds(one, path) for one in shape[ANY_OF])) if ANY_OF in shape else {"object"}


def _compare_inside(shape: Any, value: Any, path: str) -> Iterator[str]:
    if isinstance(shape, dict) and ANY_OF in shape:
        shape = next(one for one in shape[ANY_OF] if kind(value) in _kinds(one, path))
    if isinstance(shape, list):
        for item in value:
            yield from differences(shape[0], item, f"{path}[]")
    elif isinstance(shape, dict) and EACH in shape:
        for item in value.values():
            yield from differences(shape[EACH], item, f"{path}.*")
    elif isinstance(shape, dict):
        yield from _keys(shape, value, path)


def _keys(shape: dict[str, Any], value: dict[str, Any], path: str) -> Iterator[str]:
    known = {name.removesuffix("?"): name for name in shape}
    own = [pattern(name) for name in known if EACH in name]
    for name, documented in known.items():
        below = f"{path}.{name}".removeprefix(".")
        if name in value:
            yield from differences(shape[documented], value[name], below)
        elif documented == name and EACH not in name:
            yield f"missing {below}"
    for name in value:
        if name not in known and not any(one.fullmatch(name) for one in own):
            yield f"extra {path}.{name}".replace(" .", " ")


def pattern(text: str) -> re.Pattern[str]:
    """A `*` is anything, everything else is itself."""
    return re.compile(".*".join(map(re.escape, text.split(EACH))))
