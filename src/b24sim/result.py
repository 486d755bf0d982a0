"""What a method answers: a value, and what the envelope lifts out of it."""

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
