"""Queue messages and the timer: jobs by ID, poison messages, lost messages."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from threading import Event, Thread

from b24migrate.app import App
from b24migrate.app_cache import ActiveRun, AppCache
from b24migrate.config import monitor_connection
from b24migrate.engine import plan
from b24migrate.engine.jobs import perform
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import Paused, Run
from b24migrate.engine.run import ERROR
from b24migrate.engine.worker import LEASE_S, RENEW_S
from b24migrate.insight.status import figures, remember
from b24migrate.model.errors import MigrationError, Stop
from b24migrate.model.records import Job
from b24migrate.monitor.logs import log_bug, log_line
from b24migrate.monitor.telemetry import send_metrics
from b24migrate.ports import DELIVERIES, POISON, POISON_REASON, Lease

RESUME_AFTER_S = 300.0
TENDED_EVERY_S = 60.0
LONGEST_BODY = 2000

DONE, NOTHING, IDLE, STOPPED, BURIED, ENDED = "done", "nothing", "idle", "stopped", "buried", "ended"


def work(keeper: AppCache, body: bytes, deliveries: int = 1) -> str:
    """Does the job that a message names, and moves the plan along when it was the last of its mini-task.

    Returns what became of the message, which is done with in every case: a job that is left, parked or tried again has
    another, or gets one from `tend`. Raises only a bug, so that the host counts it."""
    owner = f"function:{secrets.token_hex(8)}"
    try:
        with keeper.active_run() as at_work:
            if isinstance(at_work, App):
                return _leave_job(at_work, body, owner)
            return _do_job(at_work, body, owner, deliveries)
    except Stop as stop:
        log_line(logging.ERROR, str(stop), error_code=stop.code)
        return STOPPED


def _do_job(at_work: ActiveRun, body: bytes, owner: str, deliveries: int) -> str:
    job_id = read_job_id(body)
    if job_id is None:
        return _bury_unreadable(at_work.app, body)
    lease = _take(at_work.app, job_id, owner)
    if lease is None:
        return NOTHING
    try:
        return _perform(at_work, lease)
    except Stop as stop:
        _give_back(at_work.app, owner)
        _stop_run(at_work, stop)
        raise
    except BaseException as bug:
        _give_up(at_work.app, lease, owner, bug, last=deliveries >= DELIVERIES)
        raise


def _leave_job(app: App, body: bytes, owner: str) -> str:
    """No run is active, or it is paused. Taking the job and returning it marks it as without a message; it gets one
    when the run continues. Not while a run starts: the start drops the jobs of the last run, and a held one would
    stay."""
    job_id = read_job_id(body)
    run = plan.current(app.context.store)
    begins = run is not None and run.state == plan.BEGINNING
    if job_id is not None and not begins and _take(app, job_id, owner):
        _give_back(app, owner)
    return IDLE


def bury(keeper: AppCache, body: bytes) -> str:
    """For a message from the poison queue: its job becomes a dead letter. A job that a worker holds, or that is not
    due, stays as it is."""
    with keeper.app() as app:
        job_id = read_job_id(body)
        if job_id is None:
            return _bury_unreadable(app, body)
        lease = _take(app, job_id, f"function:{secrets.token_hex(8)}")
        if lease is None:
            return NOTHING
        app.context.queue.bury(lease, code=POISON, reason=POISON_REASON, now=app.context.clock.now())
        log_line(logging.ERROR, POISON_REASON, error_code=POISON, job=job_id)
    return BURIED


def tend(keeper: AppCache) -> str:
    """Every minute: sends lost messages again, continues a run that stopped for a while, moves the plan if the process
    that should have done it died, records the progress and updates the metrics."""
    try:
        done = _tend(keeper)
        report_metrics(keeper)
    except Stop as stop:
        log_line(logging.ERROR, str(stop), error_code=stop.code)
        return STOPPED
    return done


def _tend(keeper: AppCache) -> str:
    with keeper.app() as app:
        run = plan.current(app.context.store)
        if run is not None and _may_resume(app, run):
            resume(app, run)
    with keeper.active_run() as at_work:
        if isinstance(at_work, App):
            return IDLE
        try:
            at_work.context.queue.tend(now=at_work.context.clock.now())
            remember(at_work.context, TENDED_EVERY_S)
            return _conduct(at_work)
        except Stop as stop:
            _stop_run(at_work, stop)
            raise


def resume(app: App, run: Run) -> None:
    """Checks both portals and continues; raises Stop if a check fails."""
    app.runner.begin(run.plan, named=run.plan.entities)
    log_line(logging.INFO, f"The run {run.id} goes on.", run=run.id)


def read_job_id(body: bytes) -> str | None:
    """The job that a message names; None if it is not our message."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    job_id = message.get("job") if isinstance(message, dict) else None
    return job_id if isinstance(job_id, str) and job_id else None


