"""Templates appear, change and go."""

from typing import Any

from b24sim.company.company import Company
from b24sim.errors import known_number
from b24sim.table import Row

EMPTY = {"Type": "SequentialWorkflowActivity", "Name": "Template", "Properties": {"Title": ""}, "Children": []}


def add_template(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    templates = company.workflows.templates
    number = int(wish.get("id") or templates.next_id())
    row: Row = {
        "ID": str(number), "MODULE_ID": "crm", "ENTITY": "CCrmDocumentDeal", "DOCUMENT_TYPE": "DEAL",
        "AUTO_EXECUTE": "0", "NAME": f"Новый шаблон {number}", "DESCRIPTION": "", "TEMPLATE": [EMPTY],
        "PARAMETERS": [], "VARIABLES": [], "CONSTANTS": [], "MODIFIED": company.moments.iso(now), "IS_MODIFIED": "N",
        "USER_ID": "1", "SYSTEM_CODE": "",
    }  # fmt: skip
    templates.put(number, row | wish.get("fields", {}))
    return [number]


def update_template(company: Company, now: float, wish: dict[str, Any]) -> list[int]:
    templates, number = company.workflows.templates, known_number(company.workflows.templates, wish)
    changed = {"MODIFIED": company.moments.iso(now), "IS_MODIFIED": "Y"}
    templates.put(number, templates.row(number) | changed | wish.get("fields", {}))
    return [number]


def delete_template(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """Others that start it keep naming it."""
    number = known_number(company.workflows.templates, wish)
    company.workflows.templates.remove(number)
    return [number]


WORKFLOW_CHANGES = {
    ("workflow_templates", "add"): add_template,
    ("workflow_templates", "update"): update_template,
    ("workflow_templates", "delete"): delete_template,
}
