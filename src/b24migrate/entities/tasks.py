"""Tasks with their checklists and comments, wherever the portal keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from b24migrate.entities.attached import on_drive, refs_of, resolved, resolving
from b24migrate.entities.chats import attached as files_of_message
from b24migrate.entities.chats import join_files
from b24migrate.entities.codes import CRM_STREAMS, crm_link
from b24migrate.entities.custom import of_tasks
from b24migrate.entities.reading import either, one_by_one, refused
from b24migrate.errors import Permanent
from b24migrate.ports import Command, Source
from b24migrate.records import Json, Row, SetAside, Table, order_key
from b24migrate.streams import (
    ABSENT,
    CustomFields,
    Entity,
    Field,
    FileRef,
    Keyset,
    Kind,
    Listing,
    Mention,
    PerParent,
    Policy,
    Reading,
    Resolve,
    Seen,
    Stream,
    Take,
    Upward,
    Whole,
    flags,
    texts,
    times,
    wholes,
)

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
# Computed ones come only when they are named; of the last two either brings both.
SELECT = ["*", *COLUMNS, "TAGS", "UF_CRM_TASK", "UF_TASK_WEBDAV_FILES"]
# Request names are upper-case, the answer's are not: a lower-case filter is ignored without a word.
BY_ID = Keyset("filter", "ID", {"order": {"ID": "asc"}}, {"order": {"ID": "desc"}})
# The older method takes its parameters by position: ORDER, FILTER, PARAMS, SELECT.
OLD_BY_ID = Keyset("FILTER", "ID", {"ORDER": {"ID": "asc"}}, {"ORDER": {"ID": "desc"}})
OLD = {"ORDER": {"ID": "asc"}, "FILTER": {}, "PARAMS": {"NAV_PARAMS": {"nPageSize": 50}}, "SELECT": SELECT}
# What moves by itself, or is told of other records.
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
UNSEEN = "the portal counts comments of the task and shows none; add the webhook of somebody who takes part in it"
# Seconds between a comment on the forum and its copy in the chat: somebody who says the same once more takes longer.
APART = 10


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


def told(value: Json) -> list[Json]:
    """A list in any of PHP's spellings."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def of_task(name: str) -> Take:
    """What the task itself tells; of a row of the older listing another method did."""
    return lambda seen: seen.payload.get(name, seen.extras.get(name, ABSENT))


def tags(seen: Seen) -> Json:
    listed = of_task("tags")(seen)
    if listed is ABSENT:
        return ABSENT
    return [str(one.get("title") if isinstance(one, dict) else one) for one in told(listed)]


def whole_tasks(source: Source, rows: Sequence[Row]) -> list[Row]:
    """The older listing tells neither tags nor who else takes part."""
    answers = source.batch([Command("task.item.getdata", {"TASKID": row.source_id}) for row in rows])
    known = []
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer.error, Permanent):
            known.append(refused(row, "tags and participants", answer.error))
            continue
        if answer.error is not None:
            raise answer.error
        said = camel(msgspec.json.decode(answer.result or b"{}"))
        more = {name: told(said.get(name)) for name in ("tags", "accomplices", "auditors")}
        known.append(row._replace(extras={**(row.extras or {}), **more}))
    return resolved(source, known, attachments)


def attachments(payload: Mapping[str, Json]) -> list[str]:
    """Numbers, or numbers with an `n` before them."""
    ids = (str(one).removeprefix("n") for one in told(camel(payload).get("ufTaskWebdavFiles")))
    return [one for one in ids if one.isdecimal()]


def file_keys(seen: Seen) -> Json:
    if "ufTaskWebdavFiles" not in seen.payload:
        return ABSENT
    known = {name: str(one["key"]) for name, one in (seen.extras.get("attached") or {}).items()}
    return [known.get(one, f"attached:{one}") for one in attachments(seen.payload)]


def person(name: str, policy: Policy = Policy.DROP) -> Field:
    return Field(name, Kind.REF, to="users", policy=policy)


