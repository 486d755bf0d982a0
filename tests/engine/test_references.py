"""Links between records of the CRM: required where the source has the other one, dropped where it has it no longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import everything
from tests.engine.world import World

from b24migrate.model.events import Event, PhaseChanged
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL

ENTITIES = ("users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "tasks")
NEVER_WAS = 99_999


@dataclass(frozen=True)
class Linked:
    """Deals and a task, each by the kind of company that it names."""

    made: World
    deals: dict[str, str]
    companies: dict[str, str]
    contacts: tuple[str, str]
    task: str

    def fields(self, stream: str, row_key: str) -> dict[str, Any]:
        found = self.made.imported(stream)[f"source:{stream}:{row_key}"]["fields"]
        assert isinstance(found, dict)
        return found

    def said(self, deal: str) -> tuple[str, str]:
        ((status, error),) = self.made.sql("SELECT Status, LastError FROM CrmDeals WHERE RowKey = ?", self.deals[deal])
        return status, error

    def target(self, table: str, row_key: str) -> str:
        return str(self.made.records(table)[row_key]["TargetId"])


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    with everything(tmp_path_factory.mktemp("linked")) as made, pytest.MonkeyPatch.context() as patch:
        crm = made.cloud.portal.company.crm
        deals = dict(zip(("deleted", "failed", "newer", "nobody", "several"), map(str, crm.items[DEAL]), strict=False))
        gone, bad, *_ = crm.items[COMPANY]
        lost, kept, *_ = crm.items[CONTACT]
        made.change("crm_companies", "delete", id=gone)
        made.change("crm_contacts", "delete", id=lost)
        for name, company in (("deleted", gone), ("failed", bad), ("nobody", NEVER_WAS), ("newer", 0), ("several", 0)):
            made.change("crm_deals", id=deals[name], fields={"companyId": company, "contactId": 0, "contactIds": []})
        made.change("crm_contacts", id=kept, fields={"companyId": 0, "companyIds": []})
        made.change("crm_deals", id=deals["several"], fields={"contactIds": [lost, kept]})
        links = [f"CO_{gone}", "L_5", f"D_{deals['several']}"]
        task = made.change("tasks", "add", fields={"UF_CRM_TASK": links})
        companies = {"deleted": str(gone), "failed": str(bad)}
        made.strike_box(
            {"method": "import.crm.batch", "item": {"key": f"source:crm_companies:{bad}", "code": "LOCKED"}}
        )

        def later(event: Event) -> None:
            """Somebody goes on working when the companies have been moved."""
            if isinstance(event, PhaseChanged) and (event.entity, event.phase, event.state) == (
                "crm_companies",
                "set",
                "done",
            ):
                (new,) = made.change("crm_companies", "add", fields={"title": "Новая"})
                made.change("crm_deals", id=deals["newer"], fields={"companyId": new})
                companies["newer"] = str(new)

        patch.setattr(made, "_saw", later)
        made.run(*ENTITIES)
        yield Linked(made, deals, companies, (str(lost), str(kept)), str(task[0]))


def test_a_record_that_was_deleted_is_dropped(linked: Linked) -> None:
    assert linked.said("deleted")[0] == "IMPORT_OK"
    assert linked.fields("crm_deals", linked.deals["deleted"])["companyId"] is None


def test_a_record_that_never_was_is_asked_for_and_dropped(linked: Linked) -> None:
    assert linked.said("nobody")[0] == "IMPORT_OK"
    assert linked.fields("crm_deals", linked.deals["nobody"])["companyId"] is None


def test_a_record_that_failed_is_required(linked: Linked) -> None:
    sentence = f"companyId links to crm_companies {linked.companies['failed']}, which was not imported (LOCKED)"
    assert linked.said("failed") == ("IMPORT_ERR", sentence)


def test_a_record_that_came_after_its_stream_was_read_is_brought_over(linked: Linked) -> None:
    new = linked.companies["newer"]
    assert linked.said("newer")[0] == "IMPORT_OK"
    assert linked.fields("crm_companies", new)["title"] == "Новая"
    there = linked.target("CrmCompanies", new)
    assert linked.fields("crm_deals", linked.deals["newer"])["companyId"] == there


def test_of_several_only_the_lost_ones_are_left_out(linked: Linked) -> None:
    _, kept = linked.contacts
    there = linked.target("CrmContacts", kept)
    assert linked.fields("crm_deals", linked.deals["several"])["contactIds"] == [there]


def test_links_of_a_task_to_what_is_not_migrated_are_left_out(linked: Linked) -> None:
    deal = linked.target("CrmDeals", linked.deals["several"])
    assert linked.fields("tasks", linked.task)["ufCrmTask"] == [f"D_{deal}"]


def test_a_record_of_a_kind_that_was_not_read_says_what_to_do(tmp_path: Path) -> None:
    with everything(tmp_path) as made:
        (task,) = made.change("tasks", "add", fields={"UF_CRM_TASK": ["D_3"]})
        made.run("users", "groups", "tasks")
        ((sentence,),) = made.sql("SELECT LastError FROM Tasks WHERE RowKey = ?", str(task))
        advice = "migrate them first, or set mapping.policy of tasks.ufCrmTask to drop"
        assert sentence == f"ufCrmTask links to crm_deals 3, but no crm_deals are read yet: {advice}"
