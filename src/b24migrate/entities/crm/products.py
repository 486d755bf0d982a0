"""Product rows of deals and smart-process items. The portal returns them owner by owner."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import msgspec

from b24migrate.entities.readers import mark_unread
from b24migrate.messages import say
from b24migrate.model.answers import open_list, row_in, unexpected_answer
from b24migrate.model.errors import NO_SUCH_METHOD, Permanent
from b24migrate.model.prepared import prepared
from b24migrate.model.records import Args, Json, Row
from b24migrate.model.values import flag, number
from b24migrate.ports import Answer, Command, Source

METHOD = "crm.item.productrow.list"
OWNERS = 50  # in one question, where the portal understands several
UNDERSTANDS: WeakSet[Source] = WeakSet()  # the portals that have proven it to this process
PAGE = 50
SOME = 500  # owners: ten requests


def products(owner_type: str) -> Callable[[Source, Sequence[Row]], list[Row]]:
    """By the documentation a filter accepts a list of owners, but not every portal does. So all are requested in few
    queries. If an answer has rows of an owner that is not the first in its list, the portal supports lists, and owners
    without rows in the answer have none. If no record seems to have rows, the most likely ones are requested alone.
    Otherwise each owner is requested separately."""

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        # The result of the probes saves a useless request; the answers here prove that the portal accepts a list.
        alone = source.habits.get("product_owners") == "one" and source not in UNDERSTANDS
        found = None if alone else read_together(source, owner_type, rows)
        if found is not None:
            return [with_rows(row, found.get(row.source_id, [])) for row in rows]
        return read_one_by_one(source, owner_type, rows)

    return enrich


def rows_at_once(source: Source) -> int:
    """A call for each owner: the answers for some are kept before the next are requested."""
    return 0 if source in UNDERSTANDS else SOME


def with_rows(row: Row, rows: Sequence[Json]) -> Row:
    return row._replace(extras={**(row.extras or {}), "productRows": in_order(rows)})


def older_products(owner_type: str, method: str) -> Callable[[Source, Sequence[Row]], list[Row]]:
    """By the older method, owner by owner, where a portal lacks the other."""

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        try:
            return products(owner_type)(source, rows)
        except Permanent as error:
            if error.code != NO_SUCH_METHOD:
                raise
        answers = source.batch([Command(method, {"id": row.source_id}) for row in rows])
        done = []
        for row, answer in zip(rows, answers, strict=True):
            if is_refused(answer):
                done.append(mark_unread(row, say("part.products"), answer.error or Permanent("")))
            else:
                raws = open_list(answer.result, (), method).items
                done.append(with_rows(row, [camel(row_in(raw, method)) for raw in raws]))
        return done

    return enrich


def is_refused(answer: Answer) -> bool:
    """Refused for this one; a method that is not there, a limit and an outage concern all of them."""
    if answer.error is None:
        return False
    if not isinstance(answer.error, Permanent) or answer.error.code == NO_SUCH_METHOD:
        raise answer.error
    return True


def camel(row: Args) -> Args:
    """PRODUCT_NAME is productName in the newer method."""
    return {re.sub("_(.)", lambda found: found[1].upper(), name.lower()): value for name, value in row.items()}


def read_together(source: Source, owner_type: str, of: Sequence[Row]) -> dict[str, list[Json]] | None:
    """None when the portal does not understand a list of owners."""
    owners = [row.source_id for row in of]
    groups = [owners[at : at + OWNERS] for at in range(0, len(owners), OWNERS)]
    questions = [list_command(owner_type, list(group)) for group in groups]
    answers = source.batch(questions)
    understood = False
    first: list[list[Json]] = []
    for group, answer in zip(groups, answers, strict=True):
        answer.raise_if_unheard()
        if answer.error is not None:
            return None
        first.append(product_rows(answer))
        named = {str(row["ownerId"]) for row in first[-1]}
        if not named.issubset(group):
            return None  # it ignored the filter
        understood = understood or not named.isdisjoint(group[1:])
    if understood:
        UNDERSTANDS.add(source)
    elif source not in UNDERSTANDS and not (not any(first) and none_has_any(source, owner_type, of)):
        return None
    found: dict[str, list[Json]] = {}
    for rows in every_page(source, questions, answers, first):
        for row in rows:
            found.setdefault(str(row["ownerId"]), []).append(row)
    return {owner: in_order(rows) for owner, rows in found.items()}


def none_has_any(source: Source, owner_type: str, of: Sequence[Row]) -> bool:
    """Whether those that most likely have rows have none: their amount is not typed in, so it is the sum of rows."""
    likely = sorted(of, key=lambda row: -expects_rows(msgspec.json.decode(row.payload, type=Amount)))[:OWNERS]
    answers = source.batch([list_command(owner_type, row.source_id) for row in likely])
    return all(is_refused(answer) or not product_rows(answer) for answer in answers)


@prepared
class Amount(msgspec.Struct):
    opportunity: Any = None
    is_manual: Any = msgspec.field(default=None, name="isManualOpportunity")


def expects_rows(amount: Amount) -> bool:
    return bool(number(amount.opportunity)) and not flag(amount.is_manual)


def read_one_by_one(source: Source, owner_type: str, rows: Sequence[Row]) -> list[Row]:
    questions = [list_command(owner_type, row.source_id) for row in rows]
    answers = source.batch(questions)
    closed = [is_refused(answer) for answer in answers]
    first: list[list[Json]] = [[] if no else product_rows(answer) for no, answer in zip(closed, answers, strict=True)]
    found = every_page(source, questions, answers, first)
    return [
        mark_unread(row, say("part.products"), answer.error or Permanent("")) if no else with_rows(row, mine)
        for row, answer, no, mine in zip(rows, answers, closed, found, strict=True)
    ]


def list_command(owner_type: str, owner: Json) -> Command:
    return Command(METHOD, {"filter": {"=ownerType": owner_type, "=ownerId": owner}, "order": {"id": "ASC"}})


def every_page(
    source: Source, questions: Sequence[Command], answers: Sequence[Answer], first: Sequence[list[Json]]
) -> list[list[Json]]:
    """The rows of each call. The pages after the first are requested together: there may be one for each."""
    found = [list(rows) for rows in first]
    last = dict(enumerate(answers))
    while starts := {
        place: start for place, answer in last.items() if (start := next_start(answer, len(found[place])))
    }:
        further = [
            Command(questions[place].method, {**questions[place].params, "start": start})
            for place, start in starts.items()
        ]
        last = {}
        for place, answer in zip(starts, source.batch(further), strict=True):
            rows = product_rows(answer)
            found[place] += rows
            if rows:
                last[place] = answer
    return found


def next_start(answer: Answer, got: int) -> int | None:
    """The start of the next page, None at the end."""
    if answer.next is not None:
        return answer.next
    return got if got < (answer.total or 0) and got % PAGE == 0 else None


def product_rows(answer: Answer) -> list[Json]:
    rows = [row_in(raw, METHOD) for raw in open_list(answer.require(), ("productRows",), METHOD).items]
    if not all(isinstance(row.get("ownerId"), str | int) for row in rows):
        raise unexpected_answer(METHOD, ("ownerId",))
    return rows


def in_order(rows: Sequence[Json]) -> list[Json]:
    return sorted(rows, key=lambda row: (place_of(row.get("sort")), place_of(row.get("id"))))


def place_of(value: Json) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() else 0
