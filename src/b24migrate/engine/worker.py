"""The workers of one process: threads that take jobs from the queue until the plan is complete."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Condition, Lock, Thread
from threading import Event as Flag
from typing import Protocol

from b24migrate.engine import job_owner
from b24migrate.engine.conductor import Conductor
from b24migrate.engine.jobs import perform
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.plan import find_dismissal
from b24migrate.model.errors import Transient
from b24migrate.ports import Lease

LEASE_S = 90.0
RENEW_S = 20.0
LOOK_S = 1.0  # how often the store is checked for a pause, or for another run
# In checks of the queue, which defines the pause between two: a second for a file, more for a remote one.
STEP_GLANCES = 10.0  # the plan is checked in case the worker that finished a stage's last job was killed then
IDLE_GLANCES = 10.0  # an idle worker looks for itself, in case it is not woken
TICK_S = 0.1  # so often the main thread looks after the others
ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000
_M_ARENA_MAX = -8  # malloc.h of glibc


class History(Protocol):
    """How far the run was at each moment, kept for the charts."""

    def tick(self) -> None: ...

    def now(self) -> None: ...


class NoHistory:
    def tick(self) -> None:
        return

    def now(self) -> None:
        return


class WorkerPool:
    """Threads do not share anything but the ports, which are made for it."""

    def __init__(self, context: RunContext, conductor: Conductor, workers: int, history: History | None = None) -> None:
        self._over = Flag()  # no thread takes a job any more
        self._context = replace(context, leaving=self._over.is_set)  # long jobs end soon
        self._conductor = conductor
        self._workers = workers
        self._process = f"{job_owner.host_id()}:{os.getpid()}"
        self._left = Flag()  # and those that were taken are at their end
        self._news = Condition()
        self._heard = 0  # how often there was news
        self._lock = Lock()
        self._leases: dict[str, Lease] = {}
        self._failure: BaseException | None = None
        self._history = history or NoHistory()

    def work_until_done(self, *, tick: Callable[[], None] = lambda: None, tick_s: float = TICK_S) -> None:
        """Returns when the plan has ended. Raises the Stop or the bug that stopped it. In any case the threads have
        ended then, and their jobs are done or back on the queue: long jobs are asked to leave."""
        self._release_dead()
        if self._conductor.step():
            return
        share_arena()
        hands = [Thread(target=self._work, args=(n,), name=f"worker-{n}") for n in range(self._workers)]
        heartbeat = Thread(target=self._keep_alive, args=(tick_s,), name="heartbeat")
        with collect_seldom():
            try:
                for thread in (*hands, heartbeat):
                    thread.start()
                self._watch(tick, tick_s)
            except KeyboardInterrupt:
                self._context.interrupt.request()  # a call in progress may take minutes
                raise
            finally:
                self._stop_threads(hands, heartbeat)
                tick()
                self._history.now()
        if self._failure is not None:
            raise self._failure

    def _stop_threads(self, hands: Sequence[Thread], heartbeat: Thread) -> None:
        """The heart beats until the last thread has released its job: no other worker may take it meanwhile."""
        self._end()
        try:
            for thread in hands:
                _join(thread)
        finally:
            self._left.set()
            _join(heartbeat)

    def _watch(self, tick: Callable[[], None], tick_s: float) -> None:
        """Wakes parked jobs and takes over the progress of other processes for the threads."""
        clock, queue = self._context.clock, self._context.queue
        stepped = glanced = clock.monotonic()
        while not self._over.wait(tick_s):
            tick()
            self._history.tick()
            now = clock.monotonic()
            if now - stepped >= STEP_GLANCES * queue.glance_s:
                if self._conductor.step():
                    return
                stepped = now
            if now - glanced >= queue.glance_s:
                due = queue.next_visible()
                if due is not None and due <= clock.now():
                    self._wake()
                glanced = now

    def _keep_alive(self, tick_s: float) -> None:
        """By itself, since a step of the plan may take longer than a lease: the jobs of a long table are worked out in
        one, and leases that end meanwhile would be taken for deaths."""
        clock = self._context.clock
        renewed = looked = clock.monotonic()
        while not self._left.wait(tick_s):
            now = clock.monotonic()
            try:
                if now - looked >= LOOK_S and not self._over.is_set():
                    looked = now
                    self._check_dismissal()
                if now - renewed >= RENEW_S:
                    renewed = now
                    self._renew_leases()
                    self._context.queue.tend(now=clock.now())
            except BaseException as failure:  # noqa: BLE001 (passed to the main thread, which raises it)
                self._fail(failure)
                return

    def _check_dismissal(self) -> None:
        """Whether all threads have to leave. The heart beats on until they have."""
        with suppress(Transient):  # a far store may miss a beat
            if why := find_dismissal(self._context.store, self._context.run):
                self._fail(why)

    def _work(self, number: int) -> None:
        owner = f"{self._process}:{number}"
        while not self._over.is_set():
            heard = self._heard
            try:
                found = self._do_next_job(owner)
            except BaseException as failure:  # noqa: BLE001 (passed to the main thread, which raises it)
                self._fail(failure)
                return
            if found is None:
                self._wait(heard)
            else:
                self._wake(found)

    def _do_next_job(self, owner: str) -> int | None:
        """Returns for how many others there may be something to take now; None when there was nothing to take."""
        lease = self._context.queue.claim(owner, now=self._context.clock.now(), lease_s=LEASE_S)
        if lease is None:
            return None
        with self._lock:
            self._leases[lease.token] = lease
        try:
            followed = perform(self._context, lease)
        except BaseException:
            self._context.queue.park(lease, until=self._context.clock.now())
            raise
        finally:
            with self._lock:
                self._leases.pop(lease.token, None)
        scope = lease.job.scope
        if not self._conductor.idle(scope):
            return followed - 1  # it performs one of them itself
        put = self._conductor.put
        if self._conductor.step(scope):
            self._end()
        return self._conductor.put - put - 1

    def _wait(self, heard: int) -> None:
        """For news that came after so much had been heard."""
        with self._news:
            if self._heard == heard:
                self._news.wait(IDLE_GLANCES * self._context.queue.glance_s)

    def _wake(self, others: int | None = None) -> None:
        """There may be something to take, for so many of those who wait, or for all."""
        if others is not None and others <= 0:
            return
        with self._news:
            self._heard += 1
            self._news.notify(self._workers if others is None else others)

    def _end(self) -> None:
        self._over.set()
        self._wake()

    def _fail(self, failure: BaseException) -> None:
        with self._lock:
            self._failure = self._failure or failure
        self._end()

    def _renew_leases(self) -> None:
        """A long job keeps its lease; a killed process stops keeping it, and the job comes back."""
        self._release_dead()
        with self._lock:
            held = list(self._leases.values())
        for lease in held:
            self._context.queue.renew(lease, now=self._context.clock.now(), lease_s=LEASE_S)

    def _release_dead(self) -> None:
        """Processes of this place that are gone will not come back for their jobs: no need to wait."""
        self._context.queue.release(f"{job_owner.host_id()}:", job_owner.is_alive)


def share_arena() -> None:
    """The C library of Linux gives each thread an arena of its own, and keeps there what its largest job took. Threads
    of Python allocate in turns anyway, so new ones share one. Elsewhere nothing changes."""
    with suppress(AttributeError, OSError, TypeError):  # a system without this function, or without such libraries
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def _join(thread: Thread) -> None:
    if thread.ident is not None:  # else it was not started
        thread.join()


class Freeze:
    """Freezes objects for the runs of this process. Frozen garbage is never collected: two runs freeze once, and what
    others froze is left to them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._runs = 0
        self._by_others: bool | None = None  # counted once, because counting reads all of them

    def enter(self) -> None:
        with self._lock:
            if self._by_others is None:
                self._by_others = gc.get_freeze_count() > 0
            self._runs += 1
            if self._runs == 1 and not self._by_others:
                gc.freeze()

    def leave(self) -> None:
        with self._lock:
            self._runs -= 1
            if not self._runs and not self._by_others:
                gc.unfreeze()


_FREEZE = Freeze()


@contextmanager
def collect_seldom(freeze: Freeze = _FREEZE) -> Iterator[None]:
    """A page is thousands of small tuples and no cycle: at its usual pace the collector walks them again and again."""
    before = gc.get_threshold()
    freeze.enter()
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        freeze.leave()
