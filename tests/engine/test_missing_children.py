"""How the lists of the source tell which children a parent has lost."""

from __future__ import annotations

import pytest
from tests.engine.world import World

from b24migrate.engine.phases import inventory, tails
from b24migrate.engine.phases.missing_children import Loss, Verdict, find_losses
from b24migrate.engine.phases.tails import Told
from b24migrate.model.readings import PerParent
from b24migrate.model.records import order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.ports import STATES

PARENT = SourceRecord("5", {}, {})


def loss(*ids: int, lost: int = 1) -> Loss:
    number = len(ids)
    return Loss(PARENT, Told(ids[-1], number), Told(ids[-1], number - lost), ids, ids[-1] + 1, set())


def test_each_page_is_asked_for_just_above_its_newest_child() -> None:
    assert loss(10, 20, 30, 40, 50).next_pages(2, 9) == [51, 31, 11]
    assert loss(10, 20, 30, 40, 50).next_pages(2, 2) == [51, 31]
    assert loss(10, 20, 30, 40).next_pages(2, 9) == [41, 21]


def test_what_a_list_does_not_show_is_missing() -> None:
    one = loss(10, 20, 30)
    one.compare(31, [30, 10], 50)
    assert (one.missing, one.covered, one.odd, one.verdict) == ({20}, 10, False, Verdict.FOUND)


def test_a_loss_has_no_verdict_before_a_list_is_compared() -> None:
    assert loss(10, 20, 30).verdict is None


def test_rows_above_the_asked_ones_take_no_place_on_a_page() -> None:
    one = loss(10, 20, 30)
    one.compare(31, [31, 30, 20], 2)
    assert (one.missing, one.covered, one.verdict) == (set(), 20, None)


def test_a_child_that_nobody_knows_makes_the_parent_be_read_whole() -> None:
    one = loss(10, 20, 30)
    one.compare(31, [30, 25, 10], 50)
    assert one.verdict is Verdict.WHOLE


def test_only_parents_that_are_known_and_told_their_number_are_compared(talk: World) -> None:
    with talk.app() as app:
        stream = app.context.streams["chat_messages"]
        reading = app.context.reading(stream)
        assert isinstance(reading, PerParent)
        first, second, *_ = talk.records("Chats")
        app.context.store.erase(STATES, f"{stream.name}:{second}")
        tails.write_states(app.context, stream, {first: Told(9, 9), "999": Told(9, 9)})
        asked = [[key, 10_000_000, []] for key in (first, second, "999")]
        assert [one.parent.id for one in find_losses(app.context, stream, reading, asked)] == [first]


def test_a_walk_whose_time_is_up_says_where_it_goes_on(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "WALKED_AT_ONCE", 2)
    with talk.app() as app:
        context = app.context.with_options(longest_job_s=0.0)
        context.start_job()
        entity = next(one for one in context.entities if one.name == "chats")
        keys = list(talk.records(context.streams[entity.unreadable_by].table.name))
        after, ends = "", []
        while after := inventory.note_unavailable(context, entity, after):
            ends.append(after)
    assert ends == [order_key(key) for key in keys[1::2]]
