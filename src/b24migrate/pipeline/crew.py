"""The workers of one process: threads that take jobs from the queue until the plan is at its end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from threading import Event as Flag
from threading import Lock, Thread

from b24migrate.phases.work import Work
from b24migrate.pipeline.conductor import Conductor
from b24migrate.pipeline.perform import perform
from b24migrate.ports import Lease

LEASE_S = 90.0
RENEW_S = 20.0
FIRST_WAIT_S, LONGEST_WAIT_S = 0.005, 0.2


class Crew:
    """Threads do not share anything but the ports, which are made for it."""

    def __init__(self, work: Work, conductor: Conductor, workers: int) -> None:
        self._work = work
        self._conductor = conductor
        self._workers = workers
        self._host = f"{socket.gethostname()}:{os.getpid()}"
        self._over = Flag()
        self._lock = Lock()
        self._leases: dict[str, Lease] = {}
        self._failure: BaseException | None = None

    def work_until_done(self, *, tick: Callable[[], None] = lambda: None, tick_s: float = 0.1) -> None:
        """Returns when the plan is at its end. Raises what stopped it: Stop, or a bug. On any way out the threads
        have ended, and the jobs they were in are back on the queue."""
        self._release_the_dead()
        threads = [Thread(target=self._labour, args=(n,), name=f"worker-{n}") for n in range(self._workers)]
        threads.append(Thread(target=self._keep_leases, name="leases", daemon=True))
        if self._conductor.step():
            return
        for thread in threads:
            thread.start()
        try:
            while not self._over.wait(tick_s):
                tick()
                if self._conductor.step():
                    break
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
            tick()
        if self._failure is not None:
            raise self._failure

    def _labour(self, number: int) -> None:
        owner = f"{self._host}:{number}"
        wait_s = FIRST_WAIT_S
        while not self._over.is_set():
            try:
                found = self._take_one(owner)
            except BaseException as failure:  # noqa: BLE001 (told to the main thread, which raises it)
                self._fail(failure)
                return
            wait_s = FIRST_WAIT_S if found else min(wait_s * 2, LONGEST_WAIT_S)
            if not found:
                self._over.wait(wait_s)

    def _take_one(self, owner: str) -> bool:
        lease = self._work.queue.claim(owner, now=self._work.clock.now(), lease_s=LEASE_S)
        if lease is None:
            return False
        with self._lock:
            self._leases[lease.token] = lease
        try:
            perform(self._work, lease)
        except BaseException:
            self._work.queue.park(lease, until=self._work.clock.now())
            raise
        finally:
            with self._lock:
                self._leases.pop(lease.token, None)
        if self._conductor.idle(lease.job.scope) and self._conductor.step():
            self._over.set()
        return True

    def _fail(self, failure: BaseException) -> None:
        with self._lock:
            self._failure = self._failure or failure
        self._over.set()

    def _keep_leases(self) -> None:
        """A long job keeps its lease; a killed process stops keeping it, and the job comes back."""
        while not self._over.wait(RENEW_S):
            with self._lock:
                held = list(self._leases.values())
            for lease in held:
                self._work.queue.renew(lease, now=self._work.clock.now(), lease_s=LEASE_S)

    def _release_the_dead(self) -> None:
        """Processes of this machine that are gone will not come back for their jobs: no need to wait."""
        self._work.queue.release(f"{socket.gethostname()}:", owner_is_alive)


def owner_is_alive(owner: str) -> bool:
    """Owners are `<host>:<pid>:<n>`."""
    pid = owner.split(":")[-2]
    return pid.isdecimal() and process_exists(int(pid))


def process_exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
