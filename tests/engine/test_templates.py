"""Workflow templates: every id in their trees is the target's; what stays is told by its place, and nothing starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.engine.every_stream import everything
from tests.engine.world import World

from b24migrate.entities.workflows.streams import document_type
from b24migrate.model.source_records import SourceRecord
from b24sim.company.crm_fields import CHOICE, TEXT
from b24sim.company.crm_ids import DEAL

# entries that the box has under the same names, but other codes
RENAMED = (
    ("SOURCE", "UC_MAIL", "Электронная почта"),
    ("DEAL_TYPE", "UC_SERVE", "Услуги"),
    ("CONTACT_TYPE", "UC_ALLY", "Партнёры"),
)
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
    plain_stage: str  # of the default pipeline: without a prefix
    source: str
    deal_type: str
    contact_type: str
    industry: str
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
    contact: str  # is for contacts, and makes deals
    unknown: str  # is for leads
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
        "Plain": {
            "STAGE_ID": ids.plain_stage,
            "StageId": [ids.plain_stage, "NEW", ids.plain_stage],
            "TargetStatus": ids.plain_stage,
            "SOURCE_ID": ids.source,
            "TYPE_ID": ids.deal_type,
            "INDUSTRY": ids.industry,
            "TITLE": "UC_7Q1ZP4",
        },
        "plaincondition": [["STAGE_ID", "=", ids.plain_stage, "0"], ["SOURCE_ID", "in", [ids.source, "CALL"], "0"]],
        "Later": {"STAGE_ID": "{=Variable:Stage}", "StageId": "", "SOURCE_ID": "{=Document:SOURCE_ID}", "TYPE_ID": "0"},
        "DynamicEntitiesFields": {ids.smart: {"CATEGORY_ID": ids.category, "STAGE_ID": ids.stage}, "2": {}},
        "Rows": {"128": "a number like any other"},
        "Chosen": {ids.choice: ids.option, "OPPORTUNITY": "9"},
        "TemplateId": ids.template,
        "HoldToClose": "0",
    }


def both_kinds(ids: Ids) -> list[Any]:
    values = {"Fields": {"TYPE_ID": ids.deal_type, "STAGE_ID": ids.plain_stage}}
    deal = {"Type": "CreateCrmDealDocumentActivity", "Name": "A2", "Properties": values, "Children": []}
    root = tree({"FieldValue": {"TYPE_ID": ids.contact_type}})[0]
    return [root | {"Children": [*root["Children"], deal]}]


UNKNOWN = {
    "STATUS_ID": "PREPARATION",
    "fieldcondition": [["SOURCE_ID", "=", "UC_GONE", "0"], ["HONORIFIC", "=", "HNR_RU_1", "0"]],
    "INDUSTRY": "anything",
    "EMPLOYEES": "777",
    "DynamicEntitiesFields": {"777": {"STAGE_ID": "NEW"}, "31": {}},
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
        for entity, code, name in RENAMED:
            company.crm.statuses.append(
                company.crm.statuses[0] | {"ENTITY_ID": entity, "STATUS_ID": code, "NAME": name}
            )
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
            plain_stage="UC_7Q1ZP4",
            source="UC_MAIL",
            deal_type="UC_SERVE",
            contact_type="UC_ALLY",
            industry="IT",
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
        about = {"ENTITY": "CCrmDocumentContact", "TEMPLATE": both_kinds(here)}
        about["DOCUMENT_TYPE"] = "CONTACT"
        (contact,) = made.change("workflow_templates", "add", fields=about)
        about = {"ENTITY": "CCrmDocumentLead", "DOCUMENT_TYPE": "LEAD", "TEMPLATE": tree(UNKNOWN)}
        (unknown,) = made.change("workflow_templates", "add", fields=about | {"AUTO_EXECUTE": "1"})
        made.run(*ENTITIES)
        there = as_there(made, here)
        yield Moved(made, str(first), str(first + 1), str(lost), str(contact), str(unknown), here, there)


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
        plain_stage=status(f"DEAL_STAGE:{here.plain_stage}"),
        source=status(f"SOURCE:{here.source}"),
        deal_type=status(f"DEAL_TYPE:{here.deal_type}"),
        contact_type=status(f"CONTACT_TYPE:{here.contact_type}"),
        industry=status(f"INDUSTRY:{here.industry}"),
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
        f"{within}/FieldValue": "custom field UF_CRM_GONE",
        f"{within}/FieldValue/STAGE_ID": "crm_stages DEAL_STAGE_5:C5:NEW",
        f"{within}/IBLOCK_ID": "lists 7",
        f"{within}/Chosen/{moved.here.choice}": f"option 777 of {moved.here.choice}",
    }


def test_every_template_with_such_a_place_is_switched_off_and_no_other(moved: Moved) -> None:
    unresolved = {row[0] for row in moved.made.sql("SELECT DISTINCT SourceId FROM Unresolved")}
    for row_key, payload in moved.made.sql("SELECT RowKey, Payload FROM WorkflowTemplates"):
        wanted = 0 if row_key in unresolved else int(json.loads(payload)["AUTO_EXECUTE"])
        assert moved.fields(row_key)["AUTO_EXECUTE"] == wanted


def test_which_dictionary_an_entry_is_of_depends_on_the_records_it_is_for(moved: Moved) -> None:
    assert moved.there.contact_type != moved.here.contact_type
    assert moved.fields(moved.contact)["TEMPLATE"] == both_kinds(moved.there)
    assert moved.fields(moved.contact)["DOCUMENT_TYPE"] == "CONTACT"


def test_the_box_calls_the_entries_otherwise(moved: Moved) -> None:
    there = moved.there
    assert (there.plain_stage, there.source, there.deal_type) == ("FINAL_INVOICE", "EMAIL", "SERVICES")


def test_entries_and_types_that_nobody_knows_stay_and_are_told_by_their_places(moved: Moved) -> None:
    fields = moved.fields(moved.unknown)
    assert properties_of(fields) == UNKNOWN
    assert fields["AUTO_EXECUTE"] == 0
    listed = moved.made.sql("SELECT Place, What FROM Unresolved WHERE SourceId = ?", moved.unknown)
    places: dict[str, str] = dict(listed)
    within = "TEMPLATE/0/Children/0/Properties"
    assert places == {
        f"{within}/STATUS_ID": "crm_stages STATUS:PREPARATION",
        f"{within}/fieldcondition/0/2": "crm_stages SOURCE:UC_GONE",
        f"{within}/EMPLOYEES": "crm_stages EMPLOYEES:777",
        f"{within}/DynamicEntitiesFields/777": "crm_types 777",
        f"{within}/DynamicEntitiesFields/777/STAGE_ID": "crm_stages DYNAMIC_777_STAGE:NEW",
    }


@pytest.mark.parametrize("value", ["CONTACT", ["crm", "CCrmDocumentContact", "CONTACT"]])
def test_a_document_is_told_by_its_type_or_by_all_three_parts(value: Any) -> None:
    assert document_type(SourceRecord("7", {"DOCUMENT_TYPE": value}, {})) == "CONTACT"
