"""Whoever is to be the author of a comment must see its task and may open its files (tasks/comment-item/…-add)."""

from __future__ import annotations

from b24migrate.errors import Permanent
from b24migrate.records import Item
from b24migrate.target.rest import spelling
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.files import home, subfolder
from b24migrate.target.rest.marks import is_marked, mark
from b24migrate.target.rest.tasks import SILENT, rows_of

READING = "disk_access_read"
READERS = "readers-"  # how a folder is called; the numbers of those who may read it follow
SHARED = "shared"  # what a folder is marked with, for each of them


def let_in(box: Box, item: Item) -> bool:
    """The author watches the task until it is put back as it was, when all comments are there; of the owner's Drive
    only a folder with these files is opened to him. False where there is nobody to let in."""
    author = str(item.fields.get("author_id") or box.owner)
    if author in ("0", box.owner):
        return False
    task = str(item.fields["task_id"])
    watching = spelling.ids(rows_of(box, [task]).get(task, {}).get("auditors"))
    try:
        if author not in watching:
            box.call("tasks.task.update", {"taskId": task, "fields": {"AUDITORS": [*watching, author]}, **SILENT})
        for file in item.fields.get("files") or ():
            open_file(box, str(file), author)
    except Permanent:
        return False  # the refusal of the comment says more
    return True


def open_file(box: Box, file: str, reader: str) -> None:
    """Everybody who is shown a folder hears of it, so that the files of one person lie in one: it is named after those
    who may read it. A file that others read as well moves into one for all of them; one whose name is taken there stays
    in its own."""
    folder = str(box.question("disk.file.get", {"id": file})["PARENT_ID"])
    name = str(box.question("disk.folder.get", {"id": folder}).get("NAME") or "")
    readers = {reader, *(name.removeprefix(READERS).split("-") if name.startswith(READERS) else ())}
    wanted = READERS + "-".join(sorted(readers, key=int))
    if name != wanted:
        place = subfolder(box, home(box), wanted)
        try:
            box.call("disk.file.moveto", {"id": file, "targetFolderId": place})
        except Permanent:  # one of the same name is there
            readers = {reader}
        else:
            folder = place
    for one in sorted(readers, key=int):
        if not is_marked(box, SHARED, folder, one):
            box.call("disk.folder.sharetouser", {"id": folder, "userId": one, "taskName": READING})
            mark(box, SHARED, folder, one)
