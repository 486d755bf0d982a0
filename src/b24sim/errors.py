"""The refusal of a portal: the one error that every method raises and the app turns into an envelope."""

from collections.abc import Mapping
from typing import Any, Protocol


class RestError(Exception):
    """A refusal with the vendor's code; `code` may be empty or a number, exactly as the portal spells it."""

    def __init__(self, code: str | int, description: str = "", status: int = 400, extra: dict[str, Any] | None = None):
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description
        self.status = status
        self.extra: dict[str, Any] = extra or {}

    def body(self) -> dict[str, Any]:
        """The error as a client reads it; error bodies never carry a `time` block."""
        return {"error": self.code, "error_description": self.description, **self.extra}


class Numbers(Protocol):
    def __contains__(self, number: int, /) -> bool: ...


def known_number(numbers: Numbers, wish: Mapping[str, Any]) -> int:
    """The record that a change names by `id`."""
    number = int(str(wish.get("id", 0)).rpartition(":")[2])
    if number not in numbers:
        raise RestError("ERROR_NOT_FOUND", f"no {wish.get('stream')} {wish.get('id')}", 404)
    return number
