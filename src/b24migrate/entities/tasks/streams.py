"""Tasks with their checklists and comments, wherever the portal keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from b24migrate.entities import probes
from b24migrate.entities.attachments import (
    drive_refs,
    refs_of,
    resolve_attachments,
    resolve_attachments_again,
    resolve_rows,
)
from b24migrate.entities.codes import OWNER_STREAMS, crm_link
from b24migrate.entities.custom_fields import task_fields
from b24migrate.entities.readers import fetch_either, fetch_one_by_one, fetch_together, mark_unread
from b24migrate.entities.tasks.comments import (
    find_unseen_comments,
    is_open,
    task_comments,
    with_chats,
)
from b24migrate.entities.unseen import UNSEEN_VERSIONS
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.answers import unexpected_answer
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Resolve, Take, flags, texts, times, wholes
from b24migrate.model.readings import Again, Enrichment, Keyset, Listing, Parents, PerParent, Sweep, Whole
from b24migrate.model.records import Json, Row, Table
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import ChangeRules, CustomFields, CustomValues, Entity, Mention, Stream, Written
from b24migrate.model.values import objects, reference
from b24migrate.ports import Command, Source

MODERN = "tasks.task.list"
OLDER = "task.item.list"
COLUMNS = [
    "ID",
    "TITLE",
    "DESCRIPTION",
    "STATUS",
    "PRIORITY",
    "MARK",
    "CREATED_BY",
    "RESPONSIBLE_ID",
    "CHANGED_BY",
    "CLOSED_BY",
    "ACCOMPLICES",
    "AUDITORS",
    "GROUP_ID",
    "PARENT_ID",
    "CREATED_DATE",
    "CHANGED_DATE",
    "ACTIVITY_DATE",
    "CLOSED_DATE",
    "DATE_START",
    "DEADLINE",
    "START_DATE_PLAN",
    "END_DATE_PLAN",
    "TIME_ESTIMATE",
    "ALLOW_TIME_TRACKING",
    "TASK_CONTROL",
    "MATCH_WORK_TIME",
    "FORUM_TOPIC_ID",
    "COMMENTS_COUNT",
    "SERVICE_COMMENTS_COUNT",
    "CHAT_ID",
    "XML_ID",
]
# Computed ones come only when they are named; of the last two either brings both. `CHECKLIST` is among the fields that
# one may select (tasks/fields.md), but no example of a list has it.
SELECT = ["*", *COLUMNS, "TAGS", "CHECKLIST", "UF_CRM_TASK", "UF_TASK_WEBDAV_FILES"]
# Of every task, in a delta pass: neither date moves with everything. A date may be set to an earlier time, a deleted
# task comes back with its old dates, and a subtask loses its deleted parent without a date (kernel tasks 25.100). What
# a message in the chat of a task moves is not documented.
SWEEP = Sweep(
    {
        "select": [
            "ID",
            "CHANGED_DATE",
            "ACTIVITY_DATE",
            "COMMENTS_COUNT",
            "SERVICE_COMMENTS_COUNT",
            "CHAT_ID",
            "STATUS",
            "PARENT_ID",
            "GROUP_ID",
        ]
    },
    (
        "changedDate",
        "activityDate",
        "commentsCount",
        "serviceCommentsCount",
        "chatId",
        "status",
        "parentId",
        "groupId",
    ),
    time="changedDate",
)
# Request names are upper-case, the answer's are not: a lower-case filter is ignored without a word.
BY_ID = Keyset("filter", "ID", {"order": {"ID": "asc"}}, {"order": {"ID": "desc"}})
# The older method takes its parameters by position: ORDER, FILTER, PARAMS, SELECT.
OLD_BY_ID = Keyset("FILTER", "ID", {"ORDER": {"ID": "asc"}}, {"ORDER": {"ID": "desc"}})
OLD = {"ORDER": {"ID": "asc"}, "FILTER": {}, "PARAMS": {"NAV_PARAMS": {"nPageSize": 50}}, "SELECT": SELECT}
# Fields that change without an edit of the task, or belong to other records.
VOLATILE = frozenset(
    {
        "subStatus",
        "activityDate",
        "viewedDate",
        "commentsCount",
        "serviceCommentsCount",
        "newCommentsCount",
        "favorite",
        "isMuted",
        "isPinned",
        "isPinnedInGroup",
        "notViewed",
        "durationFact",
        "timeSpentInLogs",
        "group",
        "creator",
        "responsible",
        "accomplicesData",
        "auditorsData",
        "action",
        "checklist",
        "checkListTree",
        "statusComplete",
        "exchangeId",
        "exchangeModified",
        "outlookVersion",
        "sorting",
    }
)


# ---------------------------------------------------------------- tasks


def camel(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """A row of `task.item.list` under the names of `tasks.task.list`."""
    if "ID" not in payload or "id" in payload:
        return payload
    return {camel_name(name): value for name, value in payload.items()}


def camel_name(name: str) -> str:
    if name.startswith("UF_") and name not in ("UF_CRM_TASK", "UF_TASK_WEBDAV_FILES", "UF_MAIL_MESSAGE"):
        return name
    first, *others = name.lower().split("_")
    return "status" if name == "REAL_STATUS" else first + "".join(part.capitalize() for part in others)


def as_list(value: Json) -> list[Json]:
    """A list in any of PHP's spellings."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def take_from_task(name: str) -> Take:
    """From the task itself; a row of the older listing has it from another method."""
    return lambda record: record.payload.get(name, record.extras.get(name, ABSENT))


