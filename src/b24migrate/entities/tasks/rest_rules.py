"""Rules: data of tasks that a box does not keep without the import module."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from b24migrate.entities.tasks.rest_version import keeps_dates, talks_in_chats
from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, KEY, Draft, Judge, Keeping, Rule
from b24migrate.model.records import Json
from b24migrate.targets.rest.box import PEOPLE, Box
from b24migrate.targets.rest.journal import is_marked
from b24migrate.targets.rest.writer import OLD, QUOTED, TODAY, UNEDITED

LONGEST_TITLE = 250
STATUSES = ("2", "3", "4", "5", "6")
PENDING, CLOSED = "2", "5"
WORDLESS = "…"
DATES = ("createdDate", "changedDate", "closedDate", "dateStart")
NOISE = say("reason.rest_task_noise")
CLOSING = say("reason.rest_task_closed")


def known_status(value: Json) -> str:
    """A status that a box refuses, or changes, becomes pending."""
    return str(value) if str(value) in STATUSES else PENDING


def comment_text(text: Json) -> str:
    """A comment without words is refused, even where it has files."""
    return str(text) if str(text or "").strip() else WORDLESS


def filled_unless_closed(name: str) -> Judge:
    return lambda draft: draft.get(name) not in EMPTY and str(draft.get("status")) != CLOSED


def may_change(draft: Draft) -> bool:
    """At most: of a task to which nothing came later the box may be right by chance."""
    return draft.get("changedBy") not in EMPTY


def has_date(name: str, draft: Draft) -> bool:
    return draft.get(name) not in EMPTY


def judge_toggled(name: str) -> Judge:
    return lambda draft: draft.get(name) not in EMPTY or bool(draft.get("IS_COMPLETE"))


def judge_present(name: str) -> Judge:
    return lambda draft: name in draft


def has_no_words(draft: Draft) -> bool:
    return comment_text(draft.get("text")) != (draft.get("text") or "")


TASKS = (
    Rule(
        "tasks",
        "title",
        Keeping.APPROXIMATED,
        say("reason.rest_title_cut"),
        lambda draft: len(str(draft.get("title") or "")) > LONGEST_TITLE,
    ),
    Rule(
        "tasks",
        "status",
        Keeping.APPROXIMATED,
        say("reason.rest_task_states"),
        lambda draft: draft.get("status") not in (None, "", *STATUSES),
    ),
    Rule(
        "tasks",
        "changedBy",
        Keeping.APPROXIMATED,
        say("reason.rest_task_changed"),
        running=lambda: may_change,
    ),
    Rule(
        "tasks",
        "xmlId",
        Keeping.TRANSFORMED,
        say("reason.rest_stamp"),
        judge_present("xmlId"),
    ),
    Rule("tasks", "closedDate", Keeping.APPROXIMATED, CLOSING, filled_unless_closed("closedDate")),
    Rule("tasks", "", Keeping.TRANSFORMED, NOISE, lambda _: True),
)


def task_rules(box: Box) -> Sequence[Rule]:
    def closed_by_nobody(draft: Draft) -> bool:
        who = draft.get("closedBy")
        return str(draft.get("status")) == CLOSED and (who in EMPTY or not box.staged(PEOPLE, str(who)))

    def judge(draft: Draft) -> bool:
        return closed_by_nobody(draft) or filled_unless_closed("closedBy")(draft)

    dates = () if keeps_dates(box) else DATES
    other = [rule for rule in TASKS if rule.field not in DATES]
    lost = [Rule("tasks", name, Keeping.LOST, TODAY, partial(has_date, name)) for name in dates]
    kept = [rule for rule in TASKS if rule.field in DATES and not dates]
    return (*other, *kept, *lost, Rule("tasks", "closedBy", Keeping.APPROXIMATED, CLOSING, judge))


def checklist_rules(box: Box) -> Sequence[Rule]:
    return (
        Rule(
            "task_checklists",
            "CREATED_BY",
            Keeping.LOST,
            say("reason.rest_checklist_owner"),
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
            say("reason.rest_checklist_toggled"),
            judge_toggled(name),
        )
        for name in ("TOGGLED_BY", "TOGGLED_DATE")
    ),
    Rule("task_checklists", "ATTACHMENTS", Keeping.LOST, say("reason.rest_checklist_files")),
)


def comment_rules(box: Box) -> Sequence[Rule]:
    """On the forum they keep author and date. In a chat the webhook owner becomes the author, and the date is the
    import date."""
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
        say("reason.rest_system_comment"),
        lambda draft: str(draft.get("author_id")) == "0",
    ),
    Rule("task_comments", "text", Keeping.APPROXIMATED, say("reason.rest_ellipsis"), has_no_words),
)
