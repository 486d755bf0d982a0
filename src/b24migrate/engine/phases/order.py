"""Turns: who goes when, where a target takes the records of a stream only in the order of their times.

What is pending is sorted once, before the first record goes, a stretch of the table at a time, and what comes of that
is kept in the register `Turns`. The sending job merges the stretches, so that memory never holds more than one of them.
A job that is repeated finds every record where it was. Statuses, not places, say what is left to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from secrets import token_hex
from typing import NamedTuple

from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.model.records import Job, Json, Span, order_key
from b24migrate.model.streams import Stream
from b24migrate.ports import TURNS, RegisterRow

STRETCH = 100_000  # records that are sorted at once
SLICE = 500  # turns in a row of the register
LOOKED_AT = 2_000
NO_TIME = "~"  # sorts after every time: to the target such a record is of today, and nothing before that can follow
SECOND = len("2024-03-01T09:00:00")  # targets do not keep fractions


class Turn(NamedTuple):
    """The sort key: by family, then the oldest first, then by ID."""

    family: str
    second: str
    order: str
    row_key: str
    stretch: int


def seed(scope: str, stream: Stream, **args: Json) -> list[Job]:
    return [Job(scope, "order", {"stream": stream.name, **args})]


# ---------------------------------------------------------------- sorting


def order(context: RunContext, job: Job) -> Follow:
    """Sorts the next range. After the last one the sending starts."""
    stream = context.streams[job.args["stream"]]
    args = (
        job.args
        if "order" in job.args
        else {**job.args, "order": _start_order(context, stream), "number": 0, "after": ""}
    )
    if not _leads(context, stream, args):
        return []
    number = int(args["number"])
    stretch = list(_stretch(context, stream, args["after"], pulled=bool(args.get("pulled"))))
    after = order_key(stretch[-1][0]) if stretch else ""
    whole = len(stretch) < STRETCH
    stretch.sort(key=lambda one: (_family(one[0]), one[1]))  # stable: those of one second stay in order of id
    _keep(context, f"{_prefix(stream, args)}{number}:", stretch)
    if not whole:
        return [Job(job.scope, "order", {**args, "number": number + 1, "after": after})]
    passed = {name: args[name] for name in ("stream", "order")}
    return [Job(job.scope, "send-in-turn", {**passed, "at": [0] * (number + 1)})]


def _start_order(context: RunContext, stream: Stream) -> str:
    """A new order replaces the last one: a chain with an outdated order ends at its next step."""
    before = context.store.read(TURNS, stream.name)
    if before is not None:
        context.store.erase(TURNS, _prefix(stream, {"order": before.values["Order"]}))
    name = token_hex(4)
    context.store.write(TURNS, [RegisterRow(stream.name, {"Order": name})])
    return name


def _leads(context: RunContext, stream: Stream, args: Json) -> bool:
    row = context.store.read(TURNS, stream.name)
    return row is not None and row.values["Order"] == args["order"]


def _stretch(context: RunContext, stream: Stream, after: str, *, pulled: bool) -> Iterator[tuple[str, str]]:
    left = STRETCH
    while left:
        some = context.store.moments(stream.table, Span(after), min(left, LOOKED_AT), pulled=pulled)
        if not some:
            return
        yield from ((row_key, when[:SECOND] or NO_TIME) for row_key, when in some)
        left -= len(some)
        after = order_key(some[-1][0])


def _keep(context: RunContext, prefix: str, stretch: Sequence[tuple[str, str]]) -> None:
    for at in range(0, len(stretch), SLICE):
        turns = [list(one) for one in stretch[at : at + SLICE]]
        context.store.write(TURNS, [RegisterRow(f"{prefix}{at // SLICE}", {"Turns": turns})])


# ---------------------------------------------------------------- moving on


def next_in_order(context: RunContext, stream: Stream, job: Job, count: int) -> list[Turn]:
    """The next one; none at the end of the file, or when a new order has taken the place of this one."""
    if not _leads(context, stream, job.args):
        return []
    prefix = _prefix(stream, job.args)
    stretches = (_remaining(context, f"{prefix}{number}:", number, int(at)) for number, at in enumerate(job.args["at"]))
    return list(islice(merge(*stretches), count))


def _remaining(context: RunContext, prefix: str, number: int, at: int) -> Iterator[Turn]:
    while row := context.store.read(TURNS, f"{prefix}{at // SLICE}"):
        for row_key, second in row.values["Turns"][at % SLICE :]:
            yield Turn(_family(row_key), second, order_key(row_key), row_key, number)
        at += SLICE - at % SLICE


def next_job(job: Job, passed: Sequence[Turn]) -> Job:
    at = [int(place) + sum(one.stretch == number for one in passed) for number, place in enumerate(job.args["at"])]
    return Job(job.scope, job.kind, {**job.args, "at": at, "round": 0})


def repeat_job(job: Job) -> Job:
    """The same place: a record there has to be sent again."""
    return Job(job.scope, job.kind, {**job.args, "round": int(job.args.get("round", 0)) + 1})


def erase_order(context: RunContext, stream: Stream, job: Job) -> None:
    context.store.erase(TURNS, _prefix(stream, job.args))


def _prefix(stream: Stream, args: Json) -> str:
    return f"{stream.name}:{args['order']}:"


def _family(row_key: str) -> str:
    parent = row_key.rpartition(":")[0]
    return order_key(parent) if parent else ""
