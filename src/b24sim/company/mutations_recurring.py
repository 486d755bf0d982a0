"""Daily changes of schedules of recurring deals."""

from b24sim.company.mutations import CHANGED, CREATED, CREATIONS, DELETED, DELETIONS, Day
from b24sim.company.recurring import STREAM, add, delete, update


def change_schedules(day: Day) -> None:
    """The last of a day."""
    schedules = day.company.schedules
    if not schedules.table.next_id() > 1:
        return
    for number in day.some(schedules.table.ids):
        limit = str(day.chance.randrange(2, 90))
        update(day.company, day.now(), {"id": number, "fields": {"LIMIT_REPEAT": limit}})
        day.report.note(STREAM, CHANGED, number, "undated_stream")
    for _ in range(day.amount(len(schedules.table), CREATIONS)):
        (number,) = add(day.company, day.now(), {})
        day.report.note(STREAM, CREATED, number)
        day.report.note("crm_deals", CREATED, schedules.table.row(number)["DEAL_ID"])
    for number in day.some(schedules.table.ids, DELETIONS):
        deal = schedules.table.row(number)["DEAL_ID"]
        delete(day.company, day.now(), {"id": number})
        day.report.note(STREAM, DELETED, number)
        day.report.note("crm_deals", DELETED, deal)
