"""The memory of links is shared by all workers: whoever makes room in it takes nothing from another."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.engine.world import World

from b24migrate.engine.phases import memory


class Met(str):
    """An id. When it is looked up for the second time, somebody else does something first."""

    __slots__ = ("looked_up", "meanwhile")
    looked_up: int
    meanwhile: Callable[[], object]

    def __hash__(self) -> int:
        self.looked_up += 1
        if self.looked_up == 2:
            self.meanwhile()
        return super().__hash__()


def test_who_looks_up_a_link_gets_it_although_others_make_room_meanwhile(
    talk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "REMEMBERED", 0)  # so that whoever learns of one forgets the others
    source_id, row = next((key, row) for key, row in talk.records("Users").items() if row["TargetId"])
    with talk.app() as app:
        links = app.context.memory.links
        assert links.target_id("users", source_id) == row["TargetId"]
        met = Met(source_id)
        met.looked_up, met.meanwhile = 0, lambda: links.target_ids("users", ["nobody"])
        assert links.target_ids("users", [met]) == {source_id: row["TargetId"]}
        assert met.looked_up > 1
