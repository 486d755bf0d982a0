"""The analysis shows what comments on CRM records cost: one question per record, and one per comment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.engine.test_survey import opened

from b24migrate.insight.forecast.sampler import Sampler

CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_spitems")
ASKED = ("crm.timeline.comment.list", "crm.timeline.bindings.list", "crm.activity.binding.list")


def test_questions_about_the_timeline_are_forecast_as_get_makes_them(tmp_path: Path) -> None:
    numbers = ("--crm-comments", "300", "--crm-activities", "200", "--calls", "10", "--smart-items", "20")
    with opened(tmp_path, *numbers) as (app, meter):
        app.runner.run(CRM)
        sampler = Sampler(app.context, meter, 0.02)
        counts: Counter[str] = Counter()
        for entity in app.catalog.entities:
            for stream in (*entity.aids, *entity.streams) if entity.wire == "crm" else ():
                for chain in sampler.sample(stream).loads:
                    for load in chain:
                        counts.update({method: round(count) for (_, method), count in load.calls.items()})
        comments = sampler.found["crm_comments"]
        before = meter.used
        app.runner.run(["crm_activities", "crm_comments"], ("get",))
        read = sum(app.context.store.counts(app.context.streams["crm_comments"].table).values())
        made: Counter[str] = Counter()
        for (_, method), count in meter.used.since(before).calls.items():
            made[method] += round(count)
    owners = 120 + 60 + 30 + 2 * 20 - 5  # without the templates of recurring deals
    assert made["crm.timeline.comment.list"] == owners
    assert 290 < read <= 300  # some belong to the template of a recurring deal only
    assert made["crm.timeline.bindings.list"] == read  # each once, in however many lists it is
    assert made["crm.activity.binding.list"] < 200  # not those that a rule leaves out
    for method in ASKED:
        assert counts[method] == pytest.approx(made[method], rel=0.3), method
    assert comments.count == pytest.approx(read, rel=0.2)  # however many lists each is in
