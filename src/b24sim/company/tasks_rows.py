"""Tasks as rows: everything a method may show of one, with times as numbers, made from its place."""

import uuid
from typing import TYPE_CHECKING, Any

from b24sim.company import tasks_fields as fields
from b24sim.company import tasks_texts as texts
from b24sim.company.attachments import Family, attachment_id, own_object
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, SMART_INVOICE, STEP, CrmIds, binding
from b24sim.company.plan import ANCHOR, DAY
from b24sim.company.tasks_comments import Where, comment_at, talk_of
from b24sim.company.tasks_crew import created_at, crew_of, group_of, luck_of, parent_of, task_id
from b24sim.table import Row

if TYPE_CHECKING:
    from b24sim.company.company import Company

MOST_FILES = 4
DONE = 5
STATUSES = (2, 2, 3, 4, 5, 5, 5, 6, 7)
OVERDUE = -1


def files_of(company: "Company", place: int) -> int:
    """How many files hang on the task itself; the first task has one that others have too."""
    return 1 if place == 0 else (0, 0, 1, 0, 2, 3)[luck_of(company, "task files", place) % 6]


def attachment_of(place: int, number: int) -> int:
    return attachment_id(Family.TASK, MOST_FILES * place + number)


def object_of(company: "Company", place: int, number: int) -> int:
    """Mostly a file of its own; now and then that of the first task, or one that was sent to a chat."""
    luck = luck_of(company, "task object", MOST_FILES * place + number)
    if place and luck % 7 == 2:
        return own_object(attachment_of(0, 0))
    if place and luck % 7 == 5 and company.correspondence.files:
        return company.correspondence.some_file(luck)
    return own_object(attachment_of(place, number))


def task_row(company: "Company", groups: tuple[int, ...], crm: CrmIds, place: int) -> Row:
    luck, crew, talk = luck_of(company, "task", place), crew_of(company, place), talk_of(company, place)
    made, status = created_at(company, place), STATUSES[luck % len(STATUSES)]
    changed = made + 3600 + luck % (2 * DAY)
    closed = changed if status == DONE else None
    deadline = made + (luck >> 5) % (60 * DAY) if luck % 3 else None
    last_said = comment_at(company, place, talk, talk.count - 1) + 2 if talk.count else changed
    parent = parent_of(company, place)
    row: Row = {
        "ID": str(task_id(company, place)),
        # A root has 0 or nothing.
        "PARENT_ID": str(parent) if parent or luck % 2 else None,
        "TITLE": f"{texts.TITLES[luck % len(texts.TITLES)]} {place}",
        "DESCRIPTION": _description(company, groups, crm, place, luck), "DESCRIPTION_IN_BBCODE": "Y",
        "MARK": (None, "P", "N")[luck % 3], "PRIORITY": str((luck >> 7) % 3), "STATUS": str(status),
        "MULTITASK": "N", "NOT_VIEWED": "N", "REPLICATE": "N", "STAGE_ID": str((luck >> 3) % 40),
        "GROUP_ID": str(group_of(company, groups, place)),
        "CREATED_BY": str(crew.creator), "CREATED_DATE": made, "RESPONSIBLE_ID": str(crew.responsible),
        "ACCOMPLICES": [str(user) for user in crew.accomplices], "AUDITORS": [str(user) for user in crew.auditors],
        "CHANGED_BY": str(crew.creator), "CHANGED_DATE": changed,
        "STATUS_CHANGED_BY": str(crew.responsible), "STATUS_CHANGED_DATE": changed,
        "CLOSED_BY": str(crew.responsible) if closed else ("0", None)[luck % 2], "CLOSED_DATE": closed,
        "ACTIVITY_DATE": max(changed, last_said),
        "DATE_START": changed if status in {3, 4} else None, "DEADLINE": deadline,
        "START_DATE_PLAN": made + DAY if luck % 5 == 0 else None,
        "END_DATE_PLAN": made + 8 * DAY if luck % 5 == 0 else None,
        "GUID": f"{{{uuid.UUID(int=luck << 64 | luck)}}}", "XML_ID": None,
        "COMMENTS_COUNT": str(0 if talk.where is Where.CHAT and place % 33 == 30 else talk.count),
        "SERVICE_COMMENTS_COUNT": "0",
        "ALLOW_CHANGE_DEADLINE": "N", "ALLOW_TIME_TRACKING": "N", "TASK_CONTROL": "Y" if luck % 4 == 0 else "N",
        "ADD_IN_REPORT": "N", "TIME_ESTIMATE": str(3600 * (luck % 9) if luck % 4 == 1 else 0),
        "TIME_SPENT_IN_LOGS": None, "MATCH_WORK_TIME": "N",
        "FORUM_TOPIC_ID": str(700 + place) if talk.old else None, "FORUM_ID": "8" if talk.old else None,
        "SITE_ID": "s1", "SUBORDINATE": "N", "FAVORITE": "N", "CHAT_ID": None, "FLOW_ID": None,
        "_TAGS": [texts.TAGS[(luck + step) % len(texts.TAGS)] for step in range((0, 0, 1, 3)[luck % 4])],
    }  # fmt: skip
    row |= {fields.CRM: _crm_links(crm, place, luck), fields.FILES: _files(company, place), fields.MAIL: None}
    return row | _custom(luck, place, made)


