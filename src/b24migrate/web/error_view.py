"""What failed, and what a code means, in the language of who reads it."""

from __future__ import annotations

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.causes import Cause, Group, group_causes, list_causes
from b24migrate.messages.pages import PAGES, UNKNOWN, link, page_of
from b24migrate.web.responses import Refused
from b24migrate.web.schemas import ErrorGroup, ErrorPage, ErrorPlace, Errors, Letter

MOST_LETTERS = 200
LONGEST = 2000  # characters of a message


def view_errors(context: RunContext) -> Errors:
    groups = tuple(_group(context, one) for one in group_causes(list_causes(context)))
    letters = context.queue.dead_parts()
    shown = tuple(
        Letter(one.job.scope, one.code, _cut(one.reason), one.died_at, _cut(str(one.job)))
        for one in letters[:MOST_LETTERS]
    )
    return Errors(groups, shown, len(letters))


def _group(context: RunContext, group: Group) -> ErrorGroup:
    return ErrorGroup(
        group.code,
        group.page.title,
        group.count,
        group.waits,
        group.page.cause,
        tuple(group.fixes),
        link(group.page),
        tuple(_place(context, one) for one in group.causes),
    )


def _place(context: RunContext, cause: Cause) -> ErrorPlace:
    stream = cause.place if cause.place in context.streams else ""
    message = _cut(cause.message)
    return ErrorPlace(cause.place, cause.count, cause.status, _cut(cause.example), message, stream)


def error_page(code: str) -> ErrorPage:
    """Raises Refused for what is no code at all."""
    spelled = {known.lower(): known for known in PAGES}
    name = spelled.get(code.lower(), code)
    found = page_of(name)
    if found is UNKNOWN and name != UNKNOWN.code:
        raise Refused(404, "DASHBOARD_NOT_FOUND", "code")
    family = found.code if found.code != name else ""
    return ErrorPage(name, family, found.title, found.cause, found.fix, found.retried, link(found))


def _cut(text: str) -> str:
    """A message of ours is never so long; one that is keeps its text only."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
