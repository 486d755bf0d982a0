"""Values as the wire wants them."""

from __future__ import annotations

import pytest

from b24migrate.model.records import Json
from b24migrate.model.values import number, whole


@pytest.mark.parametrize("nought", [0, 0.0, "0", "0.00"])
def test_a_nought_is_a_number(nought: Json) -> None:
    assert number(nought) == 0
    assert whole(nought) == 0


@pytest.mark.parametrize("nothing", [None, "", False])
def test_what_is_not_set_is_no_number(nothing: Json) -> None:
    assert number(nothing) is None
    assert whole(nothing) is None
