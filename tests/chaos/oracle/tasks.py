"""Tasks, their checklists and their comments: each once, wherever the portal shows it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.oracle.fate import links
from tests.chaos.oracle.ids import Ids, utc, yes
from tests.chaos.oracle.source import Fields, Json, Source
from tests.chaos.oracle.texts import rewritten


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    return {
        "tasks": {number: _task(number, row, source, ids) for number, row in source["tasks"].items()},
        "task_checklists": {number: _item(row, ids) for number, row in source["task_checklists"].items()},
        "task_comments": {
            number: _comment(number, row, source, ids) for number, row in source["task_comments"].items()
        },
    }


def attachments(row: Fields) -> list[str]:
    """Numbers, or numbers behind an n."""
    return [str(one).lstrip("n") for one in row["ufTaskWebdavFiles"] or []]


def _task(number: str, row: Fields, source: Source, ids: Ids) -> Fields:
    files = {one: source.attached(one).key for one in attachments(row)}
    times = ("createdDate", "changedDate", "closedDate", "dateStart", "deadline", "startDatePlan", "endDatePlan")
    return {
        **{name: row[name] for name in ("title", "status", "priority")},
        "description": rewritten(ids, row["description"], files),
        **{name: ids.author(row[name]) for name in ("createdBy", "responsibleId")},
        **{name: ids.user(row[name]) for name in ("changedBy", "closedBy")},
        **{name: ids.users(row[name]) for name in ("accomplices", "auditors")},
        **{name: utc(row[name]) for name in times},
        "groupId": ids.record("groups", row["groupId"]),
        "parentId": _parent(number, source, ids),
        "timeEstimate": int(row["timeEstimate"]) if row["timeEstimate"] else None,
        "tags": [one["title"] for one in _listed(row["tags"])],
        "ufCrmTask": [one for one in map(ids.crm_code, links(row)) if one],
        "ufTaskWebdavFiles": ids.files(files.values()),
        **ids.custom("tasks", row["codes"]),
    }


def _parent(number: str, source: Source, ids: Ids) -> str | None:
    """Of tasks that are one another's parents the one with the lowest id goes without."""
    line = list(_ancestors(number, source))
    if not line or (number in line and number == min(line, key=int)):
        return None
    return ids.record("tasks", line[0])


def _ancestors(number: str, source: Source) -> Iterator[str]:
    met: list[str] = []
    while True:
        number = str(source["tasks"].get(number, {}).get("parentId") or 0)
        if number == "0" or number in met:
            return
        met.append(number)
        yield number


def _item(row: Fields, ids: Ids) -> Fields:
    above = f"{row['TASK_ID']}:{row['PARENT_ID']}"
    return {
        "TASK_ID": ids.record("tasks", row["TASK_ID"]),
        "PARENT_ID": ids.record("task_checklists", above) if row["PARENT_ID"] else None,
        "TITLE": rewritten(ids, row["TITLE"]),
        "SORT_INDEX": int(row["SORT_INDEX"]),
        "IS_COMPLETE": yes(row["IS_COMPLETE"]),
        "IS_IMPORTANT": yes(row["IS_IMPORTANT"]),
        "CREATED_BY": ids.author(row["CREATED_BY"]),
        "TOGGLED_BY": ids.user(row["TOGGLED_BY"]),
        "TOGGLED_DATE": utc(row["TOGGLED_DATE"]),
        "MEMBERS": [{"ID": ids.user(one["ID"]), "TYPE": one["TYPE"]} for one in row["MEMBERS"]],
    }


def _comment(number: str, row: Fields, source: Source, ids: Ids) -> Fields:
    """A comment of the forum tells itself which file is behind an attachment; a message of a chat does not."""
    own = {str(int(one) - OWN_OBJECTS): f"disk:{one}" for one in row["files"]} if number in source.forum else {}
    return {
        "task_id": ids.record("tasks", row["task_id"]),
        "author_id": "0" if row["author_id"] == "0" else ids.author(row["author_id"]),
        "date": utc(row["date"]),
        "text": rewritten(ids, row["text"], own),
        "files": ids.files(f"disk:{one}" for one in row["files"]),
    }


OWN_OBJECTS = 2_000_000  # the simulator's rule: an attachment's own file has so much higher a number


def _listed(value: Json) -> list[Json]:
    """PHP sends a map, and an empty one as a list."""
    return list(value.values()) if isinstance(value, dict) else value
