"""A job as rows of the table `Jobs`: all in one partition, so that one transaction covers a job and what follows it.

`job:<age>` is the job itself; `id:<job id>` keeps it from being there twice and lets a scope be counted;
`dead:<job id>` is a dead letter.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any, NamedTuple

from b24migrate.messages import pack, unpack
from b24migrate.model.records import DeadLetter, Job, Json, canonical, decode_job
from b24migrate.ports import Clock
from b24migrate.stores.azure.keys import row_key
from b24migrate.stores.azure.messages import Message
from b24migrate.stores.azure.properties import Entity, Overflow, columns, entity
from b24migrate.stores.azure.transactions import Operation, create, delete, merge, size, upsert

TABLE, PARTITION = "Jobs", "work"
JOB, ID, DEAD, TENDED = "job:", "id:", "dead:", "tended"
AT_ONCE = "0"  # before every time
FREE: Mapping[str, Json] = {"Owner": "", "Token": "", "Deliveries": 0}
NO_MESSAGE: Mapping[str, Json] = {"Message": "", "Receipt": "", "MessageAt": AT_ONCE}
_DIGITS = 17


class Ages:
    """A clock that never stands still and is ahead of everything this process has met: what follows a job is younger
    than the job, however wrong this machine's time is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last = 0

    def next(self) -> str:
        with self._lock:
            self._last = max(self._last + 1, int(self._clock.now().timestamp() * 1e6))
            return f"{self._last:0{_DIGITS}}-{secrets.token_hex(4)}"  # two processes may be at the same microsecond

    def met(self, age: str) -> None:
        with self._lock:
            self._last = max(self._last, int(age[:_DIGITS]))


class Row(NamedTuple):
    """One row of a job as it was read, or a part of it."""

    values: Mapping[str, Any]
    etag: str

    @property
    def key(self) -> str:
        return str(self.values["RowKey"])

    @property
    def age(self) -> str:
        return self.key.removeprefix(JOB)

    @property
    def id(self) -> str:
        return str(self.values["Id"])

    @property
    def token(self) -> str:
        return str(self.values["Token"])

    @property
    def owner(self) -> str:
        return str(self.values["Owner"])

    @property
    def visible_at(self) -> str:
        return str(self.values["VisibleAt"])

    @property
    def deliveries(self) -> int:
        return int(self.values["Deliveries"])

    @property
    def message(self) -> Message | None:
        return Message(self.values["Message"], self.values["Receipt"]) if self.values.get("Message") else None

    def with_values(self, values: Mapping[str, Json], etag: str) -> Row:
        return Row({**self.values, **values}, etag)

    def job(self, overflow: Overflow) -> Job:
        found = columns(self.values, overflow)
        return decode_job(*(found[name] for name in ("Scope", "Kind", "Args", "Attempts", "Failures")))

    def letter(self, overflow: Overflow) -> DeadLetter:
        found = columns(self.values, overflow)
        reason = unpack(found["Reason"], found.get("ReasonMessage"))
        return DeadLetter(self.job(overflow), found["Code"], reason, found["DiedAt"])

    def touch(self) -> Operation:
        """Changes nothing, and fails when something changed."""
        return merge({"PartitionKey": PARTITION, "RowKey": self.key, "Token": self.token}, self.etag)

    def removal(self) -> list[Operation]:
        return [delete(PARTITION, self.key, self.etag), delete(PARTITION, id_key(self.id))]


class Entry(NamedTuple):
    """A job that is to be added."""

    job: Job
    age: str
    row: Entity
    mark: Entity
    message: Message

    def creation(self) -> list[Operation]:
        """Fails when the job is there already."""
        return [create(self.row), create(self.mark)]

    def succession(self) -> list[Operation]:
        """For the job that follows itself: its id stays, and so it is never seen missing."""
        return [create(self.row), upsert(self.mark)]

    def size(self) -> int:
        return sum(map(size, self.creation()))


def entry(job: Job, age: str, message: Message, overflow: Overflow, *, visible_at: str, message_at: str) -> Entry:
    row = entity(
        PARTITION,
        JOB + age,
        {
            **_columns(job),
            **FREE,
            "VisibleAt": visible_at,
            **message.columns(),
            "MessageAt": message_at,
        },
        overflow,
    )
    mark = entity(PARTITION, ID + job.id, {"Scope": job.scope, "Age": age}, overflow)
    return Entry(job, age, row, mark, message)


def letter_entity(letter: DeadLetter, age: str, message: Message, overflow: Overflow) -> Entity:
    """`age` is of the first death, so that letters stay in order."""
    return entity(
        PARTITION,
        DEAD + letter.job.id,
        {
            **_columns(letter.job),
            "Code": letter.code,
            "Reason": str(letter.reason),
            "ReasonMessage": pack(letter.reason),
            "DiedAt": letter.died_at,
            "Age": age,
            **message.columns(),
        },
        overflow,
    )


def id_key(job_id: str) -> str:
    return row_key(ID + job_id)


def letter_key(job_id: str) -> str:
    return row_key(DEAD + job_id)


def token_of(age: str) -> str:
    """A lease's token contains the place of its job."""
    return f"{age}.{secrets.token_hex(8)}"


def age_of(token: str) -> str:
    return token.partition(".")[0]


def text(moment: datetime) -> str:
    """ISO 8601, UTC, microseconds, `Z`: sorts as time does."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _columns(job: Job) -> dict[str, Json]:
    return {
        "Id": job.id,
        "Scope": job.scope,
        "Kind": job.kind,
        "Args": canonical(job.args).decode(),
        "Attempts": job.attempts,
        "Failures": job.failures,
    }
