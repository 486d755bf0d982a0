"""How long limits made us wait, by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import SMALL, World, world

from b24migrate.insight.status import figures
from b24migrate.model.records import Job


def waited(made: World) -> dict[str, float]:
    with made.app() as app:
        found = figures(app.context)
    return {labels["method"]: value for name, labels, value in found if name == "limit_wait_seconds_total"}


def test_a_limit_of_the_target_is_counted_with_the_seconds_it_asked_for(small: World) -> None:
    small.strike_box({"method": "import.groups.batch", "kind": "query_limit", "retry_after": 7, "count": 1})
    assert small.run().exit_code == 0
    assert waited(small)["import.groups.batch"] == pytest.approx(7, abs=1)


def test_a_method_that_is_spent_on_the_source_is_counted_with_its_rest(small: World) -> None:
    """Without a stated time it rests for a minute, and a little more."""
    small.strike_cloud({"method": "department.get", "kind": "operating_limit", "count": 1})
    assert small.run().exit_code == 0
    assert waited(small).keys() == {"department.get"}
    assert 59 <= waited(small)["department.get"] <= 76


def test_the_seconds_of_several_waits_add_up_and_survive_a_restart(small: World) -> None:
    small.strike_box({"method": "import.groups.batch", "kind": "query_limit", "retry_after": 7, "count": 2})
    small.run()
    assert waited(small)["import.groups.batch"] == pytest.approx(14, abs=2)


def test_an_outage_is_no_limit(small: World) -> None:
    small.strike_box(
        {"method": "import.groups.*", "kind": "502html", "count": 3},
        {"method": "import.info", "kind": "502html", "at": range(2, 5)},
    )
    assert small.run().exit_code == 0
    assert waited(small) == {}


def test_a_limit_in_the_midst_of_what_is_asked_about_a_page_does_not_begin_it_anew_for_ever(tmp_path: Path) -> None:
    """Product rows are asked for deal by deal; of 250 calls more than one meets the limit, however often it is tried."""
    plan = replace(SMALL, deals=300, contacts=5, companies=5, smart_types=0, posts=0, templates=0)
    with world(tmp_path, plan) as made:
        made.strike_cloud({"method": "crm.item.productrow.list", "kind": "operating_limit", "every": 130})
        made.settings = {"run": {"entities": ["users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals"]}}
        made.run(phases=("custom-fields-get", "custom-fields-set", "get", "set"))
        deals = 300 - made.stream("crm_deals").excluded
        assert len(made.records("CrmDeals")) == deals > 250
        rows = [row for row in made.table("CrmDeals", "Extras") if row["Extras"] and "productRows" in row["Extras"]]
    assert len(rows) == deals


@pytest.mark.parametrize("whole", [False, True])
def test_a_limit_in_the_midst_of_a_verify_does_not_begin_it_anew_for_ever(
    tmp_path: Path, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People are asked for one by one; of ten calls more than one meets the limit, however often it is tried. What goes
    on is put on the queue in one write with the end of what was cut short: after a crash there are never both."""
    with world(tmp_path, replace(SMALL, users=30)) as made:
        made.settings = {"run": {"entities": ["users"], "verify_sample": 12}}
        assert made.run(phases=("custom-fields-get", "custom-fields-set", "get", "set")).exit_code == 0
        made.strike_cloud({"method": "user.get", "kind": "operating_limit", "every": 5})
        with made.app() as opened:
            app = opened.with_context(opened.context.with_options(verify_all=whole))
            apart: list[Job] = []
            put = app.context.queue.put

            def watched(jobs: Sequence[Job], **more: Any) -> None:
                apart.extend(jobs)
                put(jobs, **more)

            monkeypatch.setattr(app.context.queue, "put", watched)
            assert app.runner.run(app.chosen(), ("verify",), tick=made.leap()).exit_code == 0
        assert not [job for job in apart if "slowly" in job.args]
        assert made.entity("users").verified
