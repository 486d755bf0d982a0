"""Tasks, as `tasks.task.*` takes them: closed ones are made closed, since closing forces time and person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.groups.rest_dates import move_dates_apart
from b24migrate.entities.tasks import rest_rules
from b24migrate.entities.tasks.rest_contents import task_contents
from b24migrate.entities.tasks.rest_version import keeps_dates
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, in_chunks, rows_at
from b24migrate.targets.rest.deletion import select_tasks
from b24migrate.targets.rest.fields import decode_custom, encode_custom, positional_methods, wrapped_file
from b24migrate.targets.rest.values import Column, columns
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, create_one, stamp_key

LONGEST_TITLE = 250
# In no document, but in the kernel (tasks classes/general/task.php): updates that notify no user, and new tasks for
# which no robot starts and whose dates stay as they are. Notifications about a new task cannot be suppressed.
SILENT = {"params": {"SKIP_NOTIFICATION": "Y"}}
NO_ROBOTS = {"DISABLE_BIZPROC_RUN": "Y", "CORRECT_DATE_PLAN": "N"}
PEOPLE = (
    ("createdBy", "CREATED_BY"),
    ("responsibleId", "RESPONSIBLE_ID"),
    ("changedBy", "CHANGED_BY"),
    ("closedBy", "CLOSED_BY"),
)
TIMES = (
    ("createdDate", "CREATED_DATE"),
    ("changedDate", "CHANGED_DATE"),
    ("closedDate", "CLOSED_DATE"),
    ("dateStart", "DATE_START"),
    ("deadline", "DEADLINE"),
    ("startDatePlan", "START_DATE_PLAN"),
    ("endDatePlan", "END_DATE_PLAN"),
)
FLAGS = (
    ("allowTimeTracking", "ALLOW_TIME_TRACKING"),
    ("taskControl", "TASK_CONTROL"),
    ("matchWorkTime", "MATCH_WORK_TIME"),
)
OF_TASK = (
    Column("title", "TITLE", lambda value: str(value or "")[:LONGEST_TITLE]),
    Column("description", "DESCRIPTION", lambda value: value or ""),
    Column("status", "STATUS", rest_rules.known_status),
    Column("priority", "PRIORITY"),
    Column("mark", "MARK", lambda value: value or ""),
    *columns(PEOPLE, values.unchanged, values.optional_id),
    *columns((("accomplices", "ACCOMPLICES"), ("auditors", "AUDITORS")), lambda value: value or [], values.ids),
    *columns((("groupId", "GROUP_ID"), ("parentId", "PARENT_ID")), values.id_or_none, values.optional_id),
    *columns(TIMES, lambda value: value or "", values.utc),
    Column("timeEstimate", "TIME_ESTIMATE", lambda value: value or 0, values.whole),
    *columns(FLAGS, values.yes_or_no, values.flag),
    Column("tags", "TAGS", lambda value: value or []),
    Column("ufCrmTask", "UF_CRM_TASK", lambda value: value or [], values.ids),
)
FILES = "ufTaskWebdavFiles"
APART = frozenset({one.wire for one in OF_TASK} | {FILES, "xmlId"})
SELECT = ["*", *(one.native for one in OF_TASK), "XML_ID", "UF_TASK_WEBDAV_FILES", "CHAT_ID"]


def camel(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(part.capitalize() for part in others)


def task_fields(box: Box, item: Item) -> dict[str, Json]:
    fields = item.fields
    rest = {name: value for name, value in fields.items() if name not in APART}
    sent = {
        **values.encode_columns(OF_TASK, fields),
        **encode_custom(box, "tasks", rest, wrapped_file),
        "XML_ID": stamp_key(item.key),
    }
    if FILES in fields:
        sent["UF_TASK_WEBDAV_FILES"] = [f"n{one}" for one in fields[FILES] or ()]
    return sent


def first_fields(box: Box, item: Item) -> dict[str, Json]:
    """A deadline that comes together with MATCH_WORK_TIME is moved into working hours."""
    return {**task_fields(box, item), "MATCH_WORK_TIME": "N"}


def add_tasks(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        made = add_task(box, item)
        yield add_task(box, item) if made.error is not None and move_dates_apart(box, item) else made


def add_task(box: Box, item: Item) -> CreateResult:
    sent = {"fields": first_fields(box, item), "params": NO_ROBOTS}
    return create_one(box, item, "tasks.task.add", lambda _: sent, lambda said: str(said["task"]["id"]))


def finish_task(box: Box, known: Known, item: Item) -> None:
    write_last(box, known, item, {"MATCH_WORK_TIME": "Y"} if item.fields.get("matchWorkTime") else {})


def write_last(box: Box, known: Known, item: Item, kept: Mapping[str, Json]) -> None:
    if kept:
        last = {**kept, "CHANGED_DATE": item.fields.get("changedDate")}
        box.call("tasks.task.update", {"taskId": known.target_id, "fields": last, **SILENT})


def find_tasks(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    """Whether the box filters by that field is written nowhere, so all that came since is looked at. A user may have
    copied a task with its stamp: the first one is ours."""
    found: dict[str, str] = {}
    for keys in in_chunks(begun):
        stamps = {stamp_key(key): key for key in keys}
        after = min(int(begun[key].get("after") or 0) for key in keys)
        for row in select_tasks(box, {"XML_ID": list(stamps)}, "XML_ID", after=after):
            key = stamps.get(str(row.get("xmlId")))
            if key:
                found.setdefault(key, str(row["id"]))
            if found.keys() >= set(keys):
                break
    return found


def newest_tasks(box: Box) -> list[str]:
    rows = rows_at(box.question("tasks.task.list", {"select": ["ID"], "order": {"ID": "desc"}}), "tasks")
    return [str(row["id"]) for row in rows]


def update_task(box: Box, known: Known, item: Item) -> None:
    sent = {"taskId": known.target_id, "fields": first_fields(box, item), **SILENT}
    try:
        said = box.call("tasks.task.update", sent)
    except Permanent:
        if not move_dates_apart(box, item):
            raise
        said = box.call("tasks.task.update", sent)
    matched = {"MATCH_WORK_TIME": "Y"} if item.fields.get("matchWorkTime") else {}
    write_last(box, known, item, {**find_overwritten(said, item), **matched})


def find_overwritten(said: Json, item: Item) -> dict[str, Json]:
    """Who closed a task and when: a change of its status sets both, whatever is sent with it, and another call after it
    leaves them as they are sent (kernel tasks, CTasks::Update)."""
    if str(item.fields.get("status")) != rest_rules.CLOSED:
        return {}
    task = said.get("task") if isinstance(said, dict) else None
    row = task if isinstance(task, dict) else {}
    closing = [one for one in OF_TASK if one.wire in ("closedBy", "closedDate") and item.fields.get(one.wire)]
    there = values.decode_columns(closing, {one.native: row.get(camel(one.native)) for one in closing})
    if all(there.get(one.wire) == item.fields[one.wire] for one in closing):
        return {}
    return values.encode_columns(closing, item.fields)


# ---------------------------------------------------------------- reading


def read_rows(box: Box, ids: Sequence[str]) -> dict[str, Args]:
    names = [*SELECT, *box.custom_types("tasks")]
    asked = {"filter": {"ID": list(ids)}, "select": names, "order": {"ID": "asc"}}
    return {str(row["id"]): row for row in box.pages("tasks.task.list", asked, "tasks")} if ids else {}


def read_tasks(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    rows = read_rows(box, [one.target_id for one in wanted.values()])
    objects = find_files(box, [one for row in rows.values() for one in attachments(row)])
    return {key: decode_task(box, rows[one.target_id], objects) for key, one in wanted.items() if one.target_id in rows}


def decode_task(box: Box, row: Args, objects: Mapping[str, str]) -> Args:
    upper = {one.native: row.get(camel(one.native)) for one in OF_TASK}
    custom = {code: row.get(camel(code), row.get(code)) for code in box.custom_types("tasks")}
    tags = [str(one.get("title")) for one in rows_at(row.get("tags"))]
    files = [objects.get(one, one) for one in attachments(row)]
    return {
        **values.decode_columns(OF_TASK, upper),
        **decode_custom(box, "tasks", custom),
        "tags": tags,
        FILES: files,
        "xmlId": row.get("xmlId"),
    }


def attachments(row: Args) -> list[str]:
    return [one.removeprefix("n") for one in values.ids(row.get(FILES))]


def find_files(box: Box, ids: Sequence[str]) -> dict[str, str]:
    """The Drive files of attachments."""
    said = box.questions([Command("disk.attachedObject.get", {"id": one}) for one in ids])
    return {one: str(about["OBJECT_ID"]) for one, about in zip(ids, said, strict=True) if about}


# ---------------------------------------------------------------- at the end


def moving_fields(item: Item) -> Args:
    """Checklists and comments move it, and their members join the task."""
    return {name: item.fields.get(name) for name in ("createdDate", "changedDate", "accomplices", "auditors")}


def restore(box: Box, some: Mapping[str, Known]) -> None:
    """Data that was imported after a task is not a change of the task. A user's change on the box is, and stays."""
    rows = read_rows(box, [one.target_id for one in some.values()])
    for one in some.values():
        row = rows.get(one.target_id)
        if row is None or not isinstance(one.trace, Mapping) or not one.trace.get("changedDate"):
            continue
        if str(row.get("changedBy")) not in (box.owner, str(row.get("createdBy"))):
            continue
        there = {
            "changedDate": values.utc(row.get("changedDate")),
            "accomplices": values.ids(row.get("accomplices")),
            "auditors": values.ids(row.get("auditors")),
        }
        if not keeps_dates(box):
            there["changedDate"] = one.trace["changedDate"]
        moved = {
            name for name in there if one.trace.get(name) is not None and _set(there[name]) != _set(one.trace[name])
        }
        if moved:
            names = {*moved, "changedDate"}
            fields = values.encode_columns(OF_TASK, {name: one.trace[name] for name in names})
            box.call("tasks.task.update", {"taskId": one.target_id, "fields": fields, **SILENT})


