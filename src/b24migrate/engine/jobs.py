"""One job: taken, done, and what follows put on the queue. The one place where errors are caught and sorted."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from b24migrate.engine.phases import (
    arrivals,
    broken_links,
    child_deletions,
    count_ranges,
    custom_fields,
    deferred,
    deletions,
    files,
    inventory,
    missing_children,
    order,
    parent_lanes,
    pull_through,
    read,
    read_children,
    removal,
    send,
    stale_links,
    stale_parents,
    sweep,
    target_codes,
    user_match,
    verify,
)
from b24migrate.engine.phases import deferred as finalize
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import ATTEMPTS, Follow, Later, RunContext
from b24migrate.model.answers import UNCLEAR
from b24migrate.model.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.model.events import JobDone, JobFailed, Waited
from b24migrate.model.records import Job
from b24migrate.model.streams import FINAL, LATE, PHASES
from b24migrate.ports import Lease
from b24migrate.ports.quota import bounded

SPENT = "spent:"  # prefix of the counters with the time of all jobs of a record type
LONGEST_JOB = 200  # characters of it in a message
Performer = Callable[[RunContext, Job], Follow]

PERFORMERS: dict[str, Performer] = {
    "read-fields": custom_fields.read_fields,
    "create-fields": custom_fields.create_fields,
    "forget": read.forget_last_pass,
    "read": read.read,
    "pack": parent_lanes.pack,
    "prove": read_children.prove,
    "children": read_children.children,
    "seek": deletions.seek,
    "read-unlisted": deletions.read_unlisted,
    "count-ranges": count_ranges.count_ranges,
    "sweep": sweep.sweep,
    "read-by-id": sweep.read_by_id,
    "ask-absent": sweep.ask_absent,
    "seek-missing": missing_children.seek,
    "seek-children": child_deletions.seek,
    "judge-children": child_deletions.judge,
    "judge": deletions.judge,
    "mark": deletions.mark,
    "refer": stale_links.refer,
    "read-parents": stale_parents.read_parents,
    "pull": pull_through.pull,
    "fetch": files.fetch,
    "close": inventory.close,
    "match": user_match.match,
    "upload": files.upload,
    "order": order.order,
    "send": send.send,
    "send-in-turn": send.send_in_turn,
    "learn": target_codes.read_codes,
    "complete": deferred.complete,
    "protect": removal.protect,
    "recall": removal.recall,
    "renew": arrivals.renew,
    "renew-freed": arrivals.renew_freed,
    "find-holders": arrivals.find_holders,
    "forget-arrived": arrivals.forget_arrived,
    "relink": removal.relink,
    "relinked": removal.end_relink,
    "remove": removal.remove,
    "finalize": finalize.finalize,
    "forget-findings": verify.forget_findings,
    "count": verify.count,
    "reconcile": verify.reconcile,
    "sample": verify.sample,
    "compare": verify.compare,
    "compare-changed": verify.compare_changed,
    "cover": broken_links.cover,
    "cover-changed": broken_links.cover_changed,
    "cover-sent": broken_links.cover_sent,
    "cover-found": broken_links.cover_found,
    "note-covered": broken_links.note_covered,
}


def perform(context: RunContext, lease: Lease) -> int:
    """Returns how many jobs follow that can be taken at once. Raises only Stop, or what the machine lacks; in both
    cases the job stays on the queue. Any other exception counts against the job: the rest of the migration goes on."""
    began = context.clock.monotonic()
    try:
        return attempt(context, lease)
    finally:
        seconds = context.clock.monotonic() - began
        context.tell(JobDone(lease.job.scope, str(lease.job.args.get("stream", "")), seconds))


def attempt(context: RunContext, lease: Lease) -> int:
    job = lease.job
    context.start_job()
    try:
        return finish(context, lease, PERFORMERS[job.kind](context, job))
    except Limited as error:
        park(context, lease, error.wait_s, error, counted=False)
        if error.method:  # an outage is not a limit
            context.tell(Waited(job.scope, error.method, bounded(error.wait_s)))
    except Transient as error:
        retry(context, lease, error)
    except Permanent as error:
        if error.code in UNCLEAR:  # this was no refusal: the next answer may be as it should be
            retry(context, lease, Transient(error.message, code=error.code, hint=error.hint, own=True))
        else:
            bury(context, lease, error)
    except Exception as bug:  # noqa: BLE001 (whatever it is, it must not stop the other jobs)
        retry(context, lease, unexpected(context, bug, entity_of(context, job), describe_job(job)))
    return 0


def entity_of(context: RunContext, job: Job) -> str:
    phases = (*PHASES, LATE, FINAL)
    return next((one.name for one in context.entities if job.scope in map(one.task, phases)), "")


def describe_job(job: Job) -> str:
    """The job in a message: its cursors may be long."""
    text = str(job)
    return text if len(text) <= LONGEST_JOB else f"{text[:LONGEST_JOB]}…"


def finish(context: RunContext, lease: Lease, follow: Follow) -> int:
    now = [one for one in follow if isinstance(one, Job)]
    for later in follow:
        if isinstance(later, Later):
            context.queue.put([later.job], visible_at=later.at)
    context.queue.finish(lease, now)
    return len(now)


def retry(context: RunContext, lease: Lease, error: Transient) -> None:
    """Only a failure of the job's own uses up an attempt; the portal's troubles are waited out."""
    job = lease.job
    if not error.own:
        backoff = min(30.0, 0.5 * 2 ** min(job.failures, 8)) * (1 + random.random() * 0.2)
        park(context, lease, backoff, error, counted=False, failed=True)
    elif job.attempts + 1 >= ATTEMPTS:
        bury(context, lease, error)
    else:
        wait_s = (context.retry_at(job.attempts + 1) - context.clock.now()).total_seconds()
        park(context, lease, wait_s, error, counted=True, failed=True)


def park(
    context: RunContext, lease: Lease, wait_s: float, error: MigrationError, *, counted: bool, failed: bool = False
) -> None:
    wait_s = bounded(wait_s)  # it may come from a portal
    job = lease.job.tried(lease.job.attempts + counted, lease.job.failures + failed)
    context.queue.park(lease, until=context.clock.now() + timedelta(seconds=wait_s), job=job)
    context.tell(JobFailed(job, "retried" if failed else "parked", error.code, error.message, wait_s))


def bury(context: RunContext, lease: Lease, error: MigrationError) -> None:
    context.queue.bury(lease, code=error.code, reason=error.sentence, now=context.clock.now())
    context.tell(JobFailed(lease.job, "buried", error.code, error.sentence))
