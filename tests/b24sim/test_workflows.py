"""bizproc.workflow.*: templates, everything that is buried in them, and what is never told."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.b24sim.client import call, control, result

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.crm_structure import categories, statuses

LIST = "bizproc.workflow.template.list"
EVERYTHING = ["ID", "MODULE_ID", "ENTITY", "DOCUMENT_TYPE", "AUTO_EXECUTE", "NAME", "DESCRIPTION", "TEMPLATE",
              "PARAMETERS", "VARIABLES", "CONSTANTS", "MODIFIED", "IS_MODIFIED", "USER_ID", "SYSTEM_CODE"]  # fmt: skip


@pytest.fixture(scope="module")
def portal() -> Iterator[Running]:
    """Tests leave it as it is."""
    plan = Plan(users=30, groups=8, templates=130, seed=6)
    with serve(Portal(Company(plan), webhooks=(1, 2), clock=ManualClock())) as running:
        yield running


def truth(running: Running, more: str = "") -> dict[str, Any]:
    return {r["id"]: r["fields"] for r in control(running, f"dump?stream=workflow_templates{more}")["records"]}


def everything(running: Running) -> list[Any]:
    rows: list[Any] = []
    while page := result(
        running, LIST, {"SELECT": EVERYTHING, "FILTER": {">ID": rows[-1]["ID"] if rows else 0}, "start": -1}
    ):
        rows += page
    return rows


def activities(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["Children"]:
        yield from activities(child)


def test_only_ids_unless_more_is_asked_for(portal: Running) -> None:
    reply = call(portal, LIST).json
    assert [set(row) for row in reply["result"]] == [{"ID"}] * 50
    assert (reply["next"], reply["total"]) == (50, len(truth(portal, "&visible_to=1")))
    assert set(result(portal, LIST, {"SELECT": ["NAME", "TEMPLATE_DATA"]})[0]) == {"NAME"}


def test_a_cursor_without_counting_gives_everything_but_robots(portal: Running) -> None:
    rows = everything(portal)
    known = truth(portal, "&visible_to=1")
    assert {row["ID"]: row | {"DOCUMENT_TYPE": row["DOCUMENT_TYPE"][-1]} for row in rows} == known
    assert {row["AUTO_EXECUTE"] for row in rows} == {"0", "1", "2", "3"}
    robots = set(truth(portal)) - {row["ID"] for row in rows}
    assert robots
    assert result(portal, LIST, {"FILTER": {"ID": list(robots)}}) == []
    assert result(portal, LIST, {"FILTER": {"AUTO_EXECUTE": 8, ">=AUTO_EXECUTE": 8}}) == []
    assert call(portal, LIST, {"start": -1}).json["total"] == 0


def test_filters_and_orders(portal: Running) -> None:
    select = ["ID", "MODULE_ID", "DOCUMENT_TYPE", "MODIFIED"]
    deals = result(portal, LIST, {"SELECT": select, "FILTER": {"MODULE_ID": "crm", "DOCUMENT_TYPE": "DEAL"}})
    assert deals
    assert {tuple(row["DOCUMENT_TYPE"]) for row in deals} == {("crm", "CCrmDocumentDeal", "DEAL")}
    newest = result(portal, LIST, {"SELECT": select, "ORDER": {"MODIFIED": "DESC"}})
    assert [row["MODIFIED"] for row in newest] == sorted((row["MODIFIED"] for row in newest), reverse=True)
    since = newest[9]["MODIFIED"]
    assert len(result(portal, LIST, {"FILTER": {">MODIFIED": since}})) == 9
    # Names in lower case are not known, and what is not known is passed over.
    assert len(result(portal, LIST, {"FILTER": {"module_id": "disk"}})) == 50


def test_administrators_only(portal: Running) -> None:
    for method in (LIST, "bizproc.workflow.instances"):
        reply = call(portal, method, user=2)
        assert (reply.status, reply.json["error"]) == (403, "ACCESS_DENIED")
    reply = call(portal, "bizproc.workflow.template.add", {"NAME": "x"})
    assert (reply.json["error"], reply.json["error_description"]) == ("ACCESS_DENIED", "Application context required")


def test_empty_maps_are_lists(portal: Running) -> None:
    for name in ("PARAMETERS", "VARIABLES", "CONSTANTS"):
        kinds = {type(row[name]) for row in everything(portal)}
        assert kinds == {list, dict}
        assert not [row for row in everything(portal) if isinstance(row[name], list) and row[name]]


def test_documents_of_all_sorts(portal: Running) -> None:
    documents = {tuple(row["DOCUMENT_TYPE"]) for row in everything(portal)}
    types = {smart.entity_type_id for smart in portal.portal.company.crm.smart_types}
    dynamic = {int(kind.removeprefix("DYNAMIC_")) for _, _, kind in documents if kind.startswith("DYNAMIC_")}
    assert types <= dynamic
    assert dynamic - types, "one that no longer exists"
    assert {("crm", "CCrmDocumentDeal", "DEAL"), ("crm", "CCrmDocumentCompany", "COMPANY")} <= documents
    assert {module for module, _, _ in documents} == {"crm", "lists", "disk"}


def test_trees_name_everything_that_exists_and_some_that_does_not(portal: Running) -> None:
    company = portal.portal.company
    text = json.dumps([row["TEMPLATE"] for row in everything(portal)], ensure_ascii=False)
    users = {int(number) for number in re.findall(r"\buser_(\d+)", text)}
    assert users & set(company.users)
    assert users - set(company.users)
    stages = set(re.findall(r'"((?:C\d+|DT\d+_\d+):[A-Z]+)"', text))
    known = {row["STATUS_ID"] for row in statuses(categories(tuple(company.crm.smart_types)))}
    assert {stage[0] for stage in stages & known} == {"C", "D"}
    assert stages - known
    codes = set(re.findall(r"UF_CRM_\d+(?:_\d+)?", text))
    fields = {field.code for items in company.crm.items.values() for field in items.fields}
    assert codes & fields
    assert codes - fields
    for sign in ("group_d", "group_dr", "group_hr", "SG", "[USER=", "{=Document:UF_CRM_", "{=Variable:", "iblock_7"):
        assert sign in text, sign
    templates = {row["ID"] for row in everything(portal)}
    called = {
        activity["Properties"]["TemplateId"]
        for row in everything(portal)
        for activity in activities(row["TEMPLATE"][0])
        if activity["Type"] == "StartWorkflowActivity"
    }
    assert called & templates
    assert called - set(truth(portal))


def test_trees_are_deep_flat_empty_and_strange(portal: Running) -> None:
    def depth(node: dict[str, Any]) -> int:
        return 1 + max(map(depth, node["Children"]), default=0)

    roots = [row["TEMPLATE"][0] for row in everything(portal)]
    depths = {depth(root) for root in roots}
    assert min(depths) == 1
    assert max(depths) > 50
    kinds = {activity["Type"] for root in roots for activity in activities(root)}
    assert {"SequentialWorkflowActivity", "StateMachineWorkflowActivity", "rest_4f1c3a9d7e"} <= kinds


def test_a_few_workflows_are_under_way(portal: Running) -> None:
    rows = result(portal, "bizproc.workflow.instances")
    assert 0 < len(rows) < 10
    assert set(rows[0]) == {"ID", "MODIFIED", "OWNED_UNTIL", "MODULE_ID", "ENTITY", "DOCUMENT_ID"}
    assert re.fullmatch(r"[0-9a-f]{14}\.\d{8}", rows[0]["ID"])
    assert [row["MODIFIED"] for row in rows] == sorted((row["MODIFIED"] for row in rows), reverse=True)
    one = result(portal, "bizproc.workflow.instances", {"SELECT": ["TEMPLATE_ID"], "FILTER": {"ID": rows[0]["ID"]}})
    assert [set(row) for row in one] == [{"TEMPLATE_ID"}]


def test_templates_come_change_and_go(small: Running) -> None:
    wish = {"stream": "workflow_templates", "op": "add", "fields": {"NAME": "Fresh", "AUTO_EXECUTE": "3"}}
    number = control(small, "mutate", wish)["ids"][0]
    control(small, "clock", {"advance": 100})
    marker = result(small, "server.time")
    control(small, "clock", {"advance": 100})
    control(small, "mutate", {"stream": "workflow_templates", "id": number, "fields": {"NAME": "Edited"}})
    changed = result(small, LIST, {"SELECT": ["ID", "NAME"], "FILTER": {">MODIFIED": marker}})
    assert {"ID": str(number), "NAME": "Edited"} in changed
    control(small, "mutate", {"stream": "workflow_templates", "op": "delete", "id": number})
    assert result(small, LIST, {"FILTER": {"ID": number}}) == []
    assert control(small, "mutate", {"stream": "workflow_templates", "id": number})["error"] == "ERROR_NOT_FOUND"


def test_a_company_without_crm_groups_or_templates_works_too() -> None:
    bare = Plan(users=2, departments=1, groups=0, smart_types=0, companies=0, contacts=0, deals=0, templates=30)
    with serve(Portal(Company(bare), clock=ManualClock())) as running:
        assert len(everything(running)) > 20
    with serve(Portal(Company(Plan(templates=0)), clock=ManualClock())) as running:
        assert call(running, LIST).json["result"] == []
        assert result(running, "bizproc.workflow.instances") == []


def test_the_same_seed_gives_the_same_templates() -> None:
    first, second = (Company(Plan(seed=9)) for _ in range(2))
    assert [first.workflows.templates.row(n) for n in first.workflows.templates] == [
        second.workflows.templates.row(n) for n in second.workflows.templates
    ]
