"""Values as the wire wants them."""

from __future__ import annotations

import pytest

from b24migrate.model.records import Json
from b24migrate.model.values import number, whole


@pytest.mark.parametrize("zero", [0, 0.0, "0", "0.00"])
def test_zero_is_a_number(zero: Json) -> None:
    assert number(zero) == 0
    assert whole(zero) == 0


@pytest.mark.parametrize("nothing", [None, "", False])
def test_what_is_not_set_is_no_number(nothing: Json) -> None:
    assert number(nothing) is None
    assert whole(nothing) is None
