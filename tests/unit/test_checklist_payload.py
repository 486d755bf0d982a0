"""What of a checklist item counts as a change, also where the portal writes nonsense."""

from __future__ import annotations

from typing import Any

import pytest

from b24migrate.entities.tasks.streams import drop_changing_names
from b24migrate.model.values import OddValue


@pytest.mark.parametrize("members", [["x"], [5], {"1": "x"}, "x", 5])
def test_members_that_are_none_are_an_odd_value_and_no_bug(members: Any) -> None:
    with pytest.raises(OddValue):
        drop_changing_names({"MEMBERS": members})


@pytest.mark.parametrize("members", [None, [], False, ""])
def test_no_members_are_written_in_many_ways(members: Any) -> None:
    assert drop_changing_names({"MEMBERS": members})["MEMBERS"] == []


def test_the_name_of_a_member_does_not_count() -> None:
    before, after = ({"MEMBERS": {"7": {"ID": "7", "TYPE": "A", "NAME": name}}} for name in ("Ann", "Anna"))
    assert drop_changing_names(before) == drop_changing_names(after)
