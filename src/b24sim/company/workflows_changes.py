"""Templates appear, change and go."""

from typing import Any

from b24sim.company.company import Company
from b24sim.errors import RestError
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
    templates, number = company.workflows.templates, _known(company, wish)
    changed = {"MODIFIED": company.moments.iso(now), "IS_MODIFIED": "Y"}
    templates.put(number, templates.row(number) | changed | wish.get("fields", {}))
    return [number]


def delete_template(company: Company, _now: float, wish: dict[str, Any]) -> list[int]:
    """Others that start it keep naming it."""
    number = _known(company, wish)
    company.workflows.templates.remove(number)
    return [number]


def _known(company: Company, wish: dict[str, Any]) -> int:
    number = int(wish.get("id", 0))
    if number not in company.workflows.templates:
        raise RestError("ERROR_NOT_FOUND", f"no template {number}", 404)
    return number


WORKFLOW_CHANGES = {
    ("workflow_templates", "add"): add_template,
    ("workflow_templates", "update"): update_template,
    ("workflow_templates", "delete"): delete_template,
}
