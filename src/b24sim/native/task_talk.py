"""Messages of the box about a task, among its comments."""

from b24sim.context import Context
from b24sim.native.said import announce
from b24sim.native.writing import now_of
from b24sim.paging import whole


def said_by_itself(context: Context, task: int, text: str) -> None:
    """On the forum it is a comment of the user who made the task, as of now; in a chat it is the system's message."""
    tasks = context.portal.company.tasks
    chat = tasks.chat_of(task)
    if chat:
        announce(context, chat, text, "TASK_UPDATE")
    else:
        number = context.portal.native.number("task_comments")
        author, at = whole(tasks.table.row(task)["CREATED_BY"]), int(now_of(context))
        row = {"ID": number, "AUTHOR_ID": author, "POST_DATE": at, "POST_MESSAGE": text, "ATTACHED": []}
        tasks.own_comments.setdefault(task, []).append(row)
        task_row = tasks.table.row(task)
        tasks.table.put(task, task_row | {"SERVICE_COMMENTS_COUNT": str(whole(task_row["SERVICE_COMMENTS_COUNT"]) + 1)})
    context.portal.native.tell("service comment", task, text)
