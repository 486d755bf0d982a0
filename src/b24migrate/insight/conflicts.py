"""Records that changed on both sides, as `conflicts`, the dashboard and the report show them, and what a person decides
about them. Rows are read a page at a time: there may be as many as there are records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from b24migrate.engine.phases import conflicts
from b24migrate.engine.phases.comparison import shorten
from b24migrate.engine.phases.conflicts import DECISIONS, conflict_policy
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.lookup.fields import quick_title
from b24migrate.insight.register_page import AT_ONCE, read_page
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.ports import CONFLICTS, RegisterRow

COLUMNS = ("stream", "source_id", "field", "sent", "target", "source", "decision", "at_utc")
NEEDED = frozenset({"stream", "source_id", "decision"})
UNDECIDED = ("", conflicts.NONE)
LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class ConflictField:
    """A field: the value last sent, on the target and in the source, shortened. `decision`: source, target, none (no
    conflict any more), or empty as long as it is undecided."""

    field: str
    sent: str
    target: str
    source: str
    decision: str
    at: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A record. `by`: rule or person. `waiting`: the source wins, and the next run sends it. `decidable`: what is
    decided can still be changed."""

    stream: str
    source_id: str
    title: str
    decision: str
    by: str
    at: str
    undecided: bool
    waiting: bool
    decidable: bool
    fields: tuple[ConflictField, ...]


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """`total` and `undecided` count records of the record type that is asked for, on all pages. `policy`: the decision
    for a conflict without one (source, target, ask). `next` is the cursor of the next page, null at the end."""

    total: int
    undecided: int
    policy: str
    conflicts: tuple[Conflict, ...]
    next: str | None


def list_conflicts(context: RunContext, stream: str, after: str, limit: int, *, undecided: bool) -> ConflictPage:
    """One page, of one record type or of all."""
    prefix = f"{stream}:" if stream else ""
    page = read_page(context.store, CONFLICTS, prefix, after, limit, is_wanted=is_open if undecided else None)
    titles = find_titles(context, page.rows)
    return ConflictPage(
        context.store.count(CONFLICTS, prefix),
        count_undecided(context, stream),
        conflict_policy(context),
        tuple(show_row(row, titles.get(row.key, "")) for row in page.rows),
        page.next,
    )


def count_undecided(context: RunContext, stream: str = "") -> int:
    return int(context.store.total(CONFLICTS, f"{stream}:" if stream else "", "Open") or 0)


def walk_fields(context: RunContext, stream: str = "", *, undecided: bool = False) -> Iterator[tuple[str, ...]]:
    """Every field of every conflict, by `COLUMNS`."""
    prefix, after = f"{stream}:" if stream else "", ""
    while rows := context.store.some_rows(CONFLICTS, prefix, after, AT_ONCE):
        for row in rows:
            if not undecided or is_open(row):
                about = str(row.values["Stream"]), str(row.values["SourceId"])
                yield from (tuple(map(str, (*about, *field))) for field in row.values["Fields"] or ())
        after = rows[-1].key


def is_open(row: RegisterRow) -> bool:
    return bool(row.values.get("Open"))


def show_row(row: RegisterRow, title: str) -> Conflict:
    values, waiting = row.values, bool(row.values.get("Waiting"))
    return Conflict(
        str(values["Stream"]),
        str(values["SourceId"]),
        title,
        str(values["Decision"] or ""),
        str(values["By"] or ""),
        str(values["AtUtc"] or ""),
        is_open(row),
        waiting,
        waiting or conflicts.is_left(row),
        tuple(ConflictField(*map(str, field)) for field in values["Fields"] or ()),
    )


def find_titles(context: RunContext, rows: Sequence[RegisterRow]) -> dict[str, str]:
    """By key of the row."""
    by_stream: dict[str, list[str]] = {}
    for row in rows:
        by_stream.setdefault(str(row.values["Stream"]), []).append(str(row.values["SourceId"]))
    found: dict[str, str] = {}
    for name, ids in by_stream.items():
        stream = context.streams.get(name)
        for one in context.store.get(stream.table, ids).values() if stream else ():
            found[f"{name}:{one.row_key}"] = quick_title(stream, one.payload)[:LONGEST_TITLE] if stream else ""
    return found


# ---------------------------------------------------------------- what a person decides


class Wanted(NamedTuple):
    decision: str
    stream: str


class Decided(NamedTuple):
    """How many were decided, and for which records nothing can be decided: not in conflict, or already sent."""

    done: int
    left: list[tuple[str, str]]  # stream, id


