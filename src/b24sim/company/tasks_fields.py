"""The fields of a task: which there are, which are times, and the custom ones of this company."""

from functools import cache

from b24sim.company import names
from b24sim.table import Row

TIMES = (
    "CREATED_DATE", "CHANGED_DATE", "STATUS_CHANGED_DATE", "CLOSED_DATE", "ACTIVITY_DATE", "DATE_START", "DEADLINE",
    "START_DATE_PLAN", "END_DATE_PLAN",
)  # fmt: skip
# What `*` means, and what a task shows when nothing is selected: neither tags nor custom fields.
PLAIN = (
    "ID", "PARENT_ID", "TITLE", "DESCRIPTION", "MARK", "PRIORITY", "STATUS", "MULTITASK", "NOT_VIEWED",
    "REPLICATE", "STAGE_ID", "GROUP_ID", "CREATED_BY", "CREATED_DATE", "RESPONSIBLE_ID", "ACCOMPLICES", "AUDITORS",
    "CHANGED_BY", "CHANGED_DATE", "STATUS_CHANGED_BY", "STATUS_CHANGED_DATE", "CLOSED_BY", "CLOSED_DATE",
    "ACTIVITY_DATE", "DATE_START", "DEADLINE", "START_DATE_PLAN", "END_DATE_PLAN", "GUID", "XML_ID", "COMMENTS_COUNT",
    "SERVICE_COMMENTS_COUNT", "ALLOW_CHANGE_DEADLINE", "ALLOW_TIME_TRACKING", "TASK_CONTROL", "ADD_IN_REPORT",
    "TIME_ESTIMATE", "TIME_SPENT_IN_LOGS", "MATCH_WORK_TIME", "FORUM_TOPIC_ID", "FORUM_ID", "SITE_ID", "SUBORDINATE",
    "FAVORITE", "DESCRIPTION_IN_BBCODE", "CHAT_ID", "FLOW_ID",
)  # fmt: skip
# What `tasks.task.getFields` tells besides.
DESCRIBED = (
    "SPRINT_ID", "BACKLOG_ID", "NEW_COMMENTS_COUNT", "FORKED_BY_TEMPLATE_ID", "EXCHANGE_MODIFIED", "EXCHANGE_ID",
    "OUTLOOK_VERSION", "VIEWED_DATE", "SORTING", "DURATION_PLAN", "DURATION_FACT", "CHECKLIST", "DURATION_TYPE",
    "IS_MUTED", "IS_PINNED", "IS_PINNED_IN_GROUP",
)  # fmt: skip
_FLAG = {"Y": "Да", "N": "Нет"}
FLAGS = (
    "MULTITASK", "NOT_VIEWED", "REPLICATE", "ALLOW_CHANGE_DEADLINE", "ALLOW_TIME_TRACKING", "TASK_CONTROL",
    "ADD_IN_REPORT", "FORKED_BY_TEMPLATE_ID", "SUBORDINATE", "FAVORITE", "IS_MUTED", "IS_PINNED", "IS_PINNED_IN_GROUP",
)  # fmt: skip
VALUES: dict[str, Row | list[str]] = {
    **dict.fromkeys(FLAGS, _FLAG),
    "MARK": {"N": "Отрицательная", "P": "Положительная"},
    "PRIORITY": {"2": "Высокий", "1": "Средний", "0": "Низкий"},
    "STATUS": {"2": "Ждет выполнения", "3": "Выполняется", "4": "Ожидает контроля", "5": "Завершена", "6": "Отложена"},
    "DURATION_TYPE": ["secs", "mins", "hours", "days", "weeks", "monts", "years"],
}
DEFAULTS: dict[str, str | int] = {
    **{name: "N" for name in FLAGS if name not in {"SUBORDINATE", "FAVORITE"}},
    **dict.fromkeys(("PARENT_ID", "GROUP_ID", "STAGE_ID", "SPRINT_ID", "BACKLOG_ID", "FLOW_ID", "COMMENTS_COUNT"), 0),
    **dict.fromkeys(("SERVICE_COMMENTS_COUNT", "NEW_COMMENTS_COUNT"), 0),
    "PRIORITY": 1,
    "STATUS": 2,
    "DURATION_TYPE": "days",
}
REQUIRED = ("TITLE", "CREATED_BY", "RESPONSIBLE_ID")
WITHOUT_DEFAULT = (
    "DESCRIPTION", "CREATED_DATE", "ACCOMPLICES", "AUDITORS", "CHANGED_BY", "CHANGED_DATE", "STATUS_CHANGED_BY",
    "STATUS_CHANGED_DATE", "TIME_ESTIMATE", "TIME_SPENT_IN_LOGS", "MATCH_WORK_TIME", "FORUM_TOPIC_ID", "FORUM_ID",
    "SITE_ID", "VIEWED_DATE", "SORTING", "DURATION_PLAN", "DURATION_FACT", "CHECKLIST",
)  # fmt: skip
CRM, FILES, MAIL = "UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE"
# One of them selected brings all three.
SYSTEM = (CRM, FILES, MAIL)
TEXT, NUMBER, MOMENT, FLAG, WORDS = (
    "UF_AUTO_280393729397",
    "UF_AUTO_127801401239",
    "UF_TASK_REVIEW_AT",
    "UF_TASK_IS_VIP_2",
    "UF_TASK_KEY_WORDS",
)
CUSTOM = (TEXT, NUMBER, MOMENT, FLAG, WORDS)
CUSTOM_TIMES = (MOMENT,)