def without_joined(box: Box, known: Known, fields: Args) -> Args:
    """Members of checklists and authors of comments join a task until `restore`: no user added them."""
    if not isinstance(known.trace, Mapping) or fields.get("changedBy") not in (box.owner, fields.get("createdBy")):
        return fields
    sent = {name: set(map(str, known.trace.get(name) or ())) for name in ("accomplices", "auditors")}
    there = {name: fields.get(name) or [] for name in sent}
    kept = {
        name: [one for one in there[name] if one in people] for name, people in sent.items() if people <= {*there[name]}
    }
    return {**fields, **kept}


def _set(value: Json) -> Json:
    return sorted(value) if isinstance(value, list) else value


# Others are listed among the types and not created (bitrix24-rest-2 §B.5).
FIELD_TYPES = frozenset({"string", "double", "datetime", "boolean"})
TASKS = Writer(
    stream="tasks",
    entity="tasks",
    custom_fields=positional_methods("task.item.userfield", FIELD_TYPES),
    needs=("tasks.task.list", "tasks.task.add", "tasks.task.update", *files.NEEDS),
    create=add_tasks,
    trace=moving_fields,
    before=lambda box, _: {"after": box.highest("tasks", lambda: newest_tasks(box))},
    find=find_tasks,
    finish=finish_task,
    update=update_task,
    read=read_tasks,
    at_last=restore,
    without_ours=without_joined,
    delete=lambda box, known: box.call("tasks.task.delete", {"taskId": known.target_id}),
    inside=task_contents,
    restless=frozenset({"changedDate", "changedBy", "activityDate"}),
    rules=rest_rules.task_rules,
)

WRITERS = (TASKS,)
