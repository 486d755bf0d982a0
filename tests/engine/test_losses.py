"""What records went without is counted once, however often they are sent, taken back or looked at."""

from __future__ import annotations

from tests.engine.every_stream import STREAMS, look, touch_all
from tests.engine.test_texts import say
from tests.engine.test_undo import take
from tests.engine.world import Migration, World

from b24migrate.engine.phases import deferred
from b24migrate.engine.stages import late_stage
from b24migrate.insight.losses import LOSSES

NOBODY = {"CHAT_USER": [2, 9001], "NOTIFY": [9002, 9002]}  # two references that lead nowhere


def losses(made: Migration) -> dict[str, float]:
    with made.app() as app:
        counters = app.context.store.counters()
    return {name: count for name, count in counters.items() if count and name.partition(":")[0] in LOSSES}


def test_what_a_changed_record_goes_without_replaces_what_it_went_without(small: World) -> None:
    small.run()
    message = int(say(small, params=NOBODY).rpartition(":")[2])
    small.run()
    assert losses(small)["references_dropped:chat_messages"] == 2
    small.change("chat_messages", id=message, fields={"text": "once more"})
    small.run()
    assert losses(small)["references_dropped:chat_messages"] == 2
    small.change("chat_messages", id=message, fields={"params": {"CHAT_USER": [2, 9001]}})
    small.run()
    assert losses(small)["references_dropped:chat_messages"] == 1


def test_a_changed_record_of_every_stream_counts_once(whole: World) -> None:
    before = losses(whole)
    assert len(before) > 5
    touch_all(whole, look(whole))
    whole.run()
    assert losses(whole) == before


def test_a_part_that_is_taken_back_counts_once_when_it_came_again(whole: World) -> None:
    """Somebody changed one record of each stream, so that not all of it is gone."""
    before = losses(whole)
    for name in STREAMS:
        for row in list(whole.imported(name).values())[:1]:
            whole.box.portal.imports.edit(name, row["id"], {"ANY": "changed"})
    for entity in ("workflows", "feed", "crm_spitems", "tasks", "crm_deals", "chats", "groups", "users"):
        take(whole, entity)
        whole.run(entity)
        assert losses(whole) == before, entity
    whole.run()
    assert losses(whole) == before


def test_what_is_taken_back_has_lost_nothing(whole: World) -> None:
    take(whole)
    assert losses(whole) == {}


def test_a_second_pass_that_is_begun_or_done_twice_counts_once(whole: World) -> None:
    """By two who conduct, or by one who was killed before he said that he had done it."""
    before = losses(whole)
    with whole.app() as app:
        context = app.context
        for entity in context.entities:
            for stream in entity.streams:
                stage = late_stage(stream)
                jobs = [job for _ in range(2) for job in stage.seed(context, entity.task("late"))]
                for job in jobs:
                    follow = [job]
                    while follow:
                        follow += deferred.complete(context, follow.pop())  # type: ignore[arg-type]
    assert losses(whole) == before
