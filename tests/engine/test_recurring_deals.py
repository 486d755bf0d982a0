"""Templates of recurring deals are no deals: they are skipped by a rule that is counted."""

from __future__ import annotations

from pathlib import Path

from tests.engine.skipped_records import GONE, closes, skipped
from tests.engine.world import small, world

from b24migrate.entities.crm.streams import RECURRING

CRM = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


def test_templates_of_recurring_deals_are_no_deals(tmp_path: Path) -> None:
    with world(tmp_path, small(deals=16, companies=3, contacts=3, smart_types=0, posts=0, templates=0)) as made:
        deals = made.cloud.portal.company.crm.items[2]
        templates = {str(number) for number in deals if deals.row(number)["isRecurring"] == "Y"}
        assert templates
        assert made.run(*CRM, **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == dict.fromkeys(templates, RECURRING)
        assert {key.rpartition(":")[2] for key in made.imported("crm_deals")} == set(map(str, deals)) - templates
        assert f"crm_deals: {len(templates)} skipped by rule: {RECURRING}" in made.entity("crm_deals").notes
        assert closes(made, "crm_deals")
        assert made.entity("crm_deals").verified


def test_nobody_waits_for_the_template_of_a_recurring_deal(tmp_path: Path) -> None:
    """Also where it is the last of all deals, so that it might have come after the deals were read."""
    with world(tmp_path, small(deals=4, companies=3, contacts=3, tasks=3, posts=0, templates=0)) as made:
        made.change("crm_deals", "add", fields={"title": "Каждый месяц", "isRecurring": "Y"})
        last = max(made.cloud.portal.company.crm.items[2])
        for task in list(made.cloud.portal.company.tasks.table)[:1]:
            made.change("tasks", id=task, fields={"UF_CRM_TASK": [f"D_{last}"]})
        assert made.run(*CRM, "crm_spitems", "tasks", **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == {str(last): RECURRING}
        assert made.entity("tasks").verified


def test_a_template_that_was_migrated_before_there_was_a_rule_stays_what_it_is(tmp_path: Path) -> None:
    with world(tmp_path, small(deals=4, companies=3, contacts=3, smart_types=0, posts=0, templates=0)) as made:
        assert made.run(*CRM, **GONE).exit_code == 0
        number = min(made.cloud.portal.company.crm.items[2])
        made.change("crm_deals", id=number, fields={"isRecurring": "Y"})
        assert made.run("crm_deals", **GONE).exit_code == 0
        assert skipped(made, "crm_deals") == {}
        assert closes(made, "crm_deals")
