"""The pages of fifty rows, with the habits of each generation of methods."""

from collections.abc import Callable, Sequence
from typing import Any

from b24sim.phpjson import Rows
from b24sim.result import PAGE, Result

Encode = Callable[[int], bytes]


def whole(value: Any) -> int:
    """PHP's intval: leading digits of a string, 0 for rubbish, 1 for a filled array."""
    if isinstance(value, (list, dict)):
        return 1 if value else 0
    if isinstance(value, (int, float)):
        return int(value)
    text = str(value or "").strip()
    sign, digits = ("-", text[1:]) if text[:1] == "-" else ("", text)
    end = 0
    while end < len(digits) and digits[end].isdigit():
        end += 1
    return int(sign + digits[:end]) if end else 0


def truthy(value: Any) -> bool:
    """PHP's idea: "0" and "" are false, "false" is true."""
    return value not in (None, False, 0, "", "0", [], {})


def yes(value: Any) -> bool:
    return value is True or str(value).upper() in {"Y", "1", "TRUE"}


def page_by_offset(ids: Sequence[int], start: int, encode: Encode) -> Result:
    """Any offset is taken as it is; -1 counts nothing."""
    if start < 0:
        return Result(Rows(map(encode, ids[:PAGE])), total=0)
    rows = Rows(map(encode, ids[start : start + PAGE]))
    following = start + PAGE if start + PAGE < len(ids) else None
    return Result(rows, len(ids), following)


def page_of_old_core(ids: Sequence[int], start: int, encode: Encode) -> Result:
    """Offsets are rounded down to a page, and one beyond the end gives the first page again."""
    if start < 0:
        return Result(Rows(map(encode, ids[:PAGE])), total=0)
    start -= start % PAGE
    if start >= len(ids):
        start = 0
    return page_by_offset(ids, start, encode)
