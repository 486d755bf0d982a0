"""Which failed record others wait for: a task that failed takes its comments with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from b24migrate.engine.phases.context import RunContext
from b24migrate.messages import Message
from b24migrate.model.records import Json, Status

CODE = "REFERENCE_MISSING"
LINK, FAILED = "record.link", "record.link_failed"  # messages: "links to …", "… which was not imported"
EXAMINED = 2000  # failed records of each stream: the answer takes a second and little memory, however many failed

Place = tuple[str, str]  # stream and source ID


@dataclass(frozen=True, slots=True)
class Chain:
    """One failed record, and how many failed only because it did."""

    stream: str
    id: str
    code: str
    message: str
    records: int
    streams: Mapping[str, int]

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Chains:
    """The longest first. Not `complete`: more records failed than were examined, so the numbers are lower bounds."""

    chains: tuple[Chain, ...] = ()
    complete: bool = True

    @property
    def records(self) -> int:
        """How many failures go away with those at the start."""
        return sum(one.records for one in self.chains)


def chains(context: RunContext, stream: str = "") -> Chains:
    """Of all streams, or of those whose failed records include some of this one."""
    causes: dict[Place, Place] = {}
    complete = True
    for name, one in context.streams.items():
        if not context.store.counts(one.table).get(Status.IMPORT_ERR):
            continue
        found = context.store.failed(one.table, EXAMINED, code=CODE)
        complete = complete and len(found) < EXAMINED
        for record in found:
            cause = _failed_link(record.last_error) if record.status == Status.IMPORT_ERR else None
            if cause is not None:
                causes[name, record.row_key] = cause
    followers: dict[Place, Counter[str]] = {}
    for place in causes:
        followers.setdefault(_start(causes, place), Counter())[place[0]] += 1
    wanted = {start: counted for start, counted in followers.items() if not stream or counted[stream]}
    made = [_chain(context, start, counted) for start, counted in wanted.items() if start[0] in context.streams]
    return Chains(tuple(sorted(made, key=lambda one: (-one.records, one.stream, one.id))), complete)


def _failed_link(error: str | None) -> Place | None:
    """The linked record, if that one failed."""
    if not isinstance(error, Message) or error.key != LINK:
        return None
    why = error.values.get("why")
    if not isinstance(why, Message) or why.key != FAILED:
        return None
    return str(error.values["stream"]), str(error.values["id"])


def _start(causes: Mapping[Place, Place], place: Place) -> Place:
    """Where the chain starts. A circle starts at its smallest record."""
    seen = [place]
    while (place := causes.get(place, place)) != seen[-1]:
        if place in seen:
            return min(seen[seen.index(place) :])
        seen.append(place)
    return place


def _chain(context: RunContext, start: Place, counted: Counter[str]) -> Chain:
    stream, source_id = start
    record = context.store.get(context.streams[stream].table, [source_id]).get(source_id)
    code, message = (record.last_error_code or "", record.last_error or "") if record else ("", "")
    return Chain(stream, source_id, code, message, counted.total(), dict(counted.most_common()))
