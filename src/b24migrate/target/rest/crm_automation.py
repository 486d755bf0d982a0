"""What the box itself does when a CRM record changes: a warning before anything is written."""

from __future__ import annotations

from b24migrate.errors import MigrationError
from b24migrate.ports import TargetCheck
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.within import beginning

LIST = "bizproc.workflow.template.list"
ON_CHANGE = 2
FIX = (
    "Switch their automatic start off before the run. Product rows, close dates and links are written after a record,"
    " and count as a change."
)


def examined(box: Box) -> TargetCheck | None:
    """None where none start, or the webhook may not ask. Robots are shown by no method."""
    asked = {"SELECT": ["ID", "AUTO_EXECUTE"], "FILTER": {"MODULE_ID": "crm"}}
    try:
        ours = beginning(box, "workflow_templates")
        starts = [row for row in box.pages(LIST, asked) if (spelling.whole(row.get("AUTO_EXECUTE")) or 0) & ON_CHANGE]
    except MigrationError:
        return None
    others = [row for row in starts if str(row["ID"]) not in ours]
    if not others:
        return None
    message = f"workflow templates of the box that start when a CRM record changes: {len(others)}"
    return TargetCheck("workflows on change", False, message, FIX)
