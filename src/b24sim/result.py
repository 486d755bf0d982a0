"""What a method answers: a value, and what the envelope lifts out of it."""

from dataclasses import dataclass
from typing import Any

from b24sim.phpjson import Rows


@dataclass(slots=True)
class Result:
    """`total` and `next` appear beside `result`, and only when the method has them."""

    value: Any
    total: int | None = None
    next: int | None = None


PAGE = 50


def no_rows() -> Result:
    return Result(Rows())
