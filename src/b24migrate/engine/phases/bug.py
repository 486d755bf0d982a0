"""Exceptions that are not ours, as errors of the record or the job that was being worked on."""

from __future__ import annotations

from b24migrate.engine.phases.context import RunContext
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError, Transient, is_exhausted

UNEXPECTED = "UNEXPECTED"


def unexpected(context: RunContext, bug: Exception, entity: str, about: str) -> Transient:
    """An error that uses up an attempt of what it is `about`. Keeps the details for the developers, and a
    note with the entity. Raises the exception itself if no record is its cause: an error of ours, a full disk."""
    if isinstance(bug, MigrationError) or is_exhausted(bug):
        raise bug
    name = type(bug).__name__
    where = context.keep_bug(bug, about)
    if entity:
        context.note(entity, say("work.bug", name=name, where=where))
    return Transient(say("work.unexpected", name=name, where=where, about=about), code=UNEXPECTED, own=True)
