"""The cost of calls: at the source as it reports, at the target as measured, and on this computer."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median, pstdev
from threading import Lock
from typing import NamedTuple

from b24migrate.engine.jobs import SPENT
from b24migrate.engine.phases.context import RunContext
from b24migrate.model.errors import MigrationError
from b24migrate.model.events import Event, JobDone, PhaseChanged, Sent
from b24migrate.model.fields import Kind
from b24migrate.model.records import digest
from b24migrate.model.streams import Entity, Stream
from b24migrate.ports import Bill, Clock, Store

Billed = tuple[int, str]  # which webhook, which method: execution time is limited for each pair
BATCH = "batch"  # pays for its commands on some portals
DOWNLOAD = "download"  # the bill of a download: no call, and no part of any request
REMEMBERED = 5_000  # requests whose duration is kept

UNKNOWN_CALL_S = 0.1  # of a target that does not answer yet
RECORD_S = 0.0002  # if no run has measured it: a guess, and a fast one
SLOW_RECORD_S = 0.01  # a slow box
BYTES_PER_S = 25_000_000.0
PROBES = 5
LEAST_RECORDS = 20  # that a pace needs
PREFIX = "pace:"

# Seconds, on a computer that does the measured piece of work in USUAL_PIECE_S. Measured over whole runs with an
# embedded store: what a record costs besides the calls, including its share of every job.
READ_S, READ_BYTE_S = 25e-6, 25e-9  # a record that is read and staged
FIELD_S, TREE_BYTE_S = 14e-6, 0.5e-6  # composing it: each field; each byte of a tree that is walked
SEND_S = 90e-6  # and sending and settling it
FETCH_S, UPLOAD_S = 2.6e-3, 2.4e-3  # a file
FILE_BYTE_S = 1.0e-8
JOB_S = 2.0e-3  # a job more
STAGE_S = 0.012  # and the beginning of a stage
SLACK = 1.2  # of these are never used to the full: threads wait for one another, and for the disk

LEAST_ERROR, MOST_ERROR = 0.25, 0.8
PIECES = 6  # at a time
USUAL_PIECE_S = 1.28e-3


# ---------------------------------------------------------------- the source


class Used(NamedTuple):
    """Requests, and the calls inside them."""

    requests: float
    calls: Mapping[Billed, float]

    def since(self, before: Used) -> Used:
        calls = {key: count - before.calls.get(key, 0) for key, count in self.calls.items()}
        return Used(self.requests - before.requests, {key: count for key, count in calls.items() if count})


class Cost(NamedTuple):
    """Seconds of execution of a call of one method, and on how many calls that is based."""

    seconds: float
    calls: int


@dataclass(slots=True)
class Request:
    """One request: its duration, and the number of calls by method."""

    seconds: float
    calls: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class RequestPace:
    """A request takes so long in any case, and longer by each call in it."""

    request_s: float
    call_s: Mapping[str, float]

    def seconds(self, calls: Mapping[Billed, float]) -> float:
        return self.request_s + sum(self.call_s.get(method, 0.0) * count for (_, method), count in calls.items())


class Meter:
    """An observer of the application, read after calls. For one thread."""

    def __init__(self) -> None:
        self._requests = 0
        self._calls: Counter[Billed] = Counter()
        self._spent: dict[str, tuple[float, int]] = {}
        self._sums: dict[Billed, float] = {}
        self._lasted: dict[str, tuple[float, int]] = {}  # calls without a reported sum
        self._inside: set[Billed] = set()  # methods of such calls
        self._booked_s = self._of_lasted_s = self._lasted_now_s = 0.0
        self._recent: deque[Request] = deque(maxlen=REMEMBERED)
        self.downloads_s: list[float] = []

    def __call__(self, bill: Bill) -> None:
        if bill.method == DOWNLOAD:
            self.downloads_s.append(bill.request_s)
            return
        method = bill.method.lower()
        key = (bill.via, method)
        if bill.request_s:
            self._requests += 1
            self._recent.append(Request(bill.request_s))
        if not bill.calls:
            self._add_batch(key, bill.last or 0.0)
            return
        self._calls[key] += bill.calls
        if self._recent:
            self._recent[-1].calls[method] += bill.calls
        if bill.first is None or bill.last is None:
            self._add_duration(key, bill)
            return
        seconds, calls = self._measure(key, bill.first, bill.last, bill.calls)
        if calls and seconds >= 0:  # a sum may fall, when an old minute is forgotten
            before_s, before = self._spent.get(method, (0.0, 0))
            self._spent[method] = (before_s + seconds, before + calls)

    def _measure(self, key: Billed, first: float, last: float, calls: int) -> tuple[float, int]:
        """The growth of the reported sum is the cost."""
        before, self._sums[key] = self._sums.get(key), last
        if calls > 1:
            return last - first, calls - 1
        return (last - before, 1) if before is not None else (0.0, 0)

    def _add_duration(self, key: Billed, bill: Bill) -> None:
        """Without a sum, the duration of a call is its cost."""
        seconds, calls = self._lasted.get(key[1], (0.0, 0))
        self._lasted[key[1]] = (seconds + bill.duration_s * bill.calls, calls + bill.calls)
        self._lasted_now_s += bill.duration_s * bill.calls
        self._inside.add(key)

    def _add_batch(self, key: Billed, sum_s: float) -> None:
        """The sum of `batch` grows by what the portal makes of how long its commands lasted."""
        grown_s = sum_s - self._sums.get(key, sum_s + 1.0)
        if grown_s >= 0:
            self._booked_s += grown_s
            self._of_lasted_s += self._lasted_now_s
        self._sums[key], self._lasted_now_s = sum_s, 0.0

    @property
    def batch_pays(self) -> bool:
        return any(method == BATCH for _, method in self._sums)

    def payer(self, key: Billed) -> Billed:
        """Whose execution time a call uses up; one that was never made is in a batch, as most are."""
        own = not self.batch_pays or (key in self._sums and key not in self._inside)
        return key if own else (key[0], BATCH)

    @property
    def used(self) -> Used:
        return Used(self._requests, dict(self._calls))

    @property
    def spent_s(self) -> dict[Billed, float]:
        """The execution time that each method had used up when it was last called."""
        return dict(self._sums)

    @property
    def pace(self) -> RequestPace:
        """Requests with a single call tell what any of them takes; what the others took longer, their calls share."""
        known = [one for one in self._recent if one.seconds and one.calls]  # not those whose calls all failed
        small = sorted(one.seconds for one in known if sum(one.calls.values()) == 1) or sorted(
            one.seconds for one in known
        )
        request_s = small[len(small) // 2] if small else 0.0
        longer: dict[str, tuple[float, int]] = {}
        for one in known:
            calls = sum(one.calls.values())
            more_s = max(0.0, one.seconds - request_s) / calls
            for method, count in one.calls.items():
                before_s, before = longer.get(method, (0.0, 0))
                longer[method] = (before_s + more_s * count, before + count)
        return RequestPace(request_s, {method: seconds / count for method, (seconds, count) in longer.items()})

    @property
    def costs(self) -> dict[str, Cost]:
        part = self._booked_s / self._of_lasted_s if self._of_lasted_s else 1.0
        found: dict[str, Cost] = {}
        for method in self._spent.keys() | self._lasted.keys():
            (reported_s, reported), (lasted_s, lasted) = (
                of.get(method, (0.0, 0)) for of in (self._spent, self._lasted)
            )
            if reported + lasted:
                found[method] = Cost((reported_s + lasted_s * part) / (reported + lasted), reported + lasted)
        return found


# ---------------------------------------------------------------- the target


@dataclass(frozen=True, slots=True)
class TargetPace:
    """`record_s`: by the <entity> of the contract, for those that a run has measured."""

    call_s: float
    record_s: dict[str, float]
    answers: bool = True

    def seconds_of(self, entity: Entity) -> float:
        return self.record_s.get(entity.wire, RECORD_S)

    def knows(self, entity: Entity) -> bool:
        return entity.wire in self.record_s


def measure_target(context: RunContext) -> TargetPace:
    """Asks the target for nothing but what it serves, a few times; the rest is what earlier runs have left."""
    took_s: list[float] = []
    for _ in range(PROBES):
        began = context.clock.monotonic()
        try:
            context.target.info()
        except MigrationError:
            break
        took_s.append(context.clock.monotonic() - began)
    call_s = sum(took_s) / len(took_s) if took_s else UNKNOWN_CALL_S
    return TargetPace(call_s, _measured_earlier(context, call_s), bool(took_s))


def _measured_earlier(context: RunContext, call_s: float) -> dict[str, float]:
    counted = context.store.counters(PREFIX)
    found: dict[str, float] = {}
    for wire in {entity.wire for entity in context.entities}:
        calls, seconds, records = (counted.get(f"{PREFIX}{what}:{wire}", 0.0) for what in ("calls", "s", "records"))
        if records >= LEAST_RECORDS:
            found[wire] = max(0.0, seconds - call_s * calls) / records
    return found


class PaceRecorder:
    """During a run: adds up the time of the target and of the jobs of each record type, for later forecasts. Written
    when a phase starts or ends."""

    def __init__(self, store: Store, wires: dict[str, str]) -> None:
        """`wires`: entity -> the <entity> of the contract."""
        self._store = store
        self._wires = wires
        self._lock = Lock()
        self._seen: dict[str, float] = {}

    def bill(self, bill: Bill) -> None:
        _, _, rest = bill.method.partition("import.")
        wire, _, what = rest.partition(".")
        if what == "batch":
            self._add(calls=(wire, 1.0), s=(wire, bill.request_s))

    def _add(self, **more: tuple[str, float]) -> None:
        for what, (wire, count) in more.items():
            self._count(f"{PREFIX}{what}:{wire}", count)

    def _count(self, name: str, more: float) -> None:
        with self._lock:
            self._seen[name] = self._seen.get(name, 0.0) + more

    def __call__(self, event: Event) -> None:
        if isinstance(event, Sent):
            self._add(records=(self._wires[event.entity], float(event.ok + event.failed)))
        elif isinstance(event, JobDone):
            self._count(SPENT + (event.stream or event.scope), event.seconds)
        elif isinstance(event, PhaseChanged):
            with self._lock:
                samples, self._seen = self._seen, {}
            if samples:
                self._store.add(samples)


# ---------------------------------------------------------------- this computer


@dataclass(frozen=True, slots=True)
class Computer:
    """`factor`: how much longer everything takes here. `error`: its relative standard error."""

    factor: float = 1.0
    error: float = LEAST_ERROR

    def scale(self, seconds: float) -> float:
        return seconds * self.factor * SLACK

    def read_s(self, size: float) -> float:
        return self.scale(READ_S + READ_BYTE_S * size)

    def compose_s(self, stream: Stream, filled: float, size: float) -> float:
        walked = any(one.kind is Kind.TREE and one.tree for one in stream.fields)
        return self.scale(FIELD_S * filled + (TREE_BYTE_S * size if walked else 0.0))

    def send_s(self) -> float:
        return self.scale(SEND_S)


class Gauge:
    """Measures now and then, in between other things, and takes the median: what else goes on here all the time will go
    on while we work."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds: list[float] = []
        self._record = {f"FIELD_{number}": f"value {number}" * 4 for number in range(60)}
        self.measure()

    def measure(self) -> None:
        began = self._clock.monotonic()
        for _ in range(PIECES):
            self._piece()
        self._seconds.append((self._clock.monotonic() - began) / PIECES)

    def _piece(self) -> None:
        for number in range(60):
            digest({name: value.replace("value", str(number)) for name, value in self._record.items()})

    @property
    def computer(self) -> Computer:
        usual = median(self._seconds)
        unsteady = pstdev(self._seconds) / usual / 2  # other programs use this computer too
        return Computer(max(0.2, usual / USUAL_PIECE_S), min(MOST_ERROR, max(LEAST_ERROR, unsteady)))
