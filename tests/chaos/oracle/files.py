"""Every file once, by the SHA-256 of the bytes that the source serves, made here once more."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from tests.chaos.oracle import feed, tasks, timeline
from tests.chaos.oracle.source import CRM, Fields, Json, Source

from b24sim.company.files import noise, picture

Wanted = Iterator[tuple[str, Fields]]


def wanted(source: Source) -> Wanted:
    """Key -> size, SHA-256 and, if the source returns it, name. Files of failed records are migrated as well."""
    before = (*_pictures(source), *_of_chats(source), *_of_crm(source), *_of_tasks(source), *_of_feed(source))
    for key, about in (*before, *_of_timeline(source), *_of_catalog(source)):
        yield f"source:file:{key}", about


def lost(source: Source) -> set[str]:
    """Files of comments in chats of tasks which neither the Drive nor the chat gives to the webhook's owner, and which
    are not attached to a task."""
    attached = {source.attached(one).object_id for row in source["tasks"].values() for one in tasks.attachments(row)}
    return {one for one, forum in _of_comments(source) if not forum and not source.on_drive(one)} - attached


def foreign(source: Source) -> set[str]:
    """Calls whose recording is with the operator only: a link to another host, which nobody follows
    (api-reference/telephony/voximplant/voximplant-statistic-get.md)."""
    rows = source["crm_calls"].items()
    return {number for number, row in rows if row["CALL_RECORD_URL"] and not row["RECORD_FILE_ID"]}


def _pictures(source: Source) -> Wanted:
    for number, row in source["users"].items():
        if row.get("PERSONAL_PHOTO"):
            yield f"user:{number}", _about(picture(f"main:{number}:"))
    for number, row in source["groups"].items():
        if row.get("IMAGE"):
            yield f"group:{number}", _about(picture(f"sonet:{number}:"))
    for number, row in source["chats"].items():
        if row.get("avatar") and number not in source.excluded_chats:
            yield f"chat:{number}", _about(picture(f"im:{number}:"))


def _of_chats(source: Source) -> Wanted:
    for key, row in source["chat_messages"].items():
        if key.partition(":")[0] not in source.excluded_chats:
            for one in (row["params"] or {}).get("FILE_ID", []):
                yield _drive(str(one), source.disk[str(one)]["name"], source.disk[str(one)]["size"])


def _of_crm(source: Source) -> Wanted:
    for stream in (*CRM, "crm_spitems"):
        for row in source[stream].values():
            for value in row.values():
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, dict) and "sha256" in one:
                        yield f"crm:{one['id']}", {name: one[name] for name in ("size", "sha256", "name")}
    for row in source["crm_quotes"].values():
        for one in map(str, row["storageElementIds"] or ()):
            if drive := source.on_drive(one):
                yield _drive(one, drive["NAME"], drive["SIZE"])


def _of_catalog(source: Source) -> Wanted:
    for row in source["crm_products"].values():
        for one in row["pictures"]:
            yield f"catalog:{one['id']}", {"size": one["size"], "sha256": one["sha256"]}


def _of_tasks(source: Source) -> Wanted:
    for row in source["tasks"].values():
        yield from _attached(source, tasks.attachments(row))
    for row in source["task_checklists"].values():
        for one in row["ATTACHMENTS"].values() if row["ATTACHMENTS"] else ():
            yield _drive(one["FILE_ID"], one["NAME"], one["SIZE"])
    for one, forum in _of_comments(source):
        if forum:
            answer = source.attached(str(int(one) - tasks.OWN_OBJECTS))
            yield _drive(one, answer.name, answer.size)
        elif drive := source.on_drive(one):
            yield _drive(one, drive["NAME"], drive["SIZE"])


def _of_comments(source: Source) -> Iterator[tuple[str, bool]]:
    """The object, and whether the forum returns it."""
    for number, row in source["task_comments"].items():
        yield from ((one, number in source.forum) for one in row["files"])


def _of_feed(source: Source) -> Wanted:
    for row in source["feed_posts"].values():
        yield from _attached(source, feed.attachments(row))
    for row in source["feed_comments"].values():
        for one in map(str, row["attach"]):
            if drive := source.on_drive(one):
                yield _drive(one, drive["NAME"], drive["SIZE"])


def _of_timeline(source: Source) -> Wanted:
    for one in dict.fromkeys(timeline.files(source)):
        drive = source.on_drive(one)
        yield _drive(one, drive["NAME"], drive["SIZE"])


def _attached(source: Source, numbers: list[str]) -> Wanted:
    for one in map(source.attached, numbers):
        yield one.key, _drive(one.object_id, one.name, one.size)[1]


def _drive(number: str, name: str, size: Json) -> tuple[str, Fields]:
    return f"disk:{number}", {**_about(noise(f"file:{number}", int(size))), "name": name}


def _about(content: bytes) -> Fields:
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
