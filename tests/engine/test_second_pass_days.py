"""Days of work, records that the box refuses for a while, delta passes: a second pass over all records would send nothing
that the second passes of these runs have not sent."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import PLAN
from tests.engine.world import World, world

from b24migrate.engine.phases import deferred
from b24migrate.engine.stages import may_be_completed
from b24migrate.model.records import Job

Json = Any
DAYS = 2
SHARE = 0.15
REFUSED = ("crm_companies", "crm_contacts", "crm_deals", "groups", "tasks", "users", "feed_posts", "crm_spitems")
SETTINGS: Json = {"mapping": {"placeholder_user": "1"}, "run": {"user_coverage": 0.5, "deletions_limit": 100}}


def sync(made: World) -> None:
    with made.app() as app:
        assert app.runner.run(app.chosen(()), delta=True, tick=made.leap()).exit_code in (0, 5)


def unsent(made: World, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What a second pass over all records would send. It writes nothing."""
    found: list[tuple[str, str]] = []

    def caught(_: Json, stream: Json, changed: Json, __: Mapping[str, Json]) -> list[Json]:
        found.extend((stream.name, one.row_key) for one in changed)
        return []

    with monkeypatch.context() as patch, made.app() as app:
        patch.setattr(deferred, "_without_conflicts", caught)
        for name in ("mark_stretches", "mark_for_second_pass", "_count_losses", "note_missed"):
            patch.setattr(deferred, name, lambda *_: None)
        for entity in app.context.entities:
            for stream in filter(may_be_completed, entity.streams):
                jobs = deferred.seed(app.context, entity.task("late"), stream)
                while jobs:
                    more = deferred.complete(app.context, jobs.pop())
                    jobs += [one for one in more if isinstance(one, Job)]
        conflicts = {str(key) for (key,) in made.sql("SELECT RowKey FROM Conflicts")}
    return [one for one in found if ":".join(one) not in conflicts]


@pytest.mark.parametrize("deletions", ["keep", "delete"])
def test_a_second_pass_over_all_records_has_nothing_to_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deletions: str
) -> None:
    monkeypatch.setattr(
        deferred, "LOOKED_UP_FOR_ONE", 0.001
    )  # a company that small would always be looked at as a whole
    chance = random.Random(7)
    with world(tmp_path, replace(PLAN, seed=7, messages=40)) as made:
        made.settings = {**SETTINGS, "run": {**SETTINGS["run"], "deletions": deletions}}
        made.run()
        for day in range(DAYS):
            made.cloud.portal.mutate(day, 1, SHARE)
            made.cloud.portal.clock.advance(20 * 3600)
            keys = [f"source:{chance.choice(REFUSED)}:{chance.randint(1, 60)}" for _ in range(40)]
            made.strike_box(*({"method": "import.*.batch", "item": {"key": one, "code": "VALIDATION"}} for one in keys))
            sync(made)
            made.strike_box()
            made.retry()
            sync(made)
            assert unsent(made, monkeypatch) == []
