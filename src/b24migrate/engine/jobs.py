"""One job: taken, done, and what follows put on the queue. The one place where errors are caught and sorted."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta

from b24migrate.engine.phases import (
    custom_fields,
    deferred,
    files,
    inventory,
    order,
    pull_through,
    read,
    reset,
    send,
    target_codes,
    user_match,
    verify,
)
from b24migrate.engine.phases import deferred as finalize
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import ATTEMPTS, Follow, Later, Work
from b24migrate.model.answers import UNCLEAR
from b24migrate.model.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.model.events import JobFailed, Waited
from b24migrate.model.records import Job
from b24migrate.model.streams import FINAL, LATE, PHASES
from b24migrate.ports import Lease
from b24migrate.ports.quota import bounded

LONGEST_JOB = 200  # characters of it in a message
Performer = Callable[[Work, Job], Follow]

PERFORMERS: dict[str, Performer] = {
    "read-fields": custom_fields.read_fields,
    "create-fields": custom_fields.create_fields,
    "forget": reset.forget,
    "read": read.read,
    "pack": read.pack,
    "prove": read.prove,
    "children": read.children,
    "pull": pull_through.pull,
    "fetch": files.fetch,
    "close": inventory.close,
    "match": user_match.match,
    "upload": files.upload,
    "order": order.order,
    "send": send.send,
    "send-in-turn": send.send_in_turn,
    "learn": target_codes.learn,
    "complete": deferred.complete,
    "finalize": finalize.finalize,
    "forget-findings": verify.forget,
    "count": verify.count,
    "reconcile": verify.reconcile,
    "sample": verify.sample,
    "compare": verify.compare,
    "cover": verify.cover,
}


def perform(work: Work, lease: Lease) -> int:
    """Returns how many jobs follow that can be taken at once. Raises only Stop, or what the machine lacks; in both
    cases the job stays on the queue. Any other exception counts against the job: the rest of the migration goes on."""
    job = lease.job
    work.begin_job()
    try:
        return finish(work, lease, PERFORMERS[job.kind](work, job))
    except Limited as error:
        park(work, lease, error.wait_s, error, counted=False)
        if error.method:  # an outage is no limit
            work.tell(Waited(job.scope, error.method, bounded(error.wait_s)))
    except Transient as error:
        again(work, lease, error)
    except Permanent as error:
        if error.code in UNCLEAR:  # nobody refused anything: the next answer may be as it should be
            again(work, lease, Transient(error.message, code=error.code, hint=error.hint, own=True))
        else:
            bury(work, lease, error)
    except Exception as bug:  # noqa: BLE001 (whatever it is, it must not stop the other jobs)
        again(work, lease, unexpected(work, bug, entity_of(work, job), shown(job)))
    return 0


def entity_of(work: Work, job: Job) -> str:
    phases = (*PHASES, LATE, FINAL)
    return next((one.name for one in work.entities if job.scope in map(one.task, phases)), "")


def shown(job: Job) -> str:
    """The job in a message: its cursors may be long."""
    text = str(job)
    return text if len(text) <= LONGEST_JOB else f"{text[:LONGEST_JOB]}…"


def finish(work: Work, lease: Lease, follow: Follow) -> int:
    now = [one for one in follow if isinstance(one, Job)]
    for later in follow:
        if isinstance(later, Later):
            work.queue.put([later.job], visible_at=later.at)
    work.queue.finish(lease, now)
    return len(now)


def again(work: Work, lease: Lease, error: Transient) -> None:
    """Only a failure of the job's own uses up an attempt; the portal's troubles are waited out."""
    job = lease.job
    if not error.own:
        backoff = min(30.0, 0.5 * 2 ** min(job.failures, 8)) * (1 + random.random() * 0.2)
        park(work, lease, backoff, error, counted=False, failed=True)
    elif job.attempts + 1 >= ATTEMPTS:
        bury(work, lease, error)
    else:
        wait_s = (work.retry_at(job.attempts + 1) - work.clock.now()).total_seconds()
        park(work, lease, wait_s, error, counted=True, failed=True)


def park(
    work: Work, lease: Lease, wait_s: float, error: MigrationError, *, counted: bool, failed: bool = False
) -> None:
    wait_s = bounded(wait_s)  # whoever asks for it
    job = lease.job.tried(lease.job.attempts + counted, lease.job.failures + failed)
    work.queue.park(lease, until=work.clock.now() + timedelta(seconds=wait_s), job=job)
    work.tell(JobFailed(job, "retried" if failed else "parked", error.code, error.message, wait_s))


def bury(work: Work, lease: Lease, error: MigrationError) -> None:
    work.queue.bury(lease, code=error.code, reason=error.sentence, now=work.clock.now())
    work.tell(JobFailed(lease.job, "buried", error.code, error.sentence))
