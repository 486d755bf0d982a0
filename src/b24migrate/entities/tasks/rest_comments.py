"""Checklists and comments of tasks. No field of theirs takes a stamp: a lost one is known by all that was sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.entities.chats import rest_messages
from b24migrate.entities.tasks import rest_rules
from b24migrate.entities.tasks.rest import SILENT, read_rows
from b24migrate.entities.tasks.rest_contents import item_contents
from b24migrate.entities.tasks.rest_version import chats_of, talks_in_chats
from b24migrate.model.answers import decode_emoji
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.model.values import unescape_html
from b24migrate.ports import Command
from b24migrate.targets.rest import files, values
from b24migrate.targets.rest.box import Box, rows_at, user_names
from b24migrate.targets.rest.files import files_folder, subfolder
from b24migrate.targets.rest.journal import is_marked, set_mark
from b24migrate.targets.rest.values import Column, add_header, columns
from b24migrate.targets.rest.writer import CreateResult, Known, Writer, choose_unclaimed, create_one, create_one_by_one

# ---------------------------------------------------------------- checklists

OF_ITEM = (
    Column("TITLE", "TITLE"),
    Column("PARENT_ID", "PARENT_ID", values.id_or_none, values.optional_id),
    Column("SORT_INDEX", "SORT_INDEX", lambda value: value or 0, values.whole),
    *columns((("IS_COMPLETE", "IS_COMPLETE"), ("IS_IMPORTANT", "IS_IMPORTANT")), values.yes_or_no, values.flag),
    Column("MEMBERS", "MEMBERS", lambda value: {str(one["ID"]): {"TYPE": one["TYPE"]} for one in value or ()}),
)
TOLD_ONLY = (
    *columns((("CREATED_BY", "CREATED_BY"), ("TOGGLED_BY", "TOGGLED_BY")), values.unchanged, values.optional_id),
    Column("TOGGLED_DATE", "TOGGLED_DATE", back=values.utc),
)


def item_params(item: Item) -> Args:
    """By position: the task comes first."""
    return {"TASKID": item.fields["TASK_ID"], "FIELDS": values.encode_columns(OF_ITEM, item.fields)}


def update_item(box: Box, known: Known, item: Item) -> None:
    fields = values.encode_columns(OF_ITEM, item.fields)
    box.call("task.checklistitem.update", {"TASKID": known.trace["task"], "ITEMID": known.target_id, "FIELDS": fields})


def items_of(box: Box, tasks: Sequence[str]) -> dict[str, list[Args]]:
    asked = [Command("task.checklistitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}}) for task in tasks]
    return dict(zip(tasks, box.lists(asked), strict=True))


def item_trace(item: Item) -> Args:
    told = {name: item.fields.get(name) for name in ("TITLE", "PARENT_ID", "SORT_INDEX")}
    return {"task": str(item.fields["TASK_ID"]), **told}


def find_items(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = items_of(box, sorted({str(trace["task"]) for trace in begun.values()}))
    return choose_unclaimed(
        box,
        "task_checklists",
        {
            key: [str(row["ID"]) for row in there[str(trace["task"])] if _same_item(row, trace)]
            for key, trace in begun.items()
        },
    )


def _same_item(row: Args, trace: Args) -> bool:
    told = values.decode_columns(OF_ITEM, row)
    sent = (_words(trace["TITLE"]), values.optional_id(trace["PARENT_ID"]), trace["SORT_INDEX"] or 0)
    return (_words(told["TITLE"]), told["PARENT_ID"], told["SORT_INDEX"]) == sent


def _words(text: Json) -> list[str]:
    """A box may trim a text, end its lines otherwise, and spell its marks as HTML does."""
    return unescape_html(str(text or "")).split()


def read_items(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = items_of(box, sorted({str(one.trace["task"]) for one in wanted.values()}))
    rows = {(task, str(row["ID"])): row for task, listed in there.items() for row in listed}
    places = {key: (str(one.trace["task"]), one.target_id) for key, one in wanted.items()}
    return {key: decode_item(rows[place], place[0]) for key, place in places.items() if place in rows}


def decode_item(row: Args, task: str) -> Args:
    members = [{"ID": str(one["ID"]), "TYPE": one.get("TYPE")} for one in rows_at(row.get("MEMBERS"))]
    told = values.decode_columns((*OF_ITEM, *TOLD_ONLY), row)
    return {**told, "TASK_ID": task, "MEMBERS": members, "ATTACHMENTS": list(row.get("ATTACHMENTS") or ())}


CHECKLISTS = Writer(
    stream="task_checklists",
    entity="tasks",
    needs=("task.checklistitem.getlist", "task.checklistitem.add", "task.checklistitem.update"),
    create=create_one_by_one("task.checklistitem.add", item_params),
    trace=item_trace,
    find=find_items,
    update=update_item,
    read=read_items,
    delete=lambda box, known: box.call(
        "task.checklistitem.delete", {"TASKID": known.trace["task"], "ITEMID": known.target_id}
    ),
    inside=item_contents,
    rules=rest_rules.checklist_rules,
)


# ---------------------------------------------------------------- comments

COMMENT = "task.commentitem.add"
UNSEEN = "\u200b"  # of no width: it distinguishes a comment from the one before it with the same text
TRIES = 5  # other processes that give a user access to the same task may take it away again at this moment


def words_of(box: Box, item: Item) -> str:
    """If the box accepts neither author nor date, the first line of the text shows them."""
    fields = item.fields
    if not talks_in_chats(box):
        return rest_rules.comment_text(fields.get("text"))
    author = str(fields.get("author_id") or "0")
    return add_header(item.key, fields.get("date"), fields.get("text"), user_names(box, [author]).get(author, ""))


def add_comments(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
    for item in items:
        made = add_comment(box, item)
        tries = 0
        while made.error is not None and tries < TRIES and not talks_in_chats(box):
            more = UNSEEN if is_repetition(box, item) else ""
            if (tries or not more) and not add_author_as_observer(box, item):
                break
            made = add_comment(box, item, more)
            tries += 1
        yield made


def add_comment(box: Box, item: Item, more: str = "") -> CreateResult:
    return create_one(box, item, COMMENT, lambda one: comment_params(box, one, more), str)


def is_repetition(box: Box, item: Item) -> bool:
    """Whether the last comment of the task says the same, which the forum refuses from any author (kernel
    forum/lib/message.php, deduplication)."""
    task = str(item.fields["task_id"])
    last = max(comments_of(box, [task])[task], key=lambda row: int(row["ID"]), default=None)
    return last is not None and _words(decode_emoji(last.get("POST_MESSAGE"))) == _words(words_of(box, item))


def comment_params(box: Box, item: Item, more: str = "") -> Args:
    fields = item.fields
    sent = {
        "POST_MESSAGE": words_of(box, item) + more,
        "AUTHOR_ID": fields.get("author_id") or 0,
        "POST_DATE": fields.get("date"),
        "UF_FORUM_MESSAGE_DOC": [f"n{one}" for one in fields.get("files") or ()],
    }
    return {"TASKID": fields["task_id"], "FIELDS": {name: value for name, value in sent.items() if value}}


def update_comment(box: Box, known: Known, item: Item) -> None:
    words = words_of(box, item)
    if talks_in_chats(box):
        rest_messages.edit(box, "task_comments", known, item, words)
        return
    asked = {"TASKID": known.trace["task"], "ITEMID": known.target_id, "FIELDS": {"POST_MESSAGE": words}}
    box.call("task.commentitem.update", asked)


def comments_of(box: Box, tasks: Sequence[str]) -> dict[str, list[Args]]:
    asked = [
        Command("task.commentitem.getlist", {"TASKID": task, "ORDER": {"ID": "asc"}, "FILTER": {">ID": 0}})
        for task in tasks
    ]
    return dict(zip(tasks, box.lists(asked), strict=True))


def comment_trace(item: Item) -> Args:
    told = {name: item.fields.get(name) for name in ("author_id", "date")}
    return {"task": str(item.fields["task_id"]), "text": rest_rules.comment_text(item.fields.get("text")), **told}


def find_comments(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    return find_in_chats(box, begun) if talks_in_chats(box) else find_on_forum(box, begun)


def find_in_chats(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for task, chat in chats_of(box, sorted({str(trace["task"]) for trace in begun.values()})).items():
        mine = {key: trace for key, trace in begun.items() if str(trace["task"]) == task}
        found |= rest_messages.find_in_chat(box, chat, mine)
    return found


def find_on_forum(box: Box, begun: Mapping[str, Json]) -> dict[str, str]:
    there = comments_of(box, sorted({str(trace["task"]) for trace in begun.values()}))
    return choose_unclaimed(
        box,
        "task_comments",
        {
            key: [str(row["ID"]) for row in there[str(trace["task"])] if _same_comment(box, row, trace)]
            for key, trace in begun.items()
        },
    )


def _same_comment(box: Box, row: Args, trace: Args) -> bool:
    told = decode_comment(row, str(trace["task"]))
    author = values.optional_id(trace["author_id"]) or box.owner
    dates = (None, told["date"])  # without one the box takes the time of the move
    return (told["author_id"], _words(told["text"])) == (author, _words(trace["text"])) and trace["date"] in dates


def read_comments(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    return read_in_chats(box, wanted) if talks_in_chats(box) else read_on_forum(box, wanted)


def read_in_chats(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    chats = chats_of(box, sorted({str(one.trace["task"]) for one in wanted.values()}))
    tasks = {key: str(one.trace["task"]) for key, one in wanted.items() if str(one.trace["task"]) in chats}
    rows = rest_messages.read_rows(box, [(chats[task], wanted[key].target_id) for key, task in tasks.items()])
    there = {key: rows[wanted[key].target_id] for key in tasks if wanted[key].target_id in rows}
    return {key: {**rest_messages.decode_message(row), "task_id": tasks[key]} for key, row in there.items()}


def read_on_forum(box: Box, wanted: Mapping[str, Known]) -> dict[str, Args]:
    there = comments_of(box, sorted({str(one.trace["task"]) for one in wanted.values()}))
    rows = {(task, str(row["ID"])): row for task, listed in there.items() for row in listed}
    places = {key: (str(one.trace["task"]), one.target_id) for key, one in wanted.items()}
    return {key: decode_comment(rows[place], place[0]) for key, place in places.items() if place in rows}


def decode_comment(row: Args, task: str) -> Args:
    return {
        "task_id": task,
        "author_id": values.optional_id(row.get("AUTHOR_ID")),
        "date": values.utc(row.get("POST_DATE")),
        "text": str(decode_emoji(row.get("POST_MESSAGE")) or "").removesuffix(UNSEEN),
        "files": [str(one["FILE_ID"]) for one in rows_at(row.get("ATTACHED_OBJECTS"))],
    }


def delete_comment(box: Box, known: Known) -> None:
    if talks_in_chats(box):
        rest_messages.delete_message(box, known)
    else:
        box.call("task.commentitem.delete", {"TASKID": known.trace["task"], "ITEMID": known.target_id})


COMMENTS = Writer(
    stream="task_comments",
    entity="tasks",
    needs=("task.commentitem.getlist", COMMENT, *files.NEEDS),
    create=add_comments,
    trace=comment_trace,
    before=lambda box, _: {"after": box.highest("task_comments")},
    find=find_comments,
    update=update_comment,
    read=read_comments,
    delete=delete_comment,
    rules=rest_rules.comment_rules,
    serial=True,  # if they are quoted in a chat, only their order shows who answered whom
)

WRITERS = (CHECKLISTS, COMMENTS)


READING = "disk_access_read"
READERS = "readers-"  # how a folder is called; the numbers of those who may read it follow
SHARED = "shared"  # the mark of a folder, for each of them


def add_author_as_observer(box: Box, item: Item) -> bool:
    """The author watches the task until it is put back as it was, when all comments are there; of the owner's Drive
    only a folder with these files is opened to him. False where there is no user to let in."""
    author = str(item.fields.get("author_id") or box.owner)
    if author in ("0", box.owner):
        return False
    task = str(item.fields["task_id"])
    watching = values.ids(read_rows(box, [task]).get(task, {}).get("auditors"))
    try:
        if author not in watching:
            box.call("tasks.task.update", {"taskId": task, "fields": {"AUDITORS": [*watching, author]}, **SILENT})
        for file in item.fields.get("files") or ():
            open_file(box, str(file), author)
    except Permanent:
        return False  # the refusal of the comment says more
    return True


def open_file(box: Box, file: str, reader: str) -> None:
    """Every user who is shown a folder is notified, so that the files of one person lie in one: it is named after those
    who may read it. A file that others read as well moves into one for all of them; one whose name is taken there stays
    in its own."""
    folder = str(box.question("disk.file.get", {"id": file})["PARENT_ID"])
    name = str(box.question("disk.folder.get", {"id": folder}).get("NAME") or "")
    readers = {reader, *(name.removeprefix(READERS).split("-") if name.startswith(READERS) else ())}
    wanted = READERS + "-".join(sorted(readers, key=int))
    if name != wanted:
        place = subfolder(box, files_folder(box), wanted)
        try:
            box.call("disk.file.moveto", {"id": file, "targetFolderId": place})
        except Permanent:  # one of the same name is there
            readers = {reader}
        else:
            folder = place
    for one in sorted(readers, key=int):
        if not is_marked(box, SHARED, folder, one):
            box.call("disk.folder.sharetouser", {"id": folder, "userId": one, "taskName": READING})
            set_mark(box, SHARED, folder, one)