def derived(row: Row) -> Row:
    """What filters look at beside the fields themselves; STATUS there means the status a person sees."""
    late = row["DEADLINE"] is not None and row["DEADLINE"] < ANCHOR and row["STATUS"] in {"2", "3"}
    return row | {
        "_STATUS": str(OVERDUE) if late else row["STATUS"], "_REAL_STATUS": row["STATUS"],
        "_PARENT_ID": row["PARENT_ID"] or "0", "_TAG": row["_TAGS"],
        "_ACCOMPLICE": row["ACCOMPLICES"], "_AUDITOR": row["AUDITORS"],
    }  # fmt: skip


def _files(company: "Company", place: int) -> Any:
    """Four spellings: false, nothing, numbers, and numbers behind an n."""
    numbers = [attachment_of(place, number) for number in range(files_of(company, place))]
    if not numbers:
        return False if place % 2 else []
    return [f"n{number}" for number in numbers] if place % 8 == 5 else numbers


def _crm_links(crm: CrmIds, place: int, luck: int) -> list[str] | bool:
    """Some of the records are deleted: every tenth id of the CRM is."""
    if luck % 3 == 1:
        return False if place % 2 else []
    links = [binding(kind, ids[luck % len(ids)]) for kind in (DEAL, CONTACT, COMPANY) if (ids := crm.item_ids(kind))]
    links = links[: 1 + luck % 3]
    if luck % 4 == 0 and crm.smart_types and crm.smart_item_ids:
        smart = crm.smart_types[luck % len(crm.smart_types)]
        links.append(binding(smart.entity_type_id, crm.smart_item_ids[luck % len(crm.smart_item_ids)]))
    if place % 10 == 6:
        links.append(binding(DEAL, STEP * (1 + luck % 5)))
    if place % 15 == 8:
        links += [binding(LEAD, 1 + luck % 90), binding(SMART_INVOICE, 2 + luck % 9)]
    return links


def _custom(luck: int, place: int, made: float) -> Row:
    if luck % 3 == 0:
        return {fields.TEXT: None, fields.NUMBER: None, fields.MOMENT: None, fields.FLAG: "0", fields.WORDS: False}
    return {
        fields.TEXT: f"Объект №{place} <b>&</b>", fields.NUMBER: f"{luck % 10_000}.25", fields.MOMENT: made + 5 * DAY,
        fields.FLAG: str(luck % 2), fields.WORDS: ["альфа", "beta, gamma"][: 1 + luck % 2],
    }  # fmt: skip


def _description(company: "Company", groups: tuple[int, ...], crm: CrmIds, place: int, luck: int) -> str:
    other = task_id(company, (luck >> 11) % company.plan.task_count)
    user = crew_of(company, place).creator
    parts = [f"Текст задачи [B]№{place}[/B] & 'условия'"]
    if luck % 4 == 0:
        parts.append(texts.MENTION.format(user=user))
    if luck % 4 == 1:
        parts.append(texts.TASK_LINK.format(portal=company.portal_url, user=user, task=other))
    if luck % 4 == 2 and groups:
        parts.append(texts.GROUP_LINK.format(group=groups[luck % len(groups)], task=other))
    if luck % 6 == 5:
        deals = crm.deal_ids or [STEP]
        parts.append(texts.DEAL_LINK.format(portal=company.portal_url, deal=deals[luck % len(deals)]))
    if files_of(company, place):
        inline = f"n{object_of(company, place, 0)}" if luck % 2 else attachment_of(place, 0)
        parts.append(texts.ATTACHED.format(attachment=inline))
    parts += [texts.EMOJI] * (luck % 9 == 8) + [texts.LONG] * (place == 5)
    return "\n".join(parts) if place % 14 != 12 else ""
