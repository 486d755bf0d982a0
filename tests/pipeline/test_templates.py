"""Workflow templates: every id in their trees is the target's; what stays is told by its place, and nothing starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.pipeline.every import everything
from tests.pipeline.world import World

from b24sim.company.crm_fields import CHOICE, TEXT
from b24sim.company.crm_ids import DEAL

ENTITIES = (
    "users",
    "groups",
    "crm_structure",
    "crm_companies",
    "crm_contacts",
    "crm_deals",
    "crm_spitems",
    "workflows",
)


@dataclass(frozen=True)
class Ids:
    """What the templates name: as the source calls it, and as the target does."""

    user: str
    department: str
    group: str
    deal: str
    smart: str
    category: str
    stage: str
    deal_stage: str
    field: str
    choice: str
    option: str
    pipeline: str
    template: str


@dataclass(frozen=True)
class Moved:
    made: World
    first: str  # starts the second
    second: str
    lost: str
    here: Ids
    there: Ids

    def fields(self, template: str) -> dict[str, Any]:
        found = self.made.imported("workflow_templates")[f"source:workflow_templates:{template}"]["fields"]
        assert isinstance(found, dict)
        return found


def steps(ids: Ids) -> dict[str, Any]:
    """Ids of every kind, wherever they may stand."""
    return {
        "people": [f"user_{ids.user}", f"group_d{ids.department}", f"group_hrr{ids.department}", "author"],
        "groups": [f"SG{ids.group}_K", f"group_sg{ids.group}_a", "group_g1"],
        "text": f"[USER={ids.user}]X[/USER] {{=Document:{ids.field}}} {ids.deal_stage}!",
        "FieldValue": {
            "STAGE_ID": ids.deal_stage,
            ids.field: "№1",
            f"PARENT_ID_{ids.smart}": "{=Variable:Parent}",
            "ASSIGNED_BY_ID": [f"user_{ids.user}"],
        },
        "Created": {
            "DynamicTypeId": ids.smart,
            "entityTypeId": int(ids.smart),
            "Fields": {"CATEGORY_ID": ids.category, "STAGE_ID": ids.stage},
            "DocumentType": ["crm", "Dynamic", f"DYNAMIC_{ids.smart}"],
        },
        "Fields": {"GROUP_ID": ids.group, "RESPONSIBLE_ID": ids.user, "UF_CRM_TASK": [f"D_{ids.deal}"], "TITLE": "12"},
        "fieldcondition": [
            ["CATEGORY_ID", "=", ids.pipeline, "0"],
            ["STAGE_ID", "=", ids.deal_stage, "0"],
            [ids.choice, "in", [ids.option], "0"],
            ["OPPORTUNITY", ">", "9", "1"],
        ],
        "Chosen": {ids.choice: ids.option, "OPPORTUNITY": "9"},
        "TemplateId": ids.template,
        "HoldToClose": "0",
    }


def tree(properties: dict[str, Any]) -> list[Any]:
    step = {"Type": "SetFieldActivity", "Name": "A1", "Properties": properties, "Children": []}
    return [{"Type": "SequentialWorkflowActivity", "Name": "T", "Properties": {}, "Children": [step]}]


def properties_of(fields: dict[str, Any]) -> dict[str, Any]:
    found = fields["TEMPLATE"][0]["Children"][0]["Properties"]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    with everything(tmp_path_factory.mktemp("templates")) as made:
        company = made.cloud.portal.company
        smart = company.crm.smart_types[0].entity_type_id
        pipeline = next(one.id for one in company.crm.categories if one.entity_type_id == smart)
        fields = company.crm.items[DEAL].fields
        first = company.workflows.templates.next_id()
        here = Ids(
            user=str(company.users.ids[2]),
            department=str(company.departments.ids[1]),
            group=str(company.groups.ids[1]),
            deal=str(next(iter(company.crm.items[DEAL]))),
            smart=str(smart),
            category=str(pipeline),
            stage=f"DT{smart}_{pipeline}:CLIENT",
            deal_stage="C9:PREPARATION",
            field=fields[TEXT].code,
            choice=fields[CHOICE].code,
            option=str(fields[CHOICE].options[0][0]),
            pipeline="9",
            template=str(first + 1),
        )
        made.change("workflow_templates", "add", id=first, fields={"TEMPLATE": tree(steps(here)), "AUTO_EXECUTE": "3"})
        back = tree({"TemplateId": str(first)})
        made.change("workflow_templates", "add", id=first + 1, fields={"TEMPLATE": back, "AUTO_EXECUTE": "1"})
        gone = {"who": ["user_777"], "FieldValue": {"UF_CRM_GONE": 1, "STAGE_ID": "C5:NEW"}, "IBLOCK_ID": "7"}
        gone |= {"Chosen": {here.choice: "777"}}
        (lost,) = made.change("workflow_templates", "add", fields={"TEMPLATE": tree(gone), "AUTO_EXECUTE": "1"})
        made.run(*ENTITIES)
        yield Moved(made, str(first), str(first + 1), str(lost), here, as_there(made, here))


def as_there(made: World, here: Ids) -> Ids:
    def target(table: str, row_key: str) -> str:
        return str(made.records(table)[row_key]["TargetId"])

    def status(row_key: str) -> str:
        return str(made.imported("crm_stages")[f"source:crm_stages:{row_key}"]["fields"]["STATUS_ID"])

    ((smart,),) = made.sql(
        "SELECT TargetId FROM CrmTypes WHERE json_extract(CAST(Payload AS TEXT), '$.entityTypeId') = ?", int(here.smart)
    )
    fields = {
        key: (field, json.loads(options))
        for key, field, options in made.sql("SELECT RowKey, TargetField, Options FROM FieldMap")
    }
    choice, options = fields[f"crm_deals:{here.choice}"]
    return Ids(
        user=target("Users", here.user),
        department=target("Departments", here.department),
        group=target("Groups", here.group),
        deal=target("CrmDeals", here.deal),
        smart=smart,
        category=target("CrmCategories", f"{here.smart}:{here.category}"),
        stage=status(f"DYNAMIC_{here.smart}_STAGE_{here.category}:{here.stage}"),
        deal_stage=status(f"DEAL_STAGE_9:{here.deal_stage}"),
        field=fields[f"crm_deals:{here.field}"][0],
        choice=choice,
        option=options[here.option],
        pipeline=target("CrmCategories", f"2:{here.pipeline}"),
        template=target("WorkflowTemplates", here.template),
    )


def test_ids_of_every_kind_are_rewritten_wherever_they_stand(moved: Moved) -> None:
    there = properties_of(moved.fields(moved.first))
    wanted = steps(moved.there)
    for name, value in wanted.items():
        assert there[name] == value, name
    assert there == wanted


def test_nothing_else_is_touched(moved: Moved) -> None:
    fields = moved.fields(moved.first)
    assert fields["TEMPLATE"][0]["Type"] == "SequentialWorkflowActivity"
    assert moved.made.sql("SELECT * FROM Unresolved WHERE SourceId = ?", moved.first) == []


def test_templates_that_start_one_another_are_switched_on_in_the_second_pass(moved: Moved) -> None:
    rows = moved.made.imported("workflow_templates")
    both = [rows[f"source:workflow_templates:{one}"] for one in (moved.first, moved.second)]
    assert [row["fields"]["AUTO_EXECUTE"] for row in both] == [3, 1]
    assert properties_of(both[1]["fields"])["TemplateId"] == both[0]["id"]
    assert {row["created_count"] for row in both} == {1}
    assert sum(row["updated_count"] for row in both) > 0


def test_a_template_that_names_what_is_gone_is_switched_off(moved: Moved) -> None:
    fields = moved.fields(moved.lost)
    assert fields["AUTO_EXECUTE"] == 0
    kept = {"who": ["user_777"], "FieldValue": {"UF_CRM_GONE": 1, "STAGE_ID": "C5:NEW"}, "IBLOCK_ID": "7"}
    kept |= {"Chosen": {moved.there.choice: "777"}}
    assert properties_of(fields) == kept


def test_what_stays_is_told_by_its_place(moved: Moved) -> None:
    places: dict[str, str] = dict(moved.made.sql("SELECT Place, What FROM Unresolved WHERE SourceId = ?", moved.lost))
    within = "TEMPLATE/0/Children/0/Properties"
    assert places == {
        f"{within}/who/0": "users 777",
        f"{within}/FieldValue": "the custom field UF_CRM_GONE",
        f"{within}/FieldValue/STAGE_ID": "crm_stages DEAL_STAGE_5:C5:NEW",
        f"{within}/IBLOCK_ID": "lists 7",
        f"{within}/Chosen/{moved.here.choice}": f"the option 777 of {moved.here.choice}",
    }


def test_every_template_with_such_a_place_is_switched_off_and_no_other(moved: Moved) -> None:
    unresolved = {row[0] for row in moved.made.sql("SELECT DISTINCT SourceId FROM Unresolved")}
    for row_key, payload in moved.made.sql("SELECT RowKey, Payload FROM WorkflowTemplates"):
        wanted = 0 if row_key in unresolved else int(json.loads(payload)["AUTO_EXECUTE"])
        assert moved.fields(row_key)["AUTO_EXECUTE"] == wanted