tasks = Stream(
    name="tasks",
    table=Table("Tasks", "tasks"),
    read=(
        Listing(
            OLDER,
            OLD_BY_ID,
            params=OLD,
            without=MODERN,
            enrich=whole_tasks,
            enrich_scope="task",
            select="SELECT",
        ),
        Listing(
            MODERN,
            BY_ID,
            params={"select": SELECT},
            items=("tasks",),
            id="id",
            enrich=resolving(attachments),
            enrich_scope="disk",
            select="select",
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
        Field("accomplices", Kind.REFS, take=of_task("accomplices"), to="users"),
        Field("auditors", Kind.REFS, take=of_task("auditors"), to="users"),
        Field("groupId", Kind.REF, to="groups", policy=Policy.REQUIRE),
        Field("parentId", Kind.REF, to="tasks", waits=True),
        *times("createdDate", "changedDate", "closedDate", "dateStart", "deadline", "startDatePlan", "endDatePlan"),
        *wholes("timeEstimate"),
        *flags("allowTimeTracking", "taskControl", "matchWorkTime", beyond=True),
        Field("tags", Kind.AS_IS, take=tags),
        Field(
            "ufCrmTask",
            Kind.CODED,
            take=lambda seen: told(seen.payload["ufCrmTask"]) if "ufCrmTask" in seen.payload else ABSENT,
            code=crm_link,
            names=CRM_STREAMS,
            policy=Policy.EXISTING,
        ),
        Field("ufTaskWebdavFiles", Kind.FILES, take=file_keys),
    ),
    stamp="createdDate",
    hashed=True,
    volatile=VOLATILE,
    view=camel,
    files=refs_of,
    fetch=either(
        one_by_one(
            MODERN, lambda source_id: {"filter": {"ID": source_id}, "select": SELECT}, items=("tasks",), id_field="id"
        ),
        one_by_one(OLDER, lambda source_id: {**OLD, "FILTER": {"ID": source_id}}),
    ),
    mentions=(
        Mention(r"/company/personal/user/(\d+)/tasks/task/view/(\d+)", link=True, ids=("users", "tasks")),
        Mention(r"/workgroups/group/(\d+)/tasks/task/view/(\d+)", link=True, ids=("groups", "tasks")),
    ),
    custom_prefix=("UF_", "uf"),
    covered=("ufCrmTask",),
)


# ---------------------------------------------------------------- checklists


def above(seen: Seen) -> Json:
    """The item it lies under; the checklists themselves lie under none."""
    return None if str(seen.payload.get("PARENT_ID") or 0) == "0" else f"{seen.parent}:{seen.payload['PARENT_ID']}"


def member(_: Seen, value: Json, resolve: Resolve) -> Json:
    return {"ID": resolve("users", str(value["ID"])), "TYPE": value.get("TYPE")}


def lasting(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Of members and files only who and which they are: names and links change by themselves."""
    people = [(str(one.get("ID")), one.get("TYPE")) for one in told(payload.get("MEMBERS"))]
    return {**payload, "MEMBERS": people, "ATTACHMENTS": [ref.key for ref in on_drive(payload.get("ATTACHMENTS"))]}


def files_of_item(seen: Seen) -> Iterable[FileRef]:
    return on_drive(seen.payload.get("ATTACHMENTS"))


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
        ),
    ),
    batch=50,
    batch_option="batch_checklists",
    fields=(
        Field("TASK_ID", Kind.REF, take=lambda seen: seen.parent, to="tasks", policy=Policy.REQUIRE),
        Field("PARENT_ID", Kind.REF, take=above, to="task_checklists", policy=Policy.EXISTING),
        Field("TITLE", Kind.RICH),
        *wholes("SORT_INDEX"),
        *flags("IS_COMPLETE", "IS_IMPORTANT"),
        person("CREATED_BY", Policy.PLACEHOLDER),
        person("TOGGLED_BY"),
        *times("TOGGLED_DATE"),
        Field(
            "MEMBERS",
            Kind.CODED,
            take=lambda seen: told(seen.payload.get("MEMBERS")),
            code=member,
            names=("users",),
        ),
        Field("ATTACHMENTS", Kind.FILES, take=lambda seen: [ref.key for ref in files_of_item(seen)], beyond=True),
    ),
    hashed=True,
    lasting=lasting,
    files=files_of_item,
)


# ---------------------------------------------------------------- comments


def from_anywhere(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """A comment of the forum under the names that a message of a chat has."""
    if "POST_MESSAGE" not in payload:
        return payload
    return {
        "author_id": payload.get("AUTHOR_ID"),
        "date": payload.get("POST_DATE"),
        "text": payload.get("POST_MESSAGE"),
        "ATTACHED_OBJECTS": payload.get("ATTACHED_OBJECTS"),
    }


def files_of_comment(seen: Seen) -> Iterable[FileRef]:
    if "ATTACHED_OBJECTS" in seen.payload:
        return on_drive(seen.payload["ATTACHED_OBJECTS"])
    return (ref._replace(place=f"chat{seen.payload.get('chat_id')}") for ref in files_of_message(seen))


def behind_attachments(seen: Seen) -> Mapping[str, str]:
    """A comment of the forum tells itself which file is behind an attachment."""
    listed = seen.payload.get("ATTACHED_OBJECTS")
    members = listed.values() if isinstance(listed, dict) else ()
    return {str(one["ATTACHMENT_ID"]): f"disk:{one['FILE_ID']}" for one in members if one.get("FILE_ID")}


def what_counts(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """Links to files hold a secret and a token."""
    if "ATTACHED_OBJECTS" not in payload:
        return payload
    return {**payload, "ATTACHED_OBJECTS": [ref.key for ref in on_drive(payload["ATTACHED_OBJECTS"])]}


def same_comment(message: Seen, comment: Seen) -> bool:
    """The portal may have copied the forum into the chat: the same words of the same person at about the same time."""
    ours, theirs = (
        (str(one.payload.get("author_id")), str(one.payload.get("text") or "").strip()) for one in (message, comment)
    )
    return ours == theirs and near(message.payload.get("date"), comment.payload.get("date"))


def near(one: Json, other: Json) -> bool:
    try:
        apart = datetime.fromisoformat(str(one)) - datetime.fromisoformat(str(other))
    except (ValueError, TypeError):
        return False
    return abs(apart.total_seconds()) <= APART


def chat_of(task: Seen) -> str:
    return str(task.payload.get("chatId") or "")


task_comments = Stream(
    name="task_comments",
    table=Table("TaskComments", "task_comments"),
    read=(
        PerParent(
            of="tasks",
            method="task.commentitem.getlist",
            params=lambda task: {"TASKID": task.id, "ORDER": {"ID": "asc"}, "FILTER": {">ID": 0}},
            paging=Whole(),
            id="ID",
            mark="f",
        ),
    ),
    more=(
        PerParent(
            of="tasks",
            method="im.dialog.messages.get",
            params=lambda task: {"DIALOG_ID": f"chat{chat_of(task)}"},
            paging=Upward(),
            items=("messages",),
            side="files",
            join=join_files,
            scope="im",
            only=lambda task: chat_of(task) not in ("", "0"),
            others=True,
            mark="m",
            twins="f",
            same=same_comment,
        ),
    ),
    batch=50,
    batch_option="batch_comments",
    fields=(
        Field("task_id", Kind.REF, take=lambda seen: seen.parent, to="tasks", policy=Policy.REQUIRE),
        Field("author_id", Kind.REF, to="users", policy=Policy.PLACEHOLDER, keep=frozenset({"0"})),
        *times("date"),
        Field("text", Kind.RICH),
        Field("files", Kind.FILES, take=lambda seen: [ref.key for ref in files_of_comment(seen)]),
    ),
    stamp="date",
    hashed=True,
    volatile=frozenset({"unread", "viewed", "viewed_by_others", "replaces"}),
    lasting=what_counts,
    view=from_anywhere,
    files=files_of_comment,
    attached=behind_attachments,
)


def unseen_comments(_: Source, staged: Callable[[str], Iterable[Seen]], __: Sequence[Reading]) -> Iterator[SetAside]:
    """Tasks whose comments the portal counts and does not show. Both streams come in order of the task's id."""
    shown = (one.parent for one in staged("task_comments"))
    at = next(shown, None)
    for task in staged("tasks"):
        while at is not None and order_key(at) < order_key(task.id):
            at = next(shown, None)
        if at != task.id and int(task.payload.get("commentsCount") or 0) > 0:
            yield SetAside("task_comments", f"{task.id}:*", "impossible", UNSEEN, f"task {task.id}")


ENTITIES = (
    Entity(
        name="tasks",
        wire="tasks",
        scopes=("task",),
        needs_admin=True,
        streams=(tasks, task_checklists, task_comments),
        optional_scopes={
            "im": "comments in the chats of tasks are not migrated",
            "disk": "files attached to tasks are not migrated",
        },
        custom_fields=CustomFields("tasks", "task", of_tasks()),
        unreadable=unseen_comments,
    ),
)
