"""Which CRM records pass a filter, without looking at more of them than need be."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from b24sim.company.crm import Items
from b24sim.errors import RestError
from b24sim.filters import Test, bounded, condition, split
from b24sim.moments import Moments
from b24sim.paging import whole
from b24sim.result import PAGE
from b24sim.table import Row

INDEXED = {"createdTime", "updatedTime"}
Name = Callable[[str], str]


class Stretch(Sequence[int]):
    """A part of a sorted list that is not copied, since every page begins somewhere in half a million ids."""

    def __init__(self, ids: list[int], places: range):
        self._ids, self._places = ids, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return Stretch(self._ids, self._places[place])
        return self._ids[self._places[place]]


def found(items: Items, conditions: Any, moments: Moments, named: Name) -> tuple[Sequence[int], list[Test]]:
    """The ids that may pass, in ascending order, and what each of them is still to be asked."""
    ids: Sequence[int] = Stretch(items.ids, range(len(items)))
    tests: list[Test] = []
    for key, value in _entries(conditions):
        if isinstance(value, dict) and not split(key)[0] and (key.isdigit() or key == ""):
            tests.append(_group(items, value, moments, named))
            continue
        operator, name = split(key)
        field = named(name)
        if field == "id" and operator in {">", ">=", "<", "<="}:
            ids = bounded(ids, operator, whole(value))
        elif field == "id" and operator in {"", "=", "@"}:
            wanted = {whole(item) for item in (value if isinstance(value, list) else [value])}
            first, last = (ids[0], ids[-1]) if ids else (1, 0)
            ids = sorted(number for number in wanted if number in items and first <= number <= last)
        else:
            bound = moments.parse(value) if operator in {">", ">="} and field in INDEXED else None
            ids = ids if bound is None else _recent(items, ids, field, bound)
            tests.append(_test(items, operator, field, value, moments))
    return ids, tests


def passing(items: Items, ids: Sequence[int], tests: list[Test]) -> Sequence[int]:
    return ids if not tests else [number for number in ids if all(test(items.row(number)) for test in tests)]


def first_passing(items: Items, ids: Sequence[int], tests: list[Test]) -> Sequence[int]:
    """A page of them: nobody counts the rest."""
    if not tests:
        return ids[:PAGE]
    some: Iterator[int] = (number for number in ids if all(test(items.row(number)) for test in tests))
    return list(islice(some, PAGE))


def ordered(items: Items, ids: Sequence[int], order: dict[str, str]) -> Sequence[int]:
    """By any fields; without an order there is none."""
    if not order:
        return items.in_no_order(ids)
    if list(order) == ["id"]:
        return ids[::-1] if order["id"] == "DESC" else ids
    for field, direction in reversed(order.items()):
        ids = sorted(ids, key=_key(items, field), reverse=direction == "DESC")
    return ids


def direction_of(field: str, asked: Any) -> str:
    direction = str(asked).upper()
    if direction not in {"ASC", "DESC"}:
        message = f"Invalid order: allowed sort directions are ASC, DESC. But got '{asked}' for field '{field}'"
        raise RestError("INVALID_ARG_VALUE", message)
    return direction


def _recent(items: Items, ids: Sequence[int], field: str, bound: float) -> Sequence[int]:
    """Times not before some other one are looked up in an index; the test after it settles what is equal."""
    return [number for number in items.since(field, bound) if ids[0] <= number <= ids[-1]] if ids else ids


def _test(items: Items, operator: str, field: str, value: Any, moments: Moments) -> Test:
    if field in items.schema.flags:
        # Custom flags read as Y and N but are stored, and looked for, as 1 and 0.
        value = {"1": "Y", "0": "N"}.get(str(value), "-")
    return condition(operator, field, value, moments)


def _group(items: Items, group: dict[str, Any], moments: Moments, named: Name) -> Test:
    """Conditions in brackets: all of them, or with the logic OR any."""
    parts: list[Test] = []
    for key, value in _entries(group):
        if key == "logic":
            continue
        if isinstance(value, dict) and key.isdigit():
            parts.append(_group(items, value, moments, named))
        else:
            operator, name = split(key)
            parts.append(_test(items, operator, named(name), value, moments))
    joined: Callable[[Iterator[bool]], bool] = any if str(group.get("logic", "")).upper() == "OR" else all
    return lambda row: joined(part(row) for part in parts)


def _entries(conditions: Any) -> list[tuple[str, Any]]:
    if isinstance(conditions, list):
        return [(str(place), value) for place, value in enumerate(conditions)]
    return list(conditions.items()) if isinstance(conditions, dict) else []


def _key(items: Items, field: str) -> Callable[[int], tuple[float, str]]:
    def key(number: int) -> tuple[float, str]:
        row: Row = items.row(number)
        value = row.get(field)
        return (float(value), "") if isinstance(value, (int, float)) else (0.0, str(value or ""))

    return key
