"""Schedules of recurring deals. The template of a schedule is a deal that no list of deals shows to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from b24migrate.entities.codes import DEAL, pipeline
from b24migrate.messages import say
from b24migrate.model.answers import open_list
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Resolve, Take, days, texts, wholes
from b24migrate.model.readings import Gather
from b24migrate.model.records import Args, Json, Page, PageEntry, Row, Table, digest
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.model.streams import Entity, Stream
from b24migrate.model.values import OddValue, is_number, moment
from b24migrate.ports import Answer, Command, Source

METHOD = "crm.deal.recurring.list"
PAGE, AT_ONCE = 50, 50
BY_ID = {"order": {"ID": "ASC"}}


def upper_names(payload: Mapping[str, Json]) -> Mapping[str, Json]:
    """The list spells some names in lower case (crm-deal-recurring-list.md), a single one none (…-get.md)."""
    return {name.upper(): value for name, value in payload.items()}


def rows_of(answer: Answer) -> tuple[list[Row], list[str]]:
    """Those with an id, and a note about each that has none."""
    rows: list[Row] = []
    odd: list[str] = []
    for raw in open_list(answer.require(), (), METHOD).items:
        found = msgspec.json.decode(raw)
        number = str(upper_names(found).get("ID", "")) if isinstance(found, dict) else ""
        if is_number(number):
            rows.append(Row(number, bytes(raw)))
        else:
            odd.append(say("portal.id_missing", method=METHOD, field="ID"))
    return rows, odd


def gather(source: Source, cursor: Args, limit: int) -> Page:
    """The first page has the total; the other pages share requests. An answer with another position continues there."""
    start, total = int(cursor.get("start", 0)), int(cursor.get("total", 0))
    starts = range(start, min(total, limit or total), PAGE)[:AT_ONCE] or [start]
    commands = [Command(METHOD, {**BY_ID, "start": one}) for one in starts]
    began = datetime.now(UTC)
    answers = source.batch(commands) if start else [source.call(METHOD, commands[0].params)]
    page, further = Page(reported=None if start else answers[0].total), start
    for command, answer in zip(commands, answers, strict=True):
        if further != command.params["start"]:
            break
        if answer.error is not None:
            if not page.log:
                raise answer.error
            break  # asked again, with those behind it
        rows, odd = rows_of(answer)
        page.rows.extend(rows)
        page.alarms.extend(odd)
        page.log.append(PageEntry(further // PAGE, PAGE, len(rows), digest(command.params), began, datetime.now(UTC)))
        total = total if answer.total is None else answer.total
        further = answer.next if answer.next is not None and answer.next > further and rows else 0
    return replace(
        page,
        rows=page.rows[: max(0, limit - start)] if limit else page.rows,
        next=[{"start": further, "total": total}] if further and not (limit and further >= limit) else [],
    )


def fetch(source: Source, wanted: Sequence[SourceRecord], _: Known) -> dict[str, Row]:
    found: dict[str, Row] = {}
    commands = [Command(METHOD, {**BY_ID, "filter": {"ID": one.id}}) for one in wanted]
    for one, answer in zip(wanted, source.batch(commands), strict=True):
        found |= {row.source_id: row for row in rows_of(answer)[0] if row.source_id == one.id}
    return found


def category(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """The pipeline of the deals to come; the first one has no number on some portals."""
    return None if value in (None, "") else pipeline(DEAL, str(value), resolve)


def nearest_day(name: str) -> Take:
    """A day that the method takes for a time (crm-deal-recurring-fields.md; its page shows 01:00): midnight of the
    server, moved by what lies between its zone and that of the webhook's owner (kernel rest, CRestUtil)."""

    def take(seen: SourceRecord) -> Json:
        value = seen.payload.get(name, ABSENT)
        when = moment(value, ZoneInfo("UTC"))
        if when is None:
            return value
        try:
            return (when.utc + timedelta(minutes=when.offset_min, hours=12)).date().isoformat()
        except OverflowError:  # the last day of all
            raise OddValue from None

    return take


def schedule(seen: SourceRecord) -> Json:
    """An empty object is an empty list in PHP."""
    value = seen.payload.get("PARAMS", ABSENT)
    if value is ABSENT or isinstance(value, dict):
        return value
    if value:
        raise OddValue("PARAMS")
    return None


crm_recurring = Stream(
    name="crm_recurring",
    table=Table("CrmRecurring", "crm_recurring"),
    read=(Gather(METHOD, gather),),
    view=upper_names,
    fields=(
        # A rule leaves templates out of the deals. One comes with its schedule, by which the target hides it.
        Field("DEAL_ID", Kind.REF, to="crm_deals", policy=Policy.REQUIRE, brings=True),
        Field("BASED_ID", Kind.REF, to="crm_deals"),  # only shows where the template came from
        Field("CATEGORY_ID", Kind.CODED, code=category, names=("crm_categories",), beyond=True),
        # An active one whose time has come makes a deal as soon as the box looks.
        Field("ACTIVE", Kind.FLAG, take=lambda _: False),
        Field("NEXT_EXECUTION", Kind.DAY, take=nearest_day("NEXT_EXECUTION")),
        Field("LAST_EXECUTION", Kind.DAY, take=nearest_day("LAST_EXECUTION")),
        *days("START_DATE", "LIMIT_DATE"),
        *wholes("COUNTER_REPEAT", "LIMIT_REPEAT"),
        *texts("IS_LIMIT"),
        Field("PARAMS", Kind.AS_IS, take=schedule),
    ),
    required=("DEAL_ID",),
    fetch=fetch,
    covered=("DEAL_ID",),
    title=("DEAL_ID",),
)

ENTITIES = (
    Entity(
        name="crm_recurring",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        optional=True,
        streams=(crm_recurring,),
        probes={METHOD: {"filter": {"<ID": 1}}},
    ),
)
