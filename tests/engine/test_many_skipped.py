"""What rules skip may be as much as what is staged: it is never in memory all at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.world import small, world

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.delta import Part, find_highest
from b24migrate.engine.phases.inventory import note_excluded
from b24migrate.messages import say
from b24migrate.ports import SET_ASIDE, RegisterRow

MANY = 20_000
ROWS = [
    RegisterRow(
        f"excluded:crm_activities:{number}",
        {"Why": "excluded", "Reason": say("skip.activity_task", provider="TASKS"), "Name": ""},
    )
    for number in range(1, MANY + 1)
]


def highest(context: RunContext) -> None:
    stream = context.streams["crm_activities"]
    assert find_highest(context, stream, Part(stream.read[0], "", "")) == MANY  # type: ignore[arg-type]


def by_rule(context: RunContext) -> None:
    note_excluded(context, context.owner["crm_activities"], context.streams["crm_activities"])


@pytest.mark.parametrize("look", [highest, by_rule])
def test_they_are_read_a_stretch_at_a_time(tmp_path: Path, look: Callable[[RunContext], None]) -> None:
    with world(tmp_path, small(messages=0, chats=0)) as made, made.app() as app:
        app.context.store.write(SET_ASIDE, ROWS)
        look(app.context)
        tracemalloc.start()
        look(app.context)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 4_000_000
