"""Filters with operators in front of the field names, as the list methods take them."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from b24sim.moments import Moments
from b24sim.paging import whole
from b24sim.table import HIDDEN, Row, Table

Test = Callable[[Row], bool]
OPERATORS = ("!><", "!=%", "!%=", "><", ">=", "<=", "!=", "!@", "!%", "=%", "%=", ">", "<", "=", "!", "@", "%", "?")


def split(key: str) -> tuple[str, str]:
    """`>=ID` is `>=` and `ID`; a bare name has the empty operator."""
    for operator in OPERATORS:
        if key.startswith(operator):
            return operator, key[len(operator) :]
    return "", key


def matching(table: Table, ids: Sequence[int], conditions: dict[str, Any], moments: Moments) -> Sequence[int]:
    """The ids that pass. Bounds on ID cut the sorted list instead of looking at rows."""
    tests: list[Test] = []
    for key, value in conditions.items():
        operator, field = split(key)
        if field == "ID" and operator in {">", ">=", "<", "<="}:
            ids = bounded(ids, operator, whole(value))
        elif field == "ID" and operator in {"", "=", "@"}:
            wanted = {whole(item) for item in (value if isinstance(value, list) else [value])}
            ids = [number for number in ids if number in wanted]
        else:
            tests.append(condition(operator, field, value, moments))
    if not tests:
        return ids
    return [number for number in ids if _passes(table.row(number), tests)]


def condition(operator: str, field: str, value: Any, moments: Moments) -> Test:
    if operator in {"><", "!><"} and isinstance(value, list) and len(value) == 2:
        low, high = condition(">=", field, value[0], moments), condition("<=", field, value[1], moments)
        inside: Test = lambda row: low(row) and high(row)  # noqa: E731
        return inside if operator == "><" else lambda row: not inside(row)
    negated = operator.startswith("!")
    bare = operator.lstrip("!")
    if bare in {">", ">=", "<", "<="}:
        return lambda row: _ordered(bare, _field(row, field), value, moments)
    if bare in {"%", "?"}:
        return lambda row: negated != (_fold(value) in _fold(_field(row, field)))
    if bare in {"=%", "%="}:
        return lambda row: negated != _like(_fold(_field(row, field)), _fold(value))
    wanted = {_fold(item) for item in (value if isinstance(value, list) else [value])}
    return lambda row: negated != _equals(_field(row, field), wanted)


def _passes(row: Row, tests: list[Test]) -> bool:
    return all(test(row) for test in tests)


def bounded(ids: Sequence[int], operator: str, bound: int) -> Sequence[int]:
    if operator == ">":
        return ids[bisect_right(ids, bound) :]
    if operator == ">=":
        return ids[bisect_left(ids, bound) :]
    return ids[: bisect_left(ids, bound) if operator == "<" else bisect_right(ids, bound)]


def _field(row: Row, field: str) -> Any:
    return row[HIDDEN + field] if HIDDEN + field in row else row.get(field)


def _fold(value: Any) -> str:
    if isinstance(value, bool):
        return "y" if value else "n"
    return "" if value is None else str(value).casefold()


def _equals(value: Any, wanted: set[str]) -> bool:
    if isinstance(value, list):
        return any(_fold(item) in wanted for item in value)
    return _fold(value) in wanted


def _like(text: str, pattern: str) -> bool:
    bare = pattern.strip("%")
    if pattern.startswith("%") and pattern.endswith("%"):
        return bare in text
    if pattern.startswith("%"):
        return text.endswith(bare)
    return text.startswith(bare) if pattern.endswith("%") else text == bare


def _ordered(operator: str, value: Any, bound: Any, moments: Moments) -> bool:
    left, right = _comparable(value, moments), _comparable(bound, moments)
    # A bound that is neither a number nor a time matches nothing.
    if left is None or right is None:
        return False
    if operator == ">":
        return left > right
    if operator == "<":
        return left < right
    return left >= right if operator == ">=" else left <= right


def _comparable(value: Any, moments: Moments) -> float | None:
    if isinstance(value, (int, float)):
        return float(value)
    text = str(value or "")
    if text.lstrip("-").isdigit():
        return float(text)
    return moments.parse(text)
