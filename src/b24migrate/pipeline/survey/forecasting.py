"""From what was sampled to hours: get by the limits of the portal, set and files by a stated pace."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from b24migrate.pipeline.survey.metering import Cost
from b24migrate.pipeline.survey.model import EntityForecast, Forecast, WhatIf
from b24migrate.pipeline.survey.playing import LATENCY, REQUESTS, Course, Limits, Stage, Took, length_s, play
from b24migrate.pipeline.survey.sampling import Load

ENTERPRISE = Limits(5.0, 250.0)
NIGHT_HOURS = 9  # from 22 to 7
BOX_CALL_S = 0.3  # where no run has measured it yet
BOX_BYTES_PER_S = 10_000_000.0
OUR_OWN = 0.04  # more requests than the fewest: chains that are not full; an allowance, not a measurement
MODEL_ERROR = 0.05  # of the range, for what no sample tells: assumed
TARGET = "the target"
PARTS = (("get", False), ("get", True), ("set", True), ("set", False))  # phase, whether of files


@dataclass(frozen=True, slots=True)
class Pace:
    """Of the box: what a call takes, and how fast bytes arrive."""

    call_s: float = BOX_CALL_S
    bytes_per_s: float = BOX_BYTES_PER_S
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """What one entity needs of both ends."""

    entity: str
    after: frozenset[str]
    reads: Sequence[tuple[str, Load]]  # stream, load
    files: float = 0.0
    bytes: float = 0.0
    file_load: Load | None = None
    file_s: float = 0.0  # to fetch one
    import_calls: float = 0.0
    pace: Pace = Pace()


def forecast(
    needs: Sequence[Need],
    limits: Limits,
    costs: Mapping[str, Cost],
    *,
    request_s: float,
    workers: int,
    basis: Sequence[str] = (),
    talk: Collection[str] = (),
) -> Forecast:
    courses = [course(need, costs, request_s, workers) for need in needs]
    took = play(courses, limits)
    entities = tuple(told(need, took[need.entity]) for need in needs)
    total_s = length_s(took)
    low = sum(one.low_s for one in entities) / max(1e-9, sum(one.total_s for one in entities))
    high = sum(one.high_s for one in entities) / max(1e-9, sum(one.total_s for one in entities))
    slowest = max(entities, key=lambda one: one.total_s, default=None)
    return Forecast(
        entities,
        total_s,
        total_s * min(1.0, low),
        total_s * max(1.0, high),
        slowest.limited_by if slowest else "",
        slowest.method if slowest else "",
        what_ifs(courses, limits, total_s, talk),
        tuple(basis),
    )


def course(need: Need, costs: Mapping[str, Cost], request_s: float, workers: int) -> Course:
    stages = [read_stage(f"read {stream}", load, costs, request_s) for stream, load in need.reads]
    if need.files:
        load = need.file_load or Load(0.0, {}, workers)
        fetch = read_stage("fetch files", load, costs, 0.0)
        by_pace_s = need.files * need.file_s / workers
        upload_s = need.files * need.pace.call_s / workers + need.bytes / need.pace.bytes_per_s
        stages.append(replace(fetch, seconds=by_pace_s, files=True))
        stages.append(Stage("upload files", "set", seconds=upload_s, files=True))
    stages.append(Stage("send", "set", seconds=need.import_calls * need.pace.call_s / workers))
    return Course(need.entity, need.after, tuple(stages))


def read_stage(name: str, load: Load, costs: Mapping[str, Cost], request_s: float) -> Stage:
    """Of methods that the sample did not call nothing is known: they cost what an average one does."""
    known = [one.seconds for one in costs.values()]
    usual = sum(known) / len(known) if known else 0.0
    seconds = {key: count * (costs[key[1]].seconds if key[1] in costs else usual) for key, count in load.calls.items()}
    return Stage(
        name,
        "get",
        load.requests * (1 + OUR_OWN),
        seconds,
        request_s=request_s,
        at_once=load.at_once,
        uncertain=load.uncertain,
    )


def told(need: Need, took: Took) -> EntityForecast:
    """Each of the four parts by itself, and the range of all."""
    parts: dict[tuple[str, bool], float] = dict.fromkeys(PARTS, 0.0)
    wrong_s = 0.0
    for stage, seconds in took.stages:
        parts[stage.phase, stage.files] += seconds
        wrong_s += stage.uncertain * seconds
    get_s, fetch_s, upload_s, set_s = (parts[one] for one in PARTS)
    read_s = get_s + fetch_s
    error = math.hypot(MODEL_ERROR, 2 * wrong_s / read_s if read_s else 0.0)
    unmeasured = 0.0 if need.pace.measured else 0.5  # a box may be half or twice as fast
    low_s = read_s * (1 - error) + (upload_s + set_s) * (1 - unmeasured)
    high_s = read_s * (1 + error) + (upload_s + set_s) * (1 + 2 * unmeasured)
    by, method = limit_of(need, took, get_s, fetch_s + upload_s, set_s)
    return EntityForecast(need.entity, get_s, fetch_s, upload_s, set_s, max(0.0, low_s), high_s, by, method)


def limit_of(need: Need, took: Took, get_s: float, files_s: float, set_s: float) -> tuple[str, str]:
    """What is waited for most, and the method to name."""
    calls: defaultdict[str, float] = defaultdict(float)
    for _, load in need.reads:
        for (_, method), count in load.calls.items():
            calls[method] += count
    busiest = max(calls, key=calls.__getitem__, default="")
    if files_s > max(get_s, set_s):
        return "files", "download"
    if set_s > get_s:
        return TARGET, f"import.{need.entity}.batch"
    why = max(took.waits, key=took.waits.__getitem__, default=LATENCY)
    return (why, busiest) if why in (REQUESTS, LATENCY) else ("execution time", why)


def what_ifs(courses: Sequence[Course], limits: Limits, total_s: float, talk: Collection[str]) -> tuple[WhatIf, ...]:
    def without(keep: Callable[[Course, Stage], bool]) -> float:
        changed = [replace(one, stages=tuple(stage for stage in one.stages if keep(one, stage))) for one in courses]
        return length_s(play(changed, limits))

    enterprise = Limits(ENTERPRISE.per_second, ENTERPRISE.bucket, limits.operating_s)
    return (
        WhatIf("enterprise", length_s(play(courses, enterprise)), "5 requests a second, a bucket of 250"),
        WhatIf("night_only", nights_s(total_s), "from 22 to 7, begun at 22; the hours between count"),
        WhatIf("without_files", without(lambda _, stage: not stage.files)),
        WhatIf("without_chats", without(lambda one, _: one.entity not in talk)),
    )


def nights_s(total_s: float) -> float:
    """From the first evening to the last morning."""
    nights, rest = divmod(total_s / 3600, NIGHT_HOURS)
    if nights and not rest:
        nights, rest = nights - 1, NIGHT_HOURS
    return (nights * 24 + rest) * 3600
