"""CRM records go one after the other, in order of their ids, however many hands there are."""

from __future__ import annotations

from pathlib import Path

from tests.rest.everything import moving

ENTITIES = ("users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")


def test_records_arrive_in_order_of_their_ids_with_many_workers_and_lost_answers(tmp_path: Path) -> None:
    with moving(tmp_path, *ENTITIES, deals=90, contacts=50) as move:
        move.world.settings["run"] |= {"workers": 8}
        move.lose(3, "crm.item.batchImport")
        assert move.run().exit_code == 0
        for table in ("CrmContacts", "CrmDeals"):
            targets = [int(row["TargetId"]) for row in move.world.table(table, "TargetId")]
            assert targets == sorted(targets)
        raised = [one for one in move.announced() if one.field == "createdTime"]
        assert [one.seen for one in raised] == [one.foretold for one in raised]
