"""From what was sampled to the stages of a migration, as the phases have them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from b24migrate.engine.phases import custom_fields, deferred, user_match, verify
from b24migrate.engine.phases import files as attachments
from b24migrate.engine.phases.context import Options
from b24migrate.engine.phases.lanes import LANES_PER_WORKER, LONGEST
from b24migrate.insight.forecast import meter as cost
from b24migrate.insight.forecast.files import FoundFiles
from b24migrate.insight.forecast.meter import BYTES_PER_S, Billed, Computer, Cost, RequestPace, TargetPace
from b24migrate.insight.forecast.sample import COMMANDS, Ask, Load
from b24migrate.insight.forecast.schedule import OWN, SOURCE, TARGET, Course, Op, Stage, Workers, even_lanes
from b24migrate.messages import say
from b24migrate.model.streams import LATE, Entity, Stream
from b24migrate.ports.quota import REQUEST_S

FILES_IN_A_LANE = attachments.LANE
WAITING_ROUNDS = 1.4  # records that wait for one another are sent in more than one round, and composed in each
LISTED = 500  # records that the target shows in a call


@dataclass(frozen=True, slots=True)
class StreamNeed:
    """Facts about a stream before it is migrated."""

    stream: Stream
    loads: Sequence[Sequence[Load]]  # of each reading, one after the other
    records: float = 0.0
    batch: int = 50
    filled: float = 0.0  # fields of a record
    size: float = 0.0  # and bytes
    longest: float = 0.0  # records of one parent
    completed: float | None = None  # the share that a second pass changes; None: no second pass
    method: str = ""
    uncertain: float = 0.0
    aid: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """The calls of one entity to both portals."""

    entity: Entity
    after: frozenset[str]
    streams: Sequence[StreamNeed]
    files: FoundFiles | None = None
    fields: int = 0
    fields_asked: Ask = field(default_factory=lambda: Ask(0.0, {}))
    fields_there: float = 0.0  # calls to the target to see which of them it has


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes courses of needs. `costs` and `request_pace` are the source's; `payer` returns the method whose execution
    time a call uses up."""

    options: Options
    costs: Mapping[str, Cost]
    request_pace: RequestPace
    target_pace: TargetPace
    computer: Computer
    workers: Workers
    payer: Callable[[Billed], Billed] = lambda key: key

    def course(self, need: Need) -> Course:
        stages = [*self._fields(need), *self._get(need), *self._set(need), *self._late(need), *self._verify(need)]
        return Course(need.entity.name, need.after, tuple(stages))

    # ------------------------------------------------------------ what ops are made of

    def _compute(self, seconds: float) -> Op:
        return Op(OWN, 1.0, seconds)

    def _ask(self, ask: Ask) -> Op:
        """One request has its part of the calls, as far as they do not last too long together."""
        calls = sum(ask.calls.values())
        cost_s = sum(count * self._cost_s(key) for key, count in ask.calls.items()) / calls if calls else 0.0
        most = max(1, math.floor(REQUEST_S / cost_s)) if cost_s else calls
        requests = max(ask.requests, calls / most) if calls else ask.requests
        each = {key: count / requests for key, count in ask.calls.items()} if requests else {}
        busiest = max(each, key=lambda key: each[key], default=(0, ""))
        seconds_of: Counter[Billed] = Counter()
        for key, count in each.items():
            seconds_of[self.payer(key)] += count * self._cost_s(key)  # type: ignore[assignment]
        return Op(SOURCE, requests, self.request_pace.seconds(each), busiest[1], seconds_of=tuple(seconds_of.items()))

    def _cost_s(self, key: Billed) -> float:
        """Of methods that the sample did not call nothing is known: they cost what an average one does."""
        if key[1] in self.costs:
            return self.costs[key[1]].seconds
        return sum(one.seconds for one in self.costs.values()) / len(self.costs) if self.costs else 0.0

    def _call(self, need: Need, what: str, count: float = 1.0, more_s: float = 0.0) -> Op:
        return Op(TARGET, count, self.target_pace.call_s + more_s, f"import.{need.entity.wire}.{what}")

    # ------------------------------------------------------------ custom fields

    def _fields(self, need: Need) -> Iterator[Stage]:
        if need.entity.custom_fields is None:
            return
        there = self._call(need, "fields", need.fields_there)
        yield Stage("fields", "custom-fields-get", (1.0,), (self._ask(need.fields_asked), there, self._job()))
        calls = math.ceil(need.fields / custom_fields.AT_ONCE)
        own_s = self.computer.scale(cost.JOB_S + need.fields * cost.SEND_S * 5)
        yield Stage("fields", "custom-fields-set", (1.0,), (self._call(need, "fields", calls), self._compute(own_s)))

    def _job(self) -> Op:
        return self._compute(self.computer.scale(cost.JOB_S))

    # ------------------------------------------------------------ get

    def _get(self, need: Need) -> Iterator[Stage]:
        yield Stage("forget", "get", (1.0,), (self._job(),))
        for one in need.streams:
            for loads in one.loads:
                for load in loads:
                    here_s = self.computer.scale(cost.JOB_S) + load.records * self.computer.read_s(one.size)
                    ops = (*map(self._ask, load.asks), self._compute(here_s))
                    yield Stage(f"read {one.stream.name}", "get", load.lanes, ops, uncertain=load.uncertain)
        yield from self._fetch(need)
        yield Stage("inventory", "get", (1.0,), (self._job(),))

    def _fetch(self, need: Need) -> Iterator[Stage]:
        found = need.files
        if found is None:
            return
        files, size = found.facts.files.value, found.facts.bytes.value / max(1.0, found.facts.files.value)
        jobs = files / attachments.AT_ONCE
        mine = files / max(1.0, math.ceil(jobs))
        here_s = self.computer.scale(cost.JOB_S + mine * (cost.FETCH_S + cost.FILE_BYTE_S * size))
        part = mine / attachments.AT_ONCE
        links = Ask(found.links.requests, {key: count * part for key, count in found.links.calls.items()})
        ops = (
            *([self._ask(links)] if links.requests else []),
            Op(SOURCE, mine * found.counted, found.each_s, "download"),
            Op(SOURCE, mine * (1 - found.counted), found.each_s, "download", counted=False),
            self._compute(here_s),
        )
        lanes = even_lanes(math.ceil(jobs), math.ceil(files / FILES_IN_A_LANE))
        yield Stage("fetch", "get", lanes, ops, files=True, uncertain=found.uncertain)

    # ------------------------------------------------------------ set

    def _set(self, need: Need) -> Iterator[Stage]:
        if need.entity.matches_users:
            people = sum(one.records for one in need.streams if one.stream.natural)
            jobs = math.ceil(people / user_match.AT_ONCE) or 1
            yield Stage("match", "set", even_lanes(jobs, jobs), (self._call(need, "match"), self._job()))
        yield from self._upload(need)
        for one in need.streams:
            if one.records and not one.aid:
                yield self._send(need, one)

    def _upload(self, need: Need) -> Iterator[Stage]:
        found = need.files
        if found is None:
            return
        files = found.facts.files.value
        size = found.facts.bytes.value / max(1.0, files)
        jobs = math.ceil(files / attachments.AT_ONCE)
        mine = files / jobs
        here_s = self.computer.scale(cost.JOB_S + mine * (cost.UPLOAD_S + cost.FILE_BYTE_S * size))
        # Each is checked first: an earlier upload may have sent a part of it.
        calls = Op(TARGET, mine * 2, self.target_pace.call_s + size / 2 / BYTES_PER_S, "import.files.put")
        lanes = even_lanes(jobs, math.ceil(files / FILES_IN_A_LANE))
        yield Stage("upload", "set", lanes, (calls, self._compute(here_s)), files=True, uncertain=found.uncertain)

    def _send(self, need: Need, one: StreamNeed) -> Stage:
        rounds = WAITING_ROUNDS if self._waits(one.stream) else 1.0
        jobs = math.ceil(one.records / one.batch)
        mine = one.records / jobs
        compose_s = self.computer.compose_s(one.stream, one.filled, one.size)
        here_s = self.computer.scale(cost.JOB_S) + mine * (compose_s + self.computer.send_s())
        ops = (self._compute(here_s), self._call(need, "batch", more_s=mine * self.target_pace.seconds_of(need.entity)))
        chain = math.ceil(one.longest / one.batch) if one.stream.ordered else 0
        lanes = chain_lanes(jobs * rounds, self.workers.threads + 1, chain)
        return Stage(f"send {one.stream.name}", "set", lanes, ops, uncertain=one.uncertain)

    @staticmethod
    def _waits(stream: Stream) -> bool:
        return any(one.waits or one.to == stream.name for one in stream.fields)

    # ------------------------------------------------------------ the second pass

    def _late(self, need: Need) -> Iterator[Stage]:
        yield Stage(say("forecast.all_imported"), LATE)
        for one in need.streams:
            if one.completed is None or not one.records or one.aid:
                continue
            compose_s = self.computer.compose_s(one.stream, one.filled, one.size)
            lane = min(LONGEST, math.ceil(one.records / LANES_PER_WORKER / self.workers.workers))
            lanes = math.ceil(one.records / max(one.batch, lane))
            jobs = max(lanes, math.ceil(one.records / deferred.AT_ONCE))
            mine = one.records / jobs
            changed = mine * one.completed
            here_s = self.computer.scale(cost.JOB_S) + mine * compose_s + changed * (compose_s + self.computer.send_s())
            calls = math.ceil(changed / one.batch) if changed >= 1 else changed
            each = self._call(need, "batch", calls, changed / max(1, calls) * self.target_pace.seconds_of(need.entity))
            name = f"complete {one.stream.name}"
            yield Stage(name, LATE, even_lanes(jobs, lanes), (self._compute(here_s), each), uncertain=one.uncertain)

    # ------------------------------------------------------------ verify

    def _verify(self, need: Need) -> Iterator[Stage]:
        yield Stage("forget", "verify", (1.0,), (self._job(),))
        for one in need.streams:
            if not one.aid:
                yield Stage(f"verify {one.stream.name}", "verify", (1.0, 1.0), self._count_and_sample(need, one))
                yield from self._cover(one)

    def _count_and_sample(self, need: Need, one: StreamNeed) -> tuple[Op, ...]:
        """The two jobs as one kind: each asks the target once, and they share the rest."""
        everything = self.options.verify_all
        compared = one.records if everything else min(one.records, float(self.options.verify_sample))
        again = compared if one.stream.fetch else 0.0
        asked = Ask(math.ceil(again / COMMANDS) / 2, {(0, one.method.lower()): again / 2} if again else {})
        compose_s = self.computer.compose_s(one.stream, one.filled, one.size)
        shown = min(one.records, LISTED)
        here_s = self.computer.scale(cost.JOB_S * 2) + compared * compose_s + shown * self.computer.read_s(one.size)
        calls = max(1.0, compared / verify.AT_ONCE / 2)
        return (self._call(need, "list", calls), *([self._ask(asked)] if again else []), self._compute(here_s / 2))

    def _cover(self, one: StreamNeed) -> Iterator[Stage]:
        """It runs in parallel with the other two jobs."""
        if one.stream.covered and one.records:
            jobs = math.ceil(one.records / verify.AT_ONCE)
            compose_s = self.computer.compose_s(one.stream, one.filled, one.size)
            here_s = self.computer.scale(cost.JOB_S) + one.records / jobs * compose_s
            lanes = even_lanes(jobs, min(jobs, LANES_PER_WORKER * self.workers.workers))
            yield Stage(f"verify {one.stream.name}", "verify", lanes, (self._compute(here_s),), uncertain=one.uncertain)


def chain_lanes(jobs: float, lanes: int, chain: float) -> tuple[float, ...]:
    """Lanes of equal length, unless one of them cannot be shorter."""
    even = even_lanes(jobs, min(lanes, jobs))
    if not even or chain <= even[0]:
        return even
    rest = max(0.0, jobs - chain)
    return (float(chain), *(even_lanes(rest, min(lanes - 1, rest)) if rest else ()))


def count_calls(needs: Iterable[Need]) -> dict[str, float]:
    """How often each method of the source is called."""
    found: dict[str, float] = {}
    for need in needs:
        loads = [load for one in need.streams for loads in one.loads for load in loads]
        for load in loads:
            for (_, method), count in load.calls.items():
                found[method] = found.get(method, 0.0) + count
        if need.files:
            jobs = math.ceil(need.files.facts.files.value / attachments.AT_ONCE)
            for (_, method), count in need.files.links.calls.items():
                found[method] = found.get(method, 0.0) + count * jobs
    return found