def _perform(at_work: ActiveRun, lease: Lease) -> str:
    with keep_lease(at_work.context, lease):
        perform(at_work.context, lease)
    return _conduct(at_work) if at_work.conductor.idle(lease.job.scope) else DONE


def _conduct(at_work: ActiveRun) -> str:
    """Moves the plan and ends the run when it is complete. The run ends once. A paused run does not move."""
    try:
        if not at_work.conductor.step():
            return DONE
        ended = at_work.app.runner.conclude(at_work.run)
    except Paused:
        return IDLE
    log_line(
        logging.INFO, f"The run is at its end: exit code {ended.exit_code}. {ended.message}".strip(), run=ended.run.id
    )
    return ENDED


def _may_resume(app: App, run: Run) -> bool:
    """After an outage, not where a person has to act first, and not when all is done that can be done."""
    if run.state != plan.ACTIVE or run.exit_code != ERROR:
        return False
    rested = app.context.clock.now() - datetime.fromisoformat(run.finished) >= timedelta(seconds=RESUME_AFTER_S)
    return rested and not app.runner.is_over(run)


def _stop_run(at_work: ActiveRun, stop: Stop) -> None:
    """No job of this run is taken until it continues."""
    with suppress(MigrationError):  # the store itself may be what stops it
        at_work.app.runner.stop(at_work.run, stop)


def _take(app: App, job_id: str, owner: str) -> Lease | None:
    return app.context.queue.take(job_id, owner, now=app.context.clock.now(), lease_s=LEASE_S)


def _give_back(app: App, owner: str) -> None:
    with suppress(MigrationError):
        app.context.queue.release(owner, lambda _: False)


def _give_up(app: App, lease: Lease, owner: str, bug: BaseException, *, last: bool) -> None:
    """Given back; after the last delivery it goes to the dead letters, since only here the reason is known."""
    redact = app.settings.redactor.redact
    log_bug(bug, redact, job=lease.job.id)
    if not last:
        _give_back(app, owner)
        return
    with suppress(MigrationError):
        reason = redact(f"{type(bug).__name__}: {bug}")
        app.context.queue.bury(lease, code=POISON, reason=reason, now=app.context.clock.now())


def _bury_unreadable(app: App, body: bytes) -> str:
    """Kept for an administrator."""
    text = app.settings.redactor.redact(body[:LONGEST_BODY].decode("utf-8", "replace"))
    reason = "a message that names no job was found in the queue"
    letter = Job("unknown", "unreadable", {"body": text})
    app.context.queue.letter(letter, code=POISON, reason=reason, now=app.context.clock.now())
    log_line(logging.ERROR, reason, error_code=POISON)
    return BURIED


@contextmanager
def keep_lease(context: RunContext, lease: Lease, *, every_s: float = RENEW_S) -> Iterator[None]:
    """Losing the lease is harmless: what its job writes may be written twice."""
    over = Event()

    def renew() -> None:
        while not over.wait(every_s):
            with suppress(MigrationError):  # the next time may succeed before the lease ends
                context.queue.renew(lease, now=context.clock.now(), lease_s=LEASE_S)

    thread = Thread(target=renew, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


AFTERWARDS_S = 300.0  # the last metrics of a run are sent for so long after its end


def report_metrics(keeper: AppCache) -> None:
    """Once, if Azure Monitor is configured and there is something new."""
    connection = monitor_connection()
    if not connection:
        return
    with keeper.app() as app:
        if _has_news(app):
            with send_metrics(lambda: figures(app.context), connection, lambda text: log_line(logging.WARNING, text)):
                pass  # they are sent at the end of the block


def _has_news(app: App) -> bool:
    run = plan.current(app.context.store)
    if run is None or not run.finished:
        return run is not None
    return app.context.clock.now() - datetime.fromisoformat(run.finished) < timedelta(seconds=AFTERWARDS_S)
