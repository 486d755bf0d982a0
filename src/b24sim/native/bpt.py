"""A `.bpt` file: what PHP's `serialize` makes of a template, compressed or not."""

import zlib
from typing import Any

from b24sim.errors import RestError

PARTS = ("TEMPLATE", "PARAMETERS", "VARIABLES", "CONSTANTS")


def unpacked(data: bytes) -> dict[str, Any]:
    """The four parts. Raises ValueError if it is not a template."""
    try:
        plain = zlib.decompress(data)
    except zlib.error:
        plain = data
    value = _Reader(plain).everything()
    if not isinstance(value, dict) or "TEMPLATE" not in value:
        raise ValueError("there is no template in it")
    return {name: value.get(name) or [] for name in PARTS}


def checked(activities: Any, known: frozenset[str]) -> None:
    """Every activity must be there, in whatever case it is spelled: the box lets each of them look at its
    properties."""
    for one in _walk(activities):
        kind = str(one.get("Type") or "")
        if not kind.lower().endswith("activity") and kind not in known:
            raise RestError("ERROR_CORE", f"Действие {kind} не найдено. ")


def _walk(activities: Any) -> Any:
    for one in activities:
        yield one
        yield from _walk(one.get("Children") or [])


class _Reader:
    def __init__(self, data: bytes):
        self._data = data
        self._at = 0

    def everything(self) -> Any:
        value = self._value()
        if self._at != len(self._data):
            raise ValueError("something follows the template")
        return value

    def _value(self) -> Any:
        kind = self._take(2)
        if kind == b"N;":
            return None
        text = self._until(b":" if kind in (b"s:", b"a:") else b";")
        if kind == b"i:":
            return int(text)
        if kind == b"d:":
            return float(text)
        if kind == b"b:":
            return text == b"1"
        if kind == b"s:":
            return self._string(int(text))
        if kind == b"a:":
            return self._array(int(text))
        raise ValueError(f"{kind!r} is nothing that serialize writes")

    def _string(self, size: int) -> str:
        """Its length is counted in bytes."""
        whole = self._take(size + 3)
        if whole[:1] != b'"' or whole[-2:] != b'";':
            raise ValueError("a text is longer or shorter than it says")
        return whole[1:-2].decode()

    def _array(self, size: int) -> Any:
        if self._take(1) != b"{":
            raise ValueError("an array without a beginning")
        pairs = [(self._value(), self._value()) for _ in range(size)]
        if self._take(1) != b"}":
            raise ValueError("an array without an end")
        if [key for key, _ in pairs] == list(range(size)):
            return [value for _, value in pairs]
        return {str(key): value for key, value in pairs}

    def _take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) != size:
            raise ValueError("it ends in the middle")
        self._at += size
        return part

    def _until(self, mark: bytes) -> bytes:
        end = self._data.find(mark, self._at)
        if end < 0:
            raise ValueError("it ends in the middle")
        part = self._data[self._at : end]
        self._at = end + 1
        return part
