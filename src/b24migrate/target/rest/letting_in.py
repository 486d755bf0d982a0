"""Whoever is to be the author of a comment must see its task and may open its files (tasks/comment-item/…-add)."""

from __future__ import annotations

from b24migrate.errors import Permanent
from b24migrate.records import Item
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.tasks import SILENT, rows_of

READING = "disk_access_read"


def let_in(box: Box, item: Item) -> bool:
    """The author watches the task until it is put back as it was, when all comments are there; of the owner's Drive
    only the folders of these files are opened to him. False where there is nobody to let in."""
    author = str(item.fields.get("author_id") or box.owner)
    if author in ("0", box.owner):
        return False
    task = str(item.fields["task_id"])
    watching = spelling.ids(rows_of(box, [task]).get(task, {}).get("auditors"))
    try:
        if author not in watching:
            box.call("tasks.task.update", {"taskId": task, "fields": {"AUDITORS": [*watching, author]}, **SILENT})
        for file in item.fields.get("files") or ():
            folder = box.question("disk.file.get", {"id": file})["PARENT_ID"]
            box.call("disk.folder.sharetouser", {"id": folder, "userId": author, "taskName": READING})
    except Permanent:
        return False  # the refusal of the comment says more
    return True
