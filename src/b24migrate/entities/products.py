"""Product rows of deals and smart-process items. The portal tells them owner by owner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from b24migrate.entities.reading import NO_SUCH_METHOD, raw_items
from b24migrate.errors import Permanent
from b24migrate.ports import Answer, Command, Source
from b24migrate.records import Args, Json, Row

METHOD = "crm.item.productrow.list"
OLDER_METHOD = "crm.deal.productrows.get"
OWNERS = 50  # in one question, where the portal understands several
PAGE = 50


def products(owner_type: str) -> Callable[[Source, Sequence[Row]], list[Row]]:
    """The documentation says that a filter takes a list of owners, not every portal does. So all are asked for in few
    questions; only when an answer shows rows of an owner that is not the first of its list, the portal has understood,
    and what it does not mention has no rows. Otherwise each owner is asked for by itself."""

    def enrich(source: Source, rows: Sequence[Row]) -> list[Row]:
        owners = [row.source_id for row in rows]
        found = together(source, owner_type, owners)
        if found is None:
            found = one_by_one(source, owner_type, owners)
        return [
            row._replace(extras={**(row.extras or {}), "productRows": found.get(row.source_id, [])}) for row in rows
        ]

    return enrich


def of_deals(source: Source, rows: Sequence[Row]) -> list[Row]:
    """By the older method, deal by deal, where a portal lacks the other."""
    try:
        return products("D")(source, rows)
    except Permanent as error:
        if error.code != NO_SUCH_METHOD:
            raise
    answers = source.batch([Command(OLDER_METHOD, {"id": row.source_id}) for row in rows])
    for answer in answers:
        if answer.error is not None:
            raise answer.error
    told = [[camel(msgspec.json.decode(raw)) for raw in raw_items(one.result or b"[]", ())] for one in answers]
    return [
        row._replace(extras={**(row.extras or {}), "productRows": in_order(mine)})
        for row, mine in zip(rows, told, strict=True)
    ]


def camel(row: Args) -> Args:
    """PRODUCT_NAME is productName in the newer method."""
    return {re.sub("_(.)", lambda found: found[1].upper(), name.lower()): value for name, value in row.items()}


def together(source: Source, owner_type: str, owners: Sequence[str]) -> dict[str, list[Json]] | None:
    """None when the portal does not prove that it understands a list of owners."""
    groups = [owners[at : at + OWNERS] for at in range(0, len(owners), OWNERS)]
    understood = False
    found: dict[str, list[Json]] = {}
    answers = source.batch([question(owner_type, list(group)) for group in groups])
    for group, answer in zip(groups, answers, strict=True):
        if answer.error is not None:
            return None
        rows = rows_of(answer)
        understood = understood or any(str(row["ownerId"]) in group[1:] for row in rows)
        if any(str(row["ownerId"]) not in group for row in rows):
            return None  # it did not look at the filter at all
        for row in [*rows, *further(source, question(owner_type, list(group)), answer, len(rows))]:
            found.setdefault(str(row["ownerId"]), []).append(row)
    return {owner: in_order(rows) for owner, rows in found.items()} if understood else None


def one_by_one(source: Source, owner_type: str, owners: Sequence[str]) -> dict[str, list[Json]]:
    questions = [question(owner_type, owner) for owner in owners]
    found = {}
    for owner, asked, answer in zip(owners, questions, source.batch(questions), strict=True):
        if answer.error is not None:
            raise answer.error
        rows = rows_of(answer)
        found[owner] = in_order([*rows, *further(source, asked, answer, len(rows))])
    return found


def question(owner_type: str, owner: Json) -> Command:
    return Command(METHOD, {"filter": {"=ownerType": owner_type, "=ownerId": owner}, "order": {"id": "ASC"}})


def further(source: Source, asked: Command, answer: Answer, got: int) -> Iterator[Json]:
    """The pages after the first."""
    while answer.next is not None or (got < (answer.total or 0) and got % PAGE == 0):
        start = answer.next if answer.next is not None else got
        answer = source.call(asked.method, {**asked.params, "start": start})
        rows = rows_of(answer)
        if not rows:
            return
        got += len(rows)
        yield from rows


def rows_of(answer: Answer) -> list[Json]:
    return [msgspec.json.decode(raw) for raw in raw_items(answer.result or b"{}", ("productRows",))]


def in_order(rows: Sequence[Json]) -> list[Json]:
    return sorted(rows, key=lambda row: (int(row.get("sort") or 0), int(row.get("id") or 0)))
