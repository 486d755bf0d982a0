"""What the box is asked to create, also of a field that the portal describes oddly."""

from __future__ import annotations

from typing import Any

import pytest

from b24migrate.engine.phases.custom_fields import wire_field

FIELD = {
    "FIELD_NAME": "UF_X",
    "USER_TYPE_ID": "enumeration",
    "SORT": "30",
    "LIST": [{"ID": "1", "VALUE": "a", "SORT": 5}],
}


@pytest.mark.parametrize("name", ["SORT", "MANDATORY", "MULTIPLE", "LIST"])
@pytest.mark.parametrize("odd", ["x", [1], {"odd": 1}, 10**30])
def test_an_odd_property_of_a_field_stops_no_field(name: str, odd: Any) -> None:
    assert wire_field({**FIELD, name: odd}, "UF_X")["code"] == "UF_X"


@pytest.mark.parametrize("name", ["SORT", "DEF", "XML_ID"])
def test_an_odd_property_of_an_option_stops_no_field(name: str) -> None:
    field = {**FIELD, "LIST": [{"ID": "1", "VALUE": "a", name: {"odd": 1}}, "x", {"VALUE": "no ID"}]}
    assert [one["id"] for one in wire_field(field, "UF_X")["options"]] == ["1"]


def test_a_usual_field_is_as_the_portal_describes_it() -> None:
    wish = wire_field(FIELD, "UF_X")
    assert (wish["sort"], [(one["id"], one["value"], one["sort"]) for one in wish["options"]]) == (30, [("1", "a", 5)])
