"""The dates of a project limit those of its tasks. So they are set when all tasks are there, and in a later run, which
finds them set, moved apart for a task that is outside of them; what comes last puts them back."""

from __future__ import annotations

from b24migrate.model.records import Args, Item
from b24migrate.targets.rest.box import Box

LIMITED = ("deadline", "startDatePlan", "endDatePlan")  # of a task
DATES = ("PROJECT_DATE_START", "PROJECT_DATE_FINISH")
APART = dict(zip(DATES, ("1990-01-01T00:00:00Z", "2099-12-31T00:00:00Z"), strict=True))


def move_dates_apart(box: Box, item: Item) -> bool:
    """Moves the group's dates apart if they may be the cause of a task's refusal, and returns whether it did. The
    refusal itself names the cause only in the box's language."""
    group = str(item.fields.get("groupId") or "")
    if not group or not any(item.fields.get(name) for name in LIMITED):
        return False
    about = project(box, group)
    if not any(about.get(name) for name in ("projectDateStart", "projectDateFinish")):
        return False
    box.call("sonet_group.update", {"GROUP_ID": group, **APART})
    return True


def project(box: Box, group: str) -> Args:
    asked = {"filter": {"ID": [group]}, "select": ["ID", *DATES], "params": {"IS_ADMIN": "Y"}}
    rows = box.pages("socialnetwork.api.workgroup.list", asked, "workgroups")
    return next((row for row in rows if str(row["id"]) == group), {})
