"""A lease that is kept while a job is being done, by a thread that ends with the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from b24migrate.errors import MigrationError
from b24migrate.phases.work import Work
from b24migrate.pipeline.crew import LEASE_S, RENEW_S
from b24migrate.ports import Lease


@contextmanager
def kept(work: Work, lease: Lease, *, every_s: float = RENEW_S) -> Iterator[None]:
    """A lease that was lost all the same is no trouble: what its job writes may be written twice."""
    over = Event()

    def renew() -> None:
        while not over.wait(every_s):
            with suppress(MigrationError):  # the next time may succeed before the lease ends
                work.queue.renew(lease, now=work.clock.now(), lease_s=LEASE_S)

    thread = Thread(target=renew, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
