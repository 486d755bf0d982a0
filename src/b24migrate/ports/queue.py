"""The queue of jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from b24migrate.messages import say
from b24migrate.model.records import DeadLetter, Job

DELIVERIES = 3  # so often is a job given out whose workers vanish
POISON = "POISON"
POISON_REASON = say("work.poison")


class Lease(NamedTuple):
    job: Job
    token: str


class Waiting(NamedTuple):
    """A job that is not finished. `visible_at` None: it can be taken now. `held`: a worker took it, and unless the
    worker renews the lease or gives the job back, it can be taken at `visible_at`, which may be past."""

    job: Job
    visible_at: datetime | None = None
    held: bool = False


class Queue(Protocol):
    """Jobs wait here until they are finished. A job whose worker died comes back when its lease ends. One that was
    given out three times, and each time came back only so, is not given out any more: it goes to the dead letters
    with the code POISON. A job that is parked or released starts again. One whose row is damaged goes to the dead
    letters as soon as its turn comes (BROKEN_ROW)."""

    @property
    def glance_s(self) -> float:
        """How long to wait, in seconds, before asking again whether there is something to do: what a look costs."""
        ...

    def put(self, jobs: Sequence[Job], *, visible_at: datetime | None = None) -> None:
        """Adds the jobs that are not there yet (by id)."""
        ...

    def claim(self, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        """Takes the oldest visible job for `lease_s`, or None."""
        ...

    def take(self, job_id: str, owner: str, *, now: datetime, lease_s: float) -> Lease | None:
        """Takes this job, for the function that received its message and deletes it. None if the job does not exist or
        cannot be taken now."""
        ...

    def renew(self, lease: Lease, *, now: datetime, lease_s: float) -> bool:
        """False when the lease was lost to another worker: stop working on it."""
        ...

    def finish(self, lease: Lease, follow: Sequence[Job]) -> None:
        """Adds what follows, then removes the job. Never visible in between as an idle scope."""
        ...

    def park(self, lease: Lease, *, until: datetime, job: Job | None = None) -> None:
        """Gives the job back, to be taken again at `until`, with the counts of `job` when given."""
        ...

    def bury(self, lease: Lease, *, code: str, reason: str, now: datetime) -> None:
        """Moves the job to the dead letters."""
        ...

    def letter(self, job: Job, *, code: str, reason: str, now: datetime) -> None:
        """Leaves a dead letter for a record whose attempts are used up; `job` would send that record again."""
        ...

    def open(self, scope: str) -> int:
        """How many jobs of the mini-task are not finished: waiting, parked or being worked on."""
        ...

    def jobs(self) -> list[Waiting]:
        """All that are not finished, of every scope, the oldest first."""
        ...

    def held(self, *, now: datetime) -> int:
        """How many jobs workers hold at this moment. Cheap."""
        ...

    def next_visible(self) -> datetime | None:
        """The time at which the next job can be taken, a leased one when its lease ends; None without jobs."""
        ...

    def drop(self, scope: str) -> None:
        """Removes the waiting jobs and the dead letters of a mini-task."""
        ...

    def dead(self, scope: str = "") -> list[DeadLetter]: ...

    def dead_count(self, *, parts: bool = False) -> int:
        """How many there are; with `parts` only of those that `dead_parts` gives."""
        ...

    def dead_parts(self, scope: str = "") -> list[DeadLetter]:
        """Of the dead letters those that tell of a part of the work. Every failed record may leave one, so these are
        found without a look at the others."""
        ...

    def release(self, owner_prefix: str, alive: Callable[[str], bool]) -> int:
        """Ends the leases of dead owners with this prefix. Returns their number."""
        ...

    def tend(self, *, now: datetime) -> int:
        """Sends lost messages of jobs again and deletes messages without a job, a few at a time: it is called about
        every half a minute. Returns the number of repaired jobs."""
        ...
