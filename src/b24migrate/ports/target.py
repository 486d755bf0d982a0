"""The target: a box, by its import module or by its own methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO, NamedTuple, Protocol

from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Args, Item, Json, Outcome
from b24migrate.model.streams import CustomFields


class TargetLimits(NamedTuple):
    items: int
    body_bytes: int
    file_bytes: int
    chunk_bytes: int


class TargetCheck(NamedTuple):
    """A target's remark on an entity: one line, and the fix."""

    name: str
    ok: bool
    message: str
    fix: str = ""
    fatal: bool = False


class TargetInfo(NamedTuple):
    contract: int
    server: str
    timezone: str
    entities: tuple[str, ...]
    limits: TargetLimits
    lacks: Mapping[str, str] = {}  # by entity that it does not accept: the reason as a sentence
    checks: Mapping[str, TargetCheck] = {}  # by entity that it accepts: a remark
    streams: tuple[str, ...] = ()  # of optional entities: those that it takes; none where it announces none


class FieldOutcome(NamedTuple):
    code: str
    target: str
    status: str  # created, exists, failed
    options: Mapping[str, str]
    error_code: str = ""
    error: str = ""


class TargetRecord(NamedTuple):
    key: str
    target_id: str
    digest: str
    fields: Mapping[str, Json]
    changed: bool | None = None  # whether a user changed it since it was written; None: the target does not know
    own: frozenset[str] = frozenset()  # fields that the target itself has set since, in an update that was cut off


class Tried(NamedTuple):
    """One thing that a target has tried on itself. `detail`: what it saw, in an English sentence."""

    name: str
    ok: bool
    detail: str


class Deleted(NamedTuple):
    """`status`: deleted, absent or kept; then `reason` says why. `needed`: it is kept because others depend on it, so
    that it may go when they are gone. `for_good`: no record of its kind can be deleted, even if no user changed it.
    `part`: it goes with the record that it is part of, and keeps nothing else on the target."""

    key: str
    status: str
    reason: str = ""
    needed: bool = False
    for_good: bool = False
    part: bool = False


class Target(Protocol):
    """The box. Every write may be repeated: the same key and digest change nothing."""

    @property
    def serial(self) -> frozenset[str]:
        """The streams whose records must arrive one after the other, the oldest first (by the time that the stream's
        `stamp` names, then by id), and of those that have a parent in their id each parent's by themselves."""
        ...

    @property
    def unchangeable(self) -> frozenset[str]:
        """The streams of whose records nothing can be changed: they must not come before what their texts may name."""
        ...

    @property
    def sees_dependants(self) -> bool:
        """Whether the target itself keeps what others depend on (`delete`)."""
        ...

    def info(self) -> TargetInfo: ...

    def streams(self) -> frozenset[str]:
        """The streams that it announces (`TargetInfo.streams`); requested once."""
        ...

    def send(self, wire_entity: str, stream: str, items: Sequence[Item], *, run: str) -> list[Outcome]:
        """One call, within the target's limits (the caller asks `fits` first). One outcome per item."""
        ...

    def fits(self, items: Sequence[Item]) -> int:
        """How many of the first items go into one call by `limits`; 0 when the first alone is too large."""
        ...

    def fields(self, wire_entity: str, stream: str, fields: Sequence[Args], *, type_id: str = "") -> list[FieldOutcome]:
        """Creates what is missing, completes the options of what is there; `type_id`: of this type of the target."""
        ...

    def existing_fields(self, custom: CustomFields) -> Mapping[str, str] | None:
        """The custom fields the target has, code -> type; None if it does not list them."""
        ...

    def ask(self, method: str) -> Json:
        """The box's answer to a call without parameters; None if the webhook may not make it."""
        ...

    def match_users(self, emails: Sequence[str]) -> dict[str, str]:
        """Lower-case e-mail -> target id, for the users the target has."""
        ...

    def read(self, wire_entity: str, stream: str, keys: Sequence[str]) -> dict[str, TargetRecord]: ...

    def listing(self, wire_entity: str, stream: str, after: str) -> tuple[list[TargetRecord], str | None, int | None]:
        """A page in an order that never changes, the cursor of the next (None at the end), and the count of all; None
        where only a walk through all pages can tell. A page before the last may be empty."""
        ...

    def file_bytes(self) -> int:
        """The size of the largest accepted file; requested once."""
        ...

    def put_file(
        self,
        key: str,
        name: str,
        size: int,
        sha256: str,
        content: BinaryIO,
        *,
        enough: Callable[[], bool] = lambda: False,
    ) -> str | None:
        """Uploads what the target does not have yet, from where it stopped, and returns the file's target id. Between
        two parts `enough` may say that the rest is for another time; then None."""
        ...

    def alive(self) -> bool: ...

    def delete(self, wire_entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
        """Undoes imports; one answer per key. Records that users changed since, or that others depend on, are kept."""
        ...

    def finalize(self, after: str, *, run: str) -> str | None:
        """Finishes the import (counters, recent chats, dates of activity): a part of the work from behind the cursor,
        "" at first. Returns the next cursor, None at the end. It may be repeated."""
        ...

    def fidelity(self) -> Sequence[Rule]:
        """The fidelity rules of this target. Nothing is written."""
        ...

    def selftest(self) -> Sequence[Tried] | None:
        """Tests with records of its own what the target keeps, and deletes them. `fidelity` includes the results from
        then on. None if the target has no self-test. It may be repeated."""
        ...