def tags(record: SourceRecord) -> Json:
    listed = take_from_task("tags")(record)
    if listed is ABSENT:
        return ABSENT
    return [str(one.get("title") if isinstance(one, dict) else one) for one in as_list(listed)]


def whole_tasks(source: Source, rows: Sequence[Row]) -> list[Row]:
    """The older listing has no tags and no participants and, by the documentation, no chat."""
    answers = source.batch([Command("task.item.getdata", {"TASKID": row.source_id}) for row in rows])
    known = []
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer.error, Permanent):
            known.append(mark_unread(row, say("part.tags"), answer.error))
            continue
        details = answer.decode()
        if not isinstance(details, dict):
            known.append(mark_unread(row, say("part.tags"), unexpected_answer("task.item.getdata", ())))
            continue
        details = camel(details)
        more = {name: as_list(details[name]) for name in ("tags", "accomplices", "auditors") if name in details}
        known.append(row._replace(extras={**(row.extras or {}), **more}))
    return resolve_rows(source, with_chats(source, known), attachments)


def attachments(payload: Mapping[str, Json]) -> list[str]:
    """Numbers, or numbers with an `n` before them."""
    ids = (str(one).removeprefix("n") for one in as_list(camel(payload).get("ufTaskWebdavFiles")))
    return [one for one in ids if one.isdecimal()]


def file_keys(record: SourceRecord) -> Json:
    if "ufTaskWebdavFiles" not in record.payload:
        return ABSENT
    known = {name: str(one["key"]) for name, one in (record.extras.get("attached") or {}).items()}
    return [known.get(one, f"attached:{one}") for one in attachments(record.payload)]


tasks = Stream(
    name="tasks",
    table=Table("Tasks", "tasks"),
    read=(
        Listing(
            OLDER,
            OLD_BY_ID,
            params=OLD,
            without=MODERN,
            enrich=Enrichment(whole_tasks, "task", at_once=lambda _: 500),
            select="SELECT",
        ),
        Listing(
            MODERN,
            BY_ID,
            params={"select": SELECT},
            items=("tasks",),
            id="id",
            enrich=Enrichment(
                resolve_attachments(attachments), "disk", again=resolve_attachments_again(attachments, "tasks")
            ),
            select="select",
            sweep=SWEEP,
        ),
    ),
    batch=20,
    fields=(
        *texts("title"),
        Field("description", Kind.RICH),
        *texts("status", "priority"),
        *texts("mark", "xmlId", beyond=True),
        person("createdBy", Policy.PLACEHOLDER),
        person("responsibleId", Policy.PLACEHOLDER),
        person("changedBy"),
        person("closedBy"),
        Field("accomplices", Kind.REFS, take=take_from_task("accomplices"), to="users"),
        Field("auditors", Kind.REFS, take=take_from_task("auditors"), to="users"),
        Field("groupId", Kind.REF, to="groups", policy=Policy.REQUIRE),
        Field("parentId", Kind.REF, to="tasks", waits=True),
        *times("createdDate", "changedDate", "closedDate", "dateStart", "deadline", "startDatePlan", "endDatePlan"),
        *wholes("timeEstimate"),
        *flags("allowTimeTracking", "taskControl", "matchWorkTime", beyond=True),
        Field("tags", Kind.AS_IS, take=tags),
        Field(
            "ufCrmTask",
            Kind.CODED,
            take=lambda record: as_list(record.payload["ufCrmTask"]) if "ufCrmTask" in record.payload else ABSENT,
            code=crm_link,
            names=OWNER_STREAMS,
            policy=Policy.EXISTING,
        ),
        Field("ufTaskWebdavFiles", Kind.FILES, take=file_keys),
    ),
    stamp="createdDate",
    changes=ChangeRules(whole_payload=True, volatile=VOLATILE, noted_in=frozenset({"changedDate", "changedBy"})),
    written=(Written("createdBy", "createdDate"), Written("changedBy", "changedDate")),
    view=camel,
    files=refs_of,
    fetch=fetch_either(
        # The filter takes a list of ids (kernel tasks 25.100); the documentation shows none (tasks/tasks-task-list.md).
        fetch_together(
            MODERN,
            lambda ids: {"filter": {"ID": ids}, "select": SELECT, **BY_ID.ascending, "start": -1},
            items=("tasks",),
            id_field="id",
            select="select",
        ),
        fetch_one_by_one(OLDER, lambda source_id: {**OLD, "FILTER": {"ID": source_id}}, select="SELECT"),
    ),
    mentions=(
        Mention(r"/company/personal/user/(\d+)/tasks/task/view/(\d+)", link=True, ids=("users", "tasks")),
        Mention(r"/workgroups/group/(\d+)/tasks/task/view/(\d+)", link=True, ids=("groups", "tasks")),
    ),
    custom=CustomValues(("UF_", "uf")),
    covered=("ufCrmTask",),
    unseen=(UNSEEN_VERSIONS,),
)


