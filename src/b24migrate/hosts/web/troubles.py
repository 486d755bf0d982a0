"""What failed, and what a code means, in the language of who reads it."""

from __future__ import annotations

from b24migrate.error_pages import PAGES, UNKNOWN, link, page_of
from b24migrate.hosts.web.answers import Refused
from b24migrate.hosts.web.shapes import ErrorGroup, ErrorPage, ErrorPlace, Errors, Letter
from b24migrate.hosts.words.errors_of import fixes_words, message_words, page_words
from b24migrate.phases.work import Work
from b24migrate.pipeline.causes import Cause, Group, causes, grouped

MOST_LETTERS = 200
LONGEST = 2000  # characters of a message


def errors(work: Work, language: str) -> Errors:
    groups = tuple(_group(work, one, language) for one in grouped(causes(work)))
    letters = work.queue.dead_parts()
    shown = tuple(
        Letter(one.job.scope, one.code, message_words(_cut(one.reason), language), one.died_at, _cut(str(one.job)))
        for one in letters[:MOST_LETTERS]
    )
    return Errors(groups, shown, len(letters))


def _group(work: Work, group: Group, language: str) -> ErrorGroup:
    told = page_words(group.code, language)
    return ErrorGroup(
        group.code,
        told.title,
        group.count,
        group.waits,
        told.cause,
        tuple(fixes_words(group, language)),
        link(group.page),
        tuple(_place(work, one, language) for one in group.causes),
    )


def _place(work: Work, cause: Cause, language: str) -> ErrorPlace:
    stream = cause.place if cause.place in work.streams else ""
    message = message_words(_cut(cause.message), language)
    return ErrorPlace(cause.place, cause.count, cause.status, _cut(cause.example), message, stream)


def page(code: str, language: str) -> ErrorPage:
    """Raises Refused for what is no code at all."""
    spelled = {known.lower(): known for known in PAGES}
    name = spelled.get(code.lower(), code)
    found = page_of(name)
    if found is UNKNOWN and name != UNKNOWN.code:
        raise Refused(404, "DASHBOARD_NOT_FOUND", "code")
    told = page_words(name, language)
    return ErrorPage(name, found.code if found.code != name else "", *told, link(found))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
