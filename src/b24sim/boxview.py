"""A box as its own REST methods show it: what it had before, and what was imported since."""

from typing import Any

from b24sim.company.company import Company
from b24sim.table import Row

USER_FIELDS = ("NAME", "LAST_NAME", "EMAIL", "ACTIVE", "UF_DEPARTMENT")


def furniture(company: Company) -> dict[str, Any]:
    """The records that imports find on the box when they come."""
    if not company.plan.box:
        return {}
    users = {str(number): _as_imported(company.users.row(number)) for number in company.users}
    root = company.departments.row(company.people.departments[0])
    return {
        "existing_users": users,
        "root_department": {root["ID"]: {"NAME": root["NAME"], "PARENT": None, "SORT": root["SORT"]}},
    }


def _as_imported(row: Row) -> Row:
    fields = {name: row[name] for name in USER_FIELDS if name in row}
    return fields | {"UF_DEPARTMENT": [str(number) for number in row["UF_DEPARTMENT"]]}
