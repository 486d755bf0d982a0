"""The truth about what hangs on CRM records: calls, activities, comments, notes and entries of the log."""

from collections.abc import Iterator

from b24sim.portal import Portal
from b24sim.table import Row, shown


def counts(portal: Portal) -> dict[str, int]:
    company = portal.company
    found = {
        "crm_calls": len(company.activities.calls),
        "crm_activities": len(company.activities.activities),
        "crm_comments": len(company.timeline.comments),
        "crm_logs": len(company.timeline.entries),
    }
    return {name: count for name, count in found.items() if count}


def _calls(portal: Portal, _user: int | None) -> Iterator[Row]:
    table = portal.company.activities.calls
    for number in table:
        yield {"id": str(number), "fields": table.row(number)}


def _activities(portal: Portal, _user: int | None) -> Iterator[Row]:
    activities = portal.company.activities
    for number in activities.activities:
        row = activities.activities.row(number)
        more = {
            "files": row["_FILES"],
            "communications": row["_COMMUNICATIONS"],
            "bindings": activities.bindings(number),
        }
        yield {"id": str(number), "fields": shown(row) | more}


def _comments(portal: Portal, _user: int | None) -> Iterator[Row]:
    timeline = portal.company.timeline
    for number in timeline.comments:
        row = timeline.comments.row(number)
        yield {"id": str(number), "fields": shown(row) | {"files": row["_FILES"], "owners": timeline.owners(number)}}


def _notes(portal: Portal, _user: int | None) -> Iterator[Row]:
    company = portal.company
    for mark, kind, table in (("c", 1, company.timeline.comments), ("a", 2, company.activities.activities)):
        for number in table:
            if note := company.timeline.note(kind, number):
                yield {"id": f"{mark}{number}", "fields": note}


def _entries(portal: Portal, _user: int | None) -> Iterator[Row]:
    timeline = portal.company.timeline
    for number in timeline.entries:
        yield {"id": str(number), "fields": timeline.entries.row(number) | {"owner": timeline.entry_owner(number)}}


MAKERS = {
    "crm_calls": _calls,
    "crm_activities": _activities,
    "crm_comments": _comments,
    "crm_notes": _notes,
    "crm_logs": _entries,
}