# ---------------------------------------------------------------- checklists


def parent_item(record: SourceRecord) -> Json:
    """The item it lies under; the checklists themselves lie under none."""
    return (
        None if str(record.payload.get("PARENT_ID") or 0) == "0" else f"{record.parent}:{record.payload['PARENT_ID']}"
    )


def member(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    (one,) = objects([value])
    return {"ID": resolve("users", reference(one.get("ID")) or ""), "TYPE": one.get("TYPE")}


def has_checklist(task: SourceRecord) -> bool | None:
    listed = task.payload.get("checklist")
    return bool(listed) if isinstance(listed, list | dict) else None


def drop_changing_names(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Of members and files only who and which they are: names and links change without an edit."""
    people = [(str(one.get("ID")), one.get("TYPE")) for one in objects(payload.get("MEMBERS"))]
    return {**payload, "MEMBERS": people, "ATTACHMENTS": [ref.key for ref in drive_refs(payload.get("ATTACHMENTS"))]}


def files_of_item(record: SourceRecord) -> Iterable[FileRef]:
    return drive_refs(record.payload.get("ATTACHMENTS"))


task_checklists = Stream(
    name="task_checklists",
    table=Table("TaskChecklists", "task_checklists"),
    read=(
        PerParent(
            of="tasks",
            method="task.checklistitem.getlist",
            params=lambda task: {"TASKID": task.id, "ORDER": {"ID": "asc"}},
            paging=Whole(),
            id="ID",
            parents=Parents(has_any=has_checklist),
            again=Again(("changedDate", "activityDate", "status"), is_open),
        ),
    ),
    batch=50,
    batch_option="batch_checklists",
    fields=(
        Field("TASK_ID", Kind.REF, take=lambda record: record.parent, to="tasks", policy=Policy.REQUIRE),
        Field("PARENT_ID", Kind.REF, take=parent_item, to="task_checklists", policy=Policy.EXISTING),
        Field("TITLE", Kind.RICH),
        *wholes("SORT_INDEX"),
        *flags("IS_COMPLETE", "IS_IMPORTANT"),
        person("CREATED_BY", Policy.PLACEHOLDER),
        person("TOGGLED_BY"),
        *times("TOGGLED_DATE"),
        Field(
            "MEMBERS",
            Kind.CODED,
            take=lambda record: as_list(record.payload.get("MEMBERS")),
            code=member,
            names=("users",),
        ),
        Field("ATTACHMENTS", Kind.FILES, take=lambda record: [ref.key for ref in files_of_item(record)], beyond=True),
    ),
    changes=ChangeRules(whole_payload=True, lasting=drop_changing_names),
    written=(Written("TOGGLED_BY", "TOGGLED_DATE"),),
    files=files_of_item,
    unseen=(say("delta.unseen.checklists"), UNSEEN_VERSIONS),
)


ENTITIES = (
    Entity(
        name="tasks",
        wire="tasks",
        scopes=("task",),
        needs_admin=True,
        streams=(tasks, task_checklists, task_comments),
        optional_scopes={
            "im": say("loss.task_chats"),
            "disk": say("loss.task_files"),
        },
        custom_fields=CustomFields("tasks", "task", task_fields()),
        probes={MODERN: {"filter": {"<ID": 1}, "select": ["ID"], "start": -1}},
        unreadable=find_unseen_comments,
        unreadable_by="tasks",
        habits=(probes.tasks,),
    ),
)