_KINDS: tuple[tuple[str, str, str, Row | list[str], str, str], ...] = (
    (CRM, "crm", "Y", {"LEAD": "Y", "CONTACT": "Y", "COMPANY": "Y", "DEAL": "Y"}, "CRM", "CRM"),
    (FILES, "disk_file", "Y", {"IBLOCK_ID": 0, "SECTION_ID": 0, "UF_TO_SAVE_ALLOW_EDIT": ""}, "Файлы", "Files"),
    (MAIL, "mail_message", "N", [], "Письмо", "Mail message"),
    (TEXT, "string", "N", {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Объект", "Site"),
    (NUMBER, "double", "N", {"PRECISION": 2, "SIZE": 20, "DEFAULT_VALUE": ""}, "Бюджет", "Budget"),
    (MOMENT, "datetime", "N", {"DEFAULT_VALUE": {"TYPE": "NONE", "VALUE": ""}}, "Проверить", "Review at"),
    (FLAG, "boolean", "N", {"DEFAULT_VALUE": 0, "DISPLAY": "CHECKBOX"}, "VIP", "VIP"),
    (WORDS, "string", "Y", {"SIZE": 20, "ROWS": 1, "REGEXP": "", "DEFAULT_VALUE": ""}, "Ключевые слова", "Key words"),
)


@cache
def camel(name: str) -> str:
    """`UF_AUTO_127801401239` becomes `ufAuto127801401239`, and there is no way back."""
    first, *rest = name.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def user_fields() -> list[Row]:
    """The rows of `task.item.userfield.getlist`: three of every portal, then the company's own."""
    return [
        {
            "ID": str(41 + 7 * place), "ENTITY_ID": "TASKS_TASK", "FIELD_NAME": code, "USER_TYPE_ID": kind,
            "XML_ID": None if place > 2 else code, "SORT": str(100 * (place + 1)), "MULTIPLE": multiple,
            "MANDATORY": "N", "SHOW_FILTER": "N", "SHOW_IN_LIST": "N" if place < 3 else "Y", "EDIT_IN_LIST": "Y",
            "IS_SEARCHABLE": "N", "SETTINGS": settings, "_LABELS": names.labels(russian, english),
        }
        for place, (code, kind, multiple, settings, russian, english) in enumerate(_KINDS)
    ]  # fmt: skip
