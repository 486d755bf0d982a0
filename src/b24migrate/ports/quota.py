"""The state of a portal's limits as a value, and its change by each event.

Times are seconds on the axis of the ledger that keeps the value; they never go back, and `at` is the latest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from b24migrate.ports import QUOTA, RegisterRow

_MARGIN = 2.0  # requests that the portal may have counted and we have not
_LONGEST_PAUSE_S = 60.0
LONGEST_REST_S = 660.0  # ten minutes are forgotten after ten, and a minute may have just started
REQUEST_S = 45.0  # that its commands may last: the cloud cuts a request off after 60 (§A5), and they vary
PATIENCE_S = 2.0  # a shorter wait is slept through; for a longer one the job gives its worker to another
_COLUMNS = dict(zip(("at", "level", "pause_s", "paused_at", "paused_until", "rests"), QUOTA.columns, strict=True))


def bounded(seconds: float) -> float:
    """A pause that a portal requests, limited to the longest useful one: the window of execution time is ten minutes
    (§A5). A negative or invalid value means no pause."""
    return min(LONGEST_REST_S, max(0.0, seconds))


@dataclass(frozen=True, slots=True)
class Bucket:
    """Takes `size` requests at once and drains; 0 a second is no limit."""

    per_second: float
    size: float

    @property
    def brim(self) -> float:
        return max(1.0, self.size - _MARGIN)

    def level(self, quota: Quota, now: float) -> float:
        """Never more than it holds and what was promised for the next moments: another size was configured before."""
        most = self.size + PATIENCE_S * self.per_second
        return max(0.0, min(most, quota.level) - (now - quota.at) * self.per_second)


@dataclass(frozen=True, slots=True)
class Quota:
    """`rests`: until when a method of a credential is blocked. `pause_s`: how long the last pause of the portal was."""

    at: float = 0.0
    level: float = 0.0
    pause_s: float = 0.0
    paused_at: float = 0.0
    paused_until: float = 0.0
    rests: Mapping[str, float] = field(default_factory=dict)

    def bounded(self) -> Quota:
        """Without what no limit can ask for: every pause and rest began at `at` or before."""
        rests = {key: self.at + bounded(until - self.at) for key, until in self.rests.items()}
        until = self.at + bounded(self.paused_until - self.at)
        return replace(self, paused_at=min(self.at, self.paused_at), paused_until=until, rests=rests)

    def pause(self, now: float) -> float:
        return max(0.0, self.paused_until - now)

    def rest(self, credential: str, method: str, now: float) -> float:
        return max(0.0, self.rests.get(_key(credential, method), now) - now)


@dataclass(frozen=True, slots=True)
class Turn:
    """Whether a request may be sent, after how long, and the method that is waited for."""

    granted: bool
    wait_s: float
    method: str


def take_turn(quota: Quota, now: float, bucket: Bucket, credential: str, methods: Sequence[str]) -> tuple[Quota, Turn]:
    """Takes a place in the bucket when the wait is short, and nothing when it is not."""
    method, wait_s = _longest_rest(quota, now, credential, methods)
    wait_s = max(wait_s, quota.pause(now))
    if bucket.per_second > 0:
        wait_s = max(wait_s, (bucket.level(quota, now) + 1 - bucket.brim) / bucket.per_second)
    granted = wait_s <= PATIENCE_S
    return count_request(quota, now, bucket) if granted else quota, Turn(granted, wait_s, method)


def count_request(quota: Quota, now: float, bucket: Bucket) -> Quota:
    """One request more; without a limit there is nothing to count."""
    if bucket.per_second <= 0:
        return quota
    drained = _at(quota, now, bucket)
    return replace(drained, level=drained.level + 1)


def count_rejection(
    quota: Quota, now: float, bucket: Bucket, *, sent_at: float, retry_after_s: float, jitter: float
) -> tuple[Quota, float]:
    """The bucket is full after all: all processes pause, twice as long as the last time."""
    pause_s = quota.pause_s
    if sent_at >= quota.paused_at:  # a request from before the last pause shows nothing new
        pause_s = min(_LONGEST_PAUSE_S, max(1.0, pause_s * 2))
    until = max(quota.paused_until, now + bounded(retry_after_s or pause_s * jitter))
    drained = _at(quota, now, bucket)
    level = max(drained.level, bucket.size)
    return replace(drained, level=level, pause_s=pause_s, paused_at=now, paused_until=until), until - now


def count_answer(quota: Quota, sent_at: float) -> Quota:
    """A request that was sent after the last pause got through: the next pause begins small again."""
    return replace(quota, pause_s=0.0) if sent_at > quota.paused_at else quota


def add_rest(quota: Quota, now: float, bucket: Bucket, *, credential: str, method: str, wait_s: float) -> Quota:
    until = now + bounded(wait_s)
    drained = _at(quota, now, bucket)
    return replace(drained, rests={**drained.rests, _key(credential, method): until})


def _at(quota: Quota, now: float, bucket: Bucket) -> Quota:
    """The same at this moment, without what is over."""
    rests = {key: until for key, until in quota.rests.items() if until > now}
    return replace(quota, at=now, level=bucket.level(quota, now), rests=rests)


def _longest_rest(quota: Quota, now: float, credential: str, methods: Sequence[str]) -> tuple[str, float]:
    rests = [(quota.rest(credential, method, now), method) for method in methods]
    wait_s, method = max(rests, default=(0.0, "batch"))
    return (method, wait_s) if wait_s > 0 else (methods[0] if methods else method, 0.0)


def _key(credential: str, method: str) -> str:
    return f"{credential} {method}"


# ---------------------------------------------------------------- as a row


def decode_quota(row: RegisterRow) -> Quota:
    return Quota(**{name: row.values[column] for name, column in _COLUMNS.items() if column in row.values}).bounded()


def encode_quota(quota: Quota) -> dict[str, object]:
    return {_COLUMNS[name]: value for name, value in asdict(quota).items()}
