"""The views of the dashboard: the fidelity list, errors, findings, and the actions that are possible now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from b24migrate.app import App
from b24migrate.engine.phases.comparison import findings_register
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight import conflicts, fidelity
from b24migrate.insight.causes import CODE, Cause, Group, chains, group_causes, list_causes
from b24migrate.insight.conflicts import Wanted
from b24migrate.insight.register_page import read_page
from b24migrate.insight.status.model import Overview, Verdict
from b24migrate.messages import Words
from b24migrate.messages.pages import PAGES, UNKNOWN, link, page_of
from b24migrate.model.records import Fate
from b24migrate.ports import FORESEEN, SPARED, RegisterRow, Store
from b24migrate.report import csv_tables
from b24migrate.web.actions import LastAction
from b24migrate.web.context import Context
from b24migrate.web.responses import Refused
from b24migrate.web.schemas import (
    ConflictRecord,
    ConflictsDecided,
    ErrorGroup,
    ErrorPage,
    ErrorPlace,
    Errors,
    ErrorStart,
    FidelityView,
    Findings,
    FindingView,
    Letter,
)

COUNTED_AT_ONCE = 5000  # records of a stream: longer ones are counted by `b24migrate fidelity`
MOST_LETTERS = 200
LONGEST_TEXT = 2000  # characters of a message
START, PAUSE, RESUME, RETRY, ANALYZE, CUTOVER = "start", "pause", "resume", "retry", "analyze", "cutover"
AT_WORK = (Verdict.BEGINNING, Verdict.RUNNING, Verdict.LIMITED, Verdict.OUTAGE)
AT_REST = (Verdict.NO_RUN, Verdict.STOPPED, Verdict.BLOCKED, Verdict.DONE, Verdict.FINDINGS)
TO_GO_ON = (Verdict.PAUSED, Verdict.STOPPED, Verdict.BLOCKED, Verdict.STILL)
MOST_CHAINS = 10
LINES_AT_ONCE = 500
COLUMNS = ("Stream", "Fate", "SourceId", "Field", "Expected", "Actual", "Note")


def view_fidelity(app: App) -> FidelityView:
    """The fidelity list of the configured entities."""
    store = app.context.store
    found = fidelity.current_list(app.context, app.chosen(), most=COUNTED_AT_ONCE)
    return FidelityView(found, store.count(FORESEEN, ""), store.count(SPARED, ""))


def accept_seen(context: Context, shown: str, by: str) -> None:
    """Only what was seen. Raises Refused."""
    with context.app() as app:
        if not fidelity.accept_list(app.context, app.chosen(), shown, by):
            raise Refused(409, fidelity.GATE, "fidelity_changed")


# ---------------------------------------------------------------- errors


def view_errors(context: RunContext, *, with_chains: bool) -> Errors:
    first = _first_records(context) if with_chains else ()
    groups = tuple(
        _group(context, one, first if one.code == CODE and not one.waits else ())
        for one in group_causes(list_causes(context))
    )
    letters = context.queue.dead_parts()
    shown = tuple(
        Letter(one.job.scope, one.code, _cut(one.reason), one.died_at, _cut(str(one.job)))
        for one in letters[:MOST_LETTERS]
    )
    return Errors(groups, shown, len(letters))


def _first_records(context: RunContext) -> tuple[ErrorStart, ...]:
    """The failed records that most others wait for."""
    return tuple(
        ErrorStart(one.stream, _cut(one.id), one.code, _cut(one.message), one.records)
        for one in chains(context).chains[:MOST_CHAINS]
    )


def _group(context: RunContext, group: Group, first: tuple[ErrorStart, ...]) -> ErrorGroup:
    return ErrorGroup(
        group.code,
        group.page.title,
        group.count,
        group.waits,
        group.page.cause,
        tuple(group.fixes),
        link(group.page),
        tuple(_place(context, one) for one in group.causes),
        first,
    )


def _place(context: RunContext, cause: Cause) -> ErrorPlace:
    stream = cause.place if cause.place in context.streams else ""
    message = _cut(cause.message)
    return ErrorPlace(cause.place, cause.count, cause.status, _cut(cause.example), message, stream)


def error_page(code: str) -> ErrorPage:
    """Raises Refused if the text is not a code."""
    spelled = {known.lower(): known for known in PAGES}
    name = spelled.get(code.lower(), code)
    found = page_of(name)
    if found is UNKNOWN and name != UNKNOWN.code:
        raise Refused(404, "DASHBOARD_NOT_FOUND", "code")
    family = found.code if found.code != name else ""
    return ErrorPage(name, family, found.title, found.cause, found.fix, found.retried, link(found))


def _cut(text: str) -> str:
    """A message that is cut loses its key: it is shown untranslated."""
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"


# ---------------------------------------------------------------- actions


def possible_actions(overview: Overview, last: LastAction | None, context: Context) -> tuple[str, ...]:
    """A run that does not move may have lost its worker: it can be resumed and paused."""
    verdict = overview.now.verdict
    may = [PAUSE] if verdict in AT_WORK or verdict is Verdict.STILL else []
    busy = last is not None and last.exit_code is None
    if busy or context.portals.cannot_start is not None:
        return tuple(may)
    may += [START] if verdict in AT_REST else []
    may += [RESUME] if verdict in TO_GO_ON else []
    may += [RETRY] if verdict in AT_REST and overview.failed + overview.dead_letters else []
    may += [ANALYZE, CUTOVER] if verdict not in AT_WORK else []
    return tuple(one for one in may if one == PAUSE or one in context.actions.able)


# ---------------------------------------------------------------- conflicts


def conflict_table(context: Context, stream: str, *, undecided: bool) -> Iterator[str]:
    """In parts of whole lines. It begins with the mark by which spreadsheets know UTF-8."""
    yield "\ufeff" + csv_tables.format_lines([conflicts.COLUMNS])
    with context.app() as app:
        fields = conflicts.walk_fields(app.context, stream, undecided=undecided)
        while part := list(islice(fields, LINES_AT_ONCE)):
            yield csv_tables.format_lines(part)


def decide_conflicts(
    context: Context, wanted: Mapping[Wanted, Iterable[str]], outdated: Sequence[tuple[str, str]], speaks: Words
) -> ConflictsDecided:
    with context.app() as app:
        found = conflicts.decide(app.context, wanted)
        undecided = conflicts.count_undecided(app.context)
    left = tuple(ConflictRecord(*one) for one in (*found.left, *outdated))
    return ConflictsDecided(speaks("conflicts.decided", count=found.done), found.done, left, undecided)


# ---------------------------------------------------------------- findings


def findings_page(store: Store, stream: str, fate: str, after: str, limit: int) -> Findings:
    """One page. Expected differences are listed only with their `fate`."""
    prefix, register = f"{stream}:" if stream else "", findings_register(Fate(fate or Fate.DIFFERS))
    wanted = (lambda row: bool(row.values["Fate"] == fate)) if fate else None
    page = read_page(store, register, prefix, after, limit, is_wanted=wanted)
    total = None if fate else store.count(register, prefix)
    return Findings(total, tuple(map(_finding, page.rows)), page.next)


def _finding(row: RegisterRow) -> FindingView:
    return FindingView(*(_cut(row.values.get(name) or "") for name in COLUMNS))
