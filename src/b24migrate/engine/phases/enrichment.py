"""get: what other methods tell of the rows of a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from b24migrate.engine.phases import partial
from b24migrate.engine.phases.bug import unexpected
from b24migrate.engine.phases.context import RunContext, decode_extras
from b24migrate.engine.phases.stage import keep_page
from b24migrate.messages import say
from b24migrate.model.answers import STRANGE, UNCLEAR
from b24migrate.model.errors import NO_SUCH_METHOD, Forbidden, Permanent, Transient
from b24migrate.model.readings import Listing, PerParent
from b24migrate.model.records import REFUSED, Page, Row
from b24migrate.model.streams import Stream
from b24migrate.model.values import OddValue
from b24migrate.ports import Source

CHILDREN_AT_ONCE = 50  # one request
T = TypeVar("T")
R = TypeVar("R")


def enrich_rows(
    context: RunContext, stream: Stream, reading: Listing | PerParent, rows: list[Row], *, gently: bool
) -> list[Row]:
    """All at once; gently, some that fail are halved until the one is alone that is to blame."""

    def enrich(some: Sequence[Row]) -> list[Row]:
        return enrich_page(context, stream, reading, Page(rows=list(some)), gently=gently).rows

    return [row for some in in_halves(enrich, rows) for row in some] if gently else enrich(rows)


def in_halves(ask: Callable[[Sequence[T]], R], items: Sequence[T]) -> Iterator[R]:
    """Asks for all at once; when that fails while the portal is well, for each half, until one that fails is alone."""
    try:
        answer = ask(items)
    except Transient as error:
        if not error.own or len(items) < 2:
            raise
    else:
        yield answer
        return
    half = len(items) // 2
    yield from in_halves(ask, items[:half])
    yield from in_halves(ask, items[half:])


def enrich_page(
    context: RunContext, stream: Stream, reading: Listing | PerParent, page: Page, *, gently: bool = False
) -> Page:
    """Gently, one row that fails while the portal is well is kept as one of which the source does not tell everything:
    those behind it are not to wait for it."""
    if reading.enrich is None or not page.rows or not context.facts.grants(reading.enrich.scope):
        return page
    again = reading.enrich.again if context.options.delta else None
    known = context.known(stream)
    enrich = (lambda source, rows: again(source, rows, known)) if again else reading.enrich.ask
    try:
        rows = _enrich(context, stream, enrich, page.rows)
    except Forbidden as error:
        raise error.gate from None
    except Permanent as error:
        if error.code in UNCLEAR and not (gently and len(page.rows) == 1):
            raise Transient(error.message, code=error.code, hint=error.hint, own=True) from None
        context.note(context.owner[stream.name].name, say("note.not_enriched", stream=stream.name, why=error.sentence))
        if error.code == NO_SUCH_METHOD:  # this portal does not have the method
            return page
        return replace(page, rows=[partial.mark_refused(row, error) for row in page.rows])
    except Transient as error:
        if not (gently and error.own and len(page.rows) == 1):
            raise
        rows = [partial.mark_refused(row, error) for row in page.rows]
    for row in rows:
        if row.extras and REFUSED in row.extras:
            context.note(context.owner[stream.name].name, f"{stream.name} {row.source_id}: {row.extras[REFUSED]}")
    return replace(page, rows=rows)


def _enrich(
    context: RunContext, stream: Stream, enrich: Callable[[Source, Sequence[Row]], list[Row]], rows: Sequence[Row]
) -> list[Row]:
    """An unexpected answer is an error of these rows."""
    try:
        return enrich(context.source, rows)
    except OddValue as odd:
        raise Transient(say("record.odd_value", field=str(odd)), code=STRANGE, own=True) from None
    except Exception as bug:  # noqa: BLE001 (one odd value must not stop the others)
        about = f"{stream.name} {', '.join(row.source_id for row in rows[:3])}"
        raise unexpected(context, bug, context.owner[stream.name].name, about) from None


# ---------------------------------------------------------------- children


def enrich_children(
    context: RunContext, stream: Stream, reading: PerParent, page: Page, pass_no: int, *, gently: bool
) -> Page:
    """Stages the children of each request with their details. Children that this pass has read before are omitted: a
    child may be in several lists, and a job starts again after a limit. Returns the page with the others only."""
    if reading.enrich is None or not page.rows:
        return page
    rows = {row.source_id: row for row in page.rows}
    staged = context.store.get(stream.table, list(rows))
    known = {key for key, one in staged.items() if one.pass_no == pass_no and one.extras}
    left = [row for key, row in rows.items() if key not in known]
    for start in range(0, len(left), CHILDREN_AT_ONCE):
        some = Page(rows=left[start : start + CHILDREN_AT_ONCE])
        keep_page(context, stream, enrich_page(context, stream, reading, some, gently=gently), pass_no)
    return replace(page, rows=[rows[key]._replace(extras=dict(decode_extras(staged[key].extras))) for key in known])
