"""The result of a method: a value, and the parts that the envelope moves out of it."""

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Result:
    """`total` and `next` appear beside `result`, and only when the method has them."""

    value: Any
    total: int | None = None
    next: int | None = None
    read: int = 0  # rows that the portal has read for it besides the usual


PAGE = 50
