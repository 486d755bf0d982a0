"""Why records failed: causes with their fixes, and the failed records that others wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from b24migrate.engine.phases.context import RunContext
from b24migrate.messages import Message, say
from b24migrate.messages.pages import Again, Page, link, page_of
from b24migrate.model.records import Json, Status
from b24migrate.model.streams import FINAL, LATE, PHASES

NOTHING_TO_DO = say("errors.advice.wait")
GIVEN_UP = say("errors.advice.given_up")
RUN_AGAIN = say("errors.advice.run_again")
DEAD = "dead"
CODE = "REFERENCE_MISSING"
LINK, FAILED = "record.link", "record.link_failed"  # messages: "links to …", "… which was not imported"
EXAMINED = 2000  # failed records of each stream: the answer takes a second and little memory, however many failed
Place = tuple[str, str]  # stream and source ID


@dataclass(frozen=True, slots=True)
class Cause:
    """Records of one stream, or jobs of one mini-task, that failed with the same error, with their number."""

    place: str
    code: str
    count: int
    status: str
    example: str  # the id of one of them
    message: str
    fix: str
    cause: str = ""
    page: str = ""  # where to read about the code

    @property
    def waits(self) -> bool:
        return self.status == Status.ERROR_RETRY

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Group:
    """All failures with one code. It always has causes; the most frequent one is the first."""

    code: str
    causes: tuple[Cause, ...]

    @property
    def count(self) -> int:
        return sum(one.count for one in self.causes)

    @property
    def waits(self) -> bool:
        return self.causes[0].waits

    @property
    def page(self) -> Page:
        return page_of(self.code)

    @property
    def fixes(self) -> list[str]:
        """Mostly one: records and parts of the work may want different things."""
        return list(dict.fromkeys(one.fix for one in self.causes))


def list_causes(context: RunContext, stream: str = "") -> list[Cause]:
    """Failed records and files by stream, then dead letters that are no records. Those to be retried come last. Of one
    stream only, with the dead letters of its entity, when named."""
    found = [cause for name in ([stream] if stream else context.streams) for cause in _records(context, name)]
    found += _letters(context, stream)
    return sorted(found, key=lambda cause: (cause.waits, -cause.count))


def group_causes(found: Iterable[Cause]) -> list[Group]:
    """By code, over all streams: the most frequent first, those that are retried automatically last."""
    together: dict[tuple[bool, str], list[Cause]] = {}
    for cause in found:
        together.setdefault((cause.waits, cause.code), []).append(cause)
    groups = [
        Group(code, tuple(sorted(several, key=lambda one: -one.count))) for (_, code), several in together.items()
    ]
    return sorted(groups, key=lambda group: (group.waits, -group.count))


def _records(context: RunContext, stream: str) -> list[Cause]:
    table = context.streams[stream].table
    found = []
    for (status, code), count in context.store.error_counts(table).items():
        one = context.store.one_failed(table, Status(status), code)
        example, message = (one.row_key, one.last_error or "") if one else ("", "")
        page = page_of(code)
        found.append(Cause(stream, code, count, status, example, message, _fix(page, status), page.cause, link(page)))
    return found


def _fix(page: Page, status: str) -> str:
    if status == Status.ERROR_RETRY:
        return NOTHING_TO_DO
    unaided = page.again in (Again.ASIDE, Again.STOPS) or "retry" in page.fix
    return page.fix if unaided else GIVEN_UP  # a page about a retry does not apply any more


def _letters(context: RunContext, stream: str) -> list[Cause]:
    found: dict[tuple[str, str], Cause] = {}
    entity = context.owner.get(stream)
    tasks = {entity.task(phase) for phase in (*PHASES, LATE, FINAL)} if entity else set()
    for letter in context.queue.dead_parts():  # records are counted as such
        if stream and letter.job.scope not in tasks:
            continue
        key = letter.job.scope, letter.code
        count = found[key].count + 1 if key in found else 1
        page = page_of(letter.code)
        about = (letter.reason, RUN_AGAIN, page.cause, link(page))
        found[key] = Cause(letter.job.scope, letter.code, count, DEAD, str(letter.job), *about)
    return list(found.values())


# ---------------------------------------------------------------- chains: a task that failed takes its comments with it


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
    """Of all streams, or only of those that contain failed records of this one."""
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
    """The start of the chain. A circle starts at its smallest record."""
    chain = [place]
    while (place := causes.get(place, place)) != chain[-1]:
        if place in chain:
            return min(chain[chain.index(place) :])
        chain.append(place)
    return place


def _chain(context: RunContext, start: Place, counted: Counter[str]) -> Chain:
    stream, source_id = start
    record = context.store.get(context.streams[stream].table, [source_id]).get(source_id)
    code, message = (record.last_error_code or "", record.last_error or "") if record else ("", "")
    return Chain(stream, source_id, code, message, counted.total(), dict(counted.most_common()))
