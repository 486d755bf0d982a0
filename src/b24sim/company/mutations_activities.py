"""Daily changes of calls, activities, comments, notes and entries of CRM records."""

from b24sim.company import activities_changes as changes
from b24sim.company.activities import Owner
from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, Day
from b24sim.table import Table

ACTIVITY, COMMENT, NOTE, CALL, ENTRY = "crm_activities", "crm_comments", "crm_notes", "crm_calls", "crm_logs"
MARKS = {ACTIVITY: ("a", 2), COMMENT: ("c", 1)}


def change_activities(day: Day) -> None:
    company, table = day.company, day.company.activities.activities
    if not len(table):
        return
    _tell_forgotten(day)
    for number in day.some(table.ids):
        trap = day.kind(("", "", "activity_bound"))
        if trap:
            owners = company.activities.bindings(number)
            more = _owner(day)
            if more in owners or not owners:
                continue
            changes.update_activity(company, day.now(), {"id": number, "owners": [*owners, more]})
        else:
            changes.update_activity(company, day.now(), {"id": number, "fields": {"SUBJECT": f"Дело {day.word()}"}})
        day.report.note(ACTIVITY, CHANGED, number, trap)
    for _ in range(day.amount(len(table), CREATIONS)):
        wish = {"owners": [_owner(day)], "fields": {"SUBJECT": f"Дело {day.word()}"}}
        day.report.note(ACTIVITY, CREATED, changes.add_activity(company, day.now(), wish)[0])
    for number in day.some(table.ids, DELETIONS):
        _delete(day, ACTIVITY, number)


def change_calls(day: Day) -> None:
    company, table = day.company, day.company.activities.calls
    if not len(table):
        return
    for number in day.some(table.ids) if day.wants("call_changed") else ():
        changes.update_call(company, day.now(), {"id": number, "fields": {"COMMENT": f"Оценка {day.word()}"}})
        day.report.note(CALL, CHANGED, number, "call_changed")
    for _ in range(day.amount(len(table), CREATIONS)):
        day.report.note(CALL, CREATED, changes.add_call(company, day.now(), {})[0])
    for number in day.some(table.ids, DELETIONS):
        changes.delete_call(company, day.now(), {"id": number})
        day.report.note(CALL, DELETED, number)


def change_timeline(day: Day) -> None:
    company, comments, entries = day.company, day.company.timeline.comments, day.company.timeline.entries
    for number in day.some(comments.ids) if len(comments) else ():
        wish = {"id": number, "fields": {"COMMENT": f"Правка {day.word()}"}}
        changes.update_comment(company, day.now(), wish)
        day.report.note(COMMENT, CHANGED, number, "undated_stream")
    for _ in range(day.amount(len(comments), CREATIONS) if len(comments) else 0):
        (number,) = changes.add_comment(company, day.now(), {"owners": list({_owner(day), _owner(day)})})
        day.report.note(COMMENT, CREATED, number, "undated_stream")
    for number in day.some(comments.ids, DELETIONS) if len(comments) else ():
        _delete(day, COMMENT, number)
    for number in day.some(entries.ids) if len(entries) else ():
        changes.update_entry(company, day.now(), {"id": number, "fields": {"title": f"Запись {day.word()}"}})
        day.report.note(ENTRY, CHANGED, number, "undated_stream")
    for _ in range(day.amount(len(entries), CREATIONS) if len(entries) else 0):
        (number,) = changes.add_entry(company, day.now(), {"owners": [_owner(day)]})
        day.report.note(ENTRY, CREATED, number, "undated_stream")
    for number in day.some(entries.ids, DELETIONS) if len(entries) else ():
        changes.delete_entry(company, day.now(), {"id": number})
        day.report.note(ENTRY, DELETED, number)
    _change_notes(day, ACTIVITY, company.activities.activities)
    _change_notes(day, COMMENT, comments)


def _change_notes(day: Day, stream: str, table: Table) -> None:
    timeline, (mark, kind) = day.company.timeline, MARKS[stream]
    if not timeline.has_notes:
        return
    noted = [number for number in table.ids if timeline.note(kind, number)]
    for number in day.some(noted):
        wish = {"id": f"{mark}{number}", "fields": {"text": f"Заметка {day.word()}"}}
        changes.write_note(day.company, day.now(), wish)
        day.report.note(NOTE, CHANGED, wish["id"], "undated_stream")
    free = [number for number in table.ids if not timeline.note(kind, number)]
    for number in day.some(free, CREATIONS):
        changes.write_note(day.company, day.now(), {"id": f"{mark}{number}"})
        day.report.note(NOTE, CREATED, f"{mark}{number}", "undated_stream")
    for number in day.some(noted, DELETIONS):
        changes.delete_note(day.company, day.now(), {"id": f"{mark}{number}"})
        day.report.note(NOTE, DELETED, f"{mark}{number}")


def _delete(day: Day, stream: str, number: int) -> None:
    """With the note beside it."""
    mark, kind = MARKS[stream]
    if day.company.timeline.note(kind, number):
        changes.delete_note(day.company, day.now(), {"id": f"{mark}{number}"})
        day.report.note(NOTE, DELETED, f"{mark}{number}")
    delete = changes.delete_activity if stream == ACTIVITY else changes.delete_comment
    delete(day.company, day.now(), {"id": number})
    day.report.note(stream, DELETED, number)


def _tell_forgotten(day: Day) -> None:
    """What CRM records took with them that were deleted."""
    forgotten, day.company.forgotten = day.company.forgotten, []
    for stream, done, key in forgotten:
        day.report.note(stream, done, key, "owner_deleted" if done == CHANGED else "")


def _owner(day: Day) -> Owner:
    """A record that is there."""
    crm = day.company.crm
    kinds = [kind for kind in day.company.activities.owners.kinds if len(crm.items[kind])]
    kind = day.one(kinds)
    return kind, day.one(crm.items[kind].ids)