class Decisions(NamedTuple):
    """Of a table. `outdated`: stream and ID of records that changed again after it was written."""

    wanted: dict[Wanted, list[str]]
    outdated: list[tuple[str, str]]


def decide(context: RunContext, wanted: Mapping[Wanted, Iterable[str]]) -> Decided:
    done, left = 0, list[tuple[str, str]]()
    for one, ids in wanted.items():
        for some in parts(dict.fromkeys(ids)):
            count, refused = conflicts.decide(context, one.decision, context.streams[one.stream], some)
            done += count
            left += [(one.stream, key) for key in refused]
    return Decided(done, left)


def parts(ids: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(ids)
    while some := list(islice(rest, AT_ONCE)):
        yield some


class Line(NamedTuple):
    """Of a table: what it decides of a field. What the table does not have is empty."""

    number: int
    field: str
    decision: str
    target: str
    source: str
    at: str


def read_decisions(
    context: RunContext, lines: Iterator[Sequence[str]], place: object, known: Callable[[str], str]
) -> Decisions:
    """From a table like the one that was written. Lines without a decision are skipped, and lines that repeat what is
    recorded of a field: they were written that way. `known` gives the name of a record type, or raises
    BadConfiguration."""
    table: dict[str, dict[str, list[Line]]] = {}
    for stream, source_id, line in read_lines(lines, place, known):
        table.setdefault(stream, {}).setdefault(source_id, []).append(line)
    found = Decisions({}, [])
    for stream, records in table.items():
        for ids in parts(records):
            recorded = context.store.rows_of(CONFLICTS, [f"{stream}:{one}" for one in ids])
            for source_id in ids:
                row, about = recorded.get(f"{stream}:{source_id}"), records[source_id]
                said = {(one[0], one[4]) for one in (row.values["Fields"] or () if row else ())}
                news = [one for one in about if one.decision not in UNDECIDED and (one.field, one.decision) not in said]
                if not news:
                    continue
                other = next((one for one in news if one.decision != news[0].decision), None)
                if other is not None:
                    numbers = {"path": place, "first": news[0].number, "second": other.number}
                    raise BadConfiguration(
                        say("conflicts.both", **numbers, stream=stream, id=source_id), hint=say("conflicts.both_fix")
                    )
                if row is not None and show_row(row, "").decidable and is_outdated(about, row):
                    found.outdated.append((stream, source_id))
                else:
                    found.wanted.setdefault(Wanted(news[0].decision, stream), []).append(source_id)
    return found


def is_outdated(lines: Sequence[Line], row: RegisterRow) -> bool:
    """Whether the conflict was noted after the table was written, with other fields or values. A table without times
    decides what is recorded now."""
    now = str(row.values["AtUtc"])
    times = {one.at for one in lines if one.at}
    if not times or now in times:
        return False
    seen = {(one.field, one.target, one.source) for one in lines}
    current = {
        (str(name), str(target), str(source))
        for name, _, target, source, _, at in row.values["Fields"] or ()
        if at == now
    }
    return not current <= seen


def read_lines(
    lines: Iterator[Sequence[str]], place: object, known: Callable[[str], str]
) -> Iterator[tuple[str, str, Line]]:
    """Stream, ID and what is said of a field."""
    head = [cell.strip().lower() for cell in next(lines, [])]
    if not set(head) >= NEEDED:
        raise BadConfiguration(say("conflicts.columns", path=place), hint=say("conflicts.columns_fix"))
    wanted = ("decision", "stream", "source_id", "field", "target", "source", "at_utc")
    places = [head.index(name) if name in head else len(head) for name in wanted]
    for number, cells in enumerate(lines, 2):
        decision, stream, source_id, field, target, source, time = (
            cells[at] if at < len(cells) else "" for at in places
        )
        decision, stream, source_id, field = (one.strip() for one in (decision.lower(), stream, source_id, field))
        if decision not in {*UNDECIDED, *DECISIONS}:
            raise BadConfiguration(
                say("conflicts.odd_decision", path=place, number=number, decision=shorten(decision)),
                hint=say("conflicts.columns_fix"),
            )
        if not stream or not source_id:
            if decision in UNDECIDED:
                continue
            raise BadConfiguration(
                say("conflicts.short_line", path=place, number=number), hint=say("conflicts.columns_fix")
            )
        named = stream if decision in UNDECIDED else known(stream)
        yield named, source_id, Line(number, field, decision, target, source, time.strip())
