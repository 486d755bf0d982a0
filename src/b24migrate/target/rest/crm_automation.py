"""What the box itself does when a CRM record changes: a warning before anything is written."""

from __future__ import annotations

from b24migrate.errors import MigrationError
from b24migrate.messages import say
from b24migrate.ports import TargetCheck
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.within import beginning

LIST = "bizproc.workflow.template.list"
ON_CHANGE = 2
FIX = say("check.automation_fix")


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
    message = say("check.automation", count=len(others))
    return TargetCheck(say("doctor.name.automation"), False, message, FIX)
