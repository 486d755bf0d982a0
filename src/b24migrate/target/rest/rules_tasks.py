"""What a box does not keep of tasks when its own methods take them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from b24migrate.fidelity import EMPTY, KEY, Draft, Judge, Keeping, Rule
from b24migrate.records import Json
from b24migrate.target.rest.box import PEOPLE, Box
from b24migrate.target.rest.marks import is_marked
from b24migrate.target.rest.reasons import OLD, QUOTED, TODAY, UNEDITED
from b24migrate.target.rest.task_era import keeps_dates, talks_in_chats

LONGEST_TITLE = 250
STATUSES = ("2", "3", "4", "5", "6")
PENDING, CLOSED = "2", "5"
WORDLESS = "…"
DATES = ("createdDate", "changedDate", "closedDate", "dateStart")
NOISE = "The box notifies everybody who takes part in the task."
CLOSING = "Only a closed task was closed by somebody; where nobody is known, it was the owner of the webhook."


def known_status(value: Json) -> str:
    """What a box refuses, or turns into it by itself, is a task that waits."""
    return str(value) if str(value) in STATUSES else PENDING


def said(text: Json) -> str:
    """A comment without words is refused, even where it has files."""
    return str(text) if str(text or "").strip() else WORDLESS


def filled_unless_closed(name: str) -> Judge:
    return lambda draft: draft.get(name) not in EMPTY and str(draft.get("status")) != CLOSED


def changed(draft: Draft) -> bool:
    """At most: of a task to which nothing came later the box may be right by chance."""
    return draft.get("changedBy") not in EMPTY


def dated(name: str, draft: Draft) -> bool:
    return draft.get(name) not in EMPTY


def toggled(name: str) -> Judge:
    return lambda draft: draft.get(name) not in EMPTY or bool(draft.get("IS_COMPLETE"))


def told(name: str) -> Judge:
    return lambda draft: name in draft


def wordless(draft: Draft) -> bool:
    return said(draft.get("text")) != (draft.get("text") or "")


TASKS = (
    Rule(
        "tasks",
        "title",
        Keeping.APPROXIMATED,
        "A title is cut at 250 characters.",
        lambda draft: len(str(draft.get("title") or "")) > LONGEST_TITLE,
    ),
    Rule(
        "tasks",
        "status",
        Keeping.APPROXIMATED,
        "States that a box no longer has, such as declined, become waiting.",
        lambda draft: draft.get("status") not in (None, "", *STATUSES),
    ),
    Rule(
        "tasks",
        "changedBy",
        Keeping.APPROXIMATED,
        "The box takes who made the task, or the owner of the webhook, for the last who changed it.",
        running=lambda: changed,
    ),
    Rule(
        "tasks",
        "xmlId",
        Keeping.TRANSFORMED,
        "The source's number is kept there, so that nothing arrives twice.",
        told("xmlId"),
    ),
    Rule("tasks", "closedDate", Keeping.APPROXIMATED, CLOSING, filled_unless_closed("closedDate")),
    Rule("tasks", "", Keeping.TRANSFORMED, NOISE, lambda _: True),
)


def of_tasks(box: Box) -> Sequence[Rule]:
    def closed_by_nobody(draft: Draft) -> bool:
        who = draft.get("closedBy")
        return str(draft.get("status")) == CLOSED and (who in EMPTY or not box.staged(PEOPLE, str(who)))

    def judge(draft: Draft) -> bool:
        return closed_by_nobody(draft) or filled_unless_closed("closedBy")(draft)

    dates = () if keeps_dates(box) else DATES
    other = [rule for rule in TASKS if rule.field not in DATES]
    lost = [Rule("tasks", name, Keeping.LOST, TODAY, partial(dated, name)) for name in dates]
    kept = [rule for rule in TASKS if rule.field in DATES and not dates]
    return (*other, *kept, *lost, Rule("tasks", "closedBy", Keeping.APPROXIMATED, CLOSING, judge))


def of_checklists(box: Box) -> Sequence[Rule]:
    return (
        Rule(
            "task_checklists",
            "CREATED_BY",
            Keeping.LOST,
            "Items of checklists belong to the owner of the webhook.",
            lambda draft: draft.get("CREATED_BY") not in EMPTY and not box.is_owner(draft["CREATED_BY"]),
        ),
        *CHECKLISTS,
    )


CHECKLISTS = (
    *(
        Rule(
            "task_checklists",
            name,
            Keeping.LOST,
            "The box takes the owner of the webhook and the time of the move.",
            toggled(name),
        )
        for name in ("TOGGLED_BY", "TOGGLED_DATE")
    ),
    Rule("task_checklists", "ATTACHMENTS", Keeping.LOST, "No method of a box attaches files to items of checklists."),
)


def of_comments(box: Box) -> Sequence[Rule]:
    """On the forum they keep author and date; in a chat the owner of the webhook says them now."""
    if not talks_in_chats(box):
        return COMMENTS

    def old(draft: Draft) -> bool:
        return is_marked(box, UNEDITED, "task_comments", str(draft.get(KEY)))

    def by_another(draft: Draft) -> bool:
        return str(draft.get("author_id") or "0") == "0" or not box.is_owner(draft["author_id"])

    return (
        Rule("task_comments", "text", Keeping.LOST, OLD, old),
        Rule("task_comments", "text", Keeping.TRANSFORMED, QUOTED, lambda _: True),
        Rule("task_comments", "author_id", Keeping.TRANSFORMED, QUOTED, by_another),
        Rule("task_comments", "date", Keeping.TRANSFORMED, QUOTED),
    )


COMMENTS = (
    Rule(
        "task_comments",
        "author_id",
        Keeping.APPROXIMATED,
        "What the portal itself said is said by the owner of the webhook.",
        lambda draft: str(draft.get("author_id")) == "0",
    ),
    Rule(
        "task_comments", "text", Keeping.APPROXIMATED, "A comment without words gets an ellipsis for a text.", wordless
    ),
)
