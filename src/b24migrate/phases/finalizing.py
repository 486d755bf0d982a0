"""What the target has to do when everything has arrived, a stretch at a time; doing a stretch twice is harmless."""

from __future__ import annotations

from b24migrate.errors import Transient
from b24migrate.messages import say
from b24migrate.phases.work import Follow, Work
from b24migrate.records import Job


def finalize(work: Work, job: Job) -> Follow:
    after = str(job.args["after"])
    while (cursor := work.target.finalize(after, run=work.run)) is not None:
        if cursor == after:
            message = say("target.finalize_stalled", after=after)
            raise Transient(message, code="STRANGE_ANSWER", own=True)
        if work.time_is_up():
            return [Job(job.scope, job.kind, {"after": cursor})]
        after = cursor
    return []
