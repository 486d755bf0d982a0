"""Looking records up needs no more of a store than its promises: on every backend the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests import azurite
from tests.stores.samples import NOON, Time, failed, imported, row

from b24migrate.engine.phases.comparison import write_findings as keep_findings
from b24migrate.engine.phases.context import Options, RunContext
from b24migrate.engine.phases.memory import Memory
from b24migrate.engine.phases.notes import Notes
from b24migrate.engine.phases.stage import write_set_aside
from b24migrate.entities import FILES, Catalog, catalog
from b24migrate.insight.lookup import Hit, RecordVerdict, record, search
from b24migrate.model.records import Fate, Finding, SetAside, Staged
from b24migrate.stores import Opened, open_store

KNOWN = catalog()
FEW = ("users", "groups", "group_members", "files")
TABLES = [table for table in KNOWN.tables if table.partition in ("users", "groups", "groupMembers", "files")]


@pytest.fixture(params=["sqlite://:memory:", "sqlite:///store.db", "azure"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    place = azurite.url() if request.param == "azure" else str(request.param)
    made = open_store(place, TABLES, Time(), base=tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def context(opened: Opened) -> RunContext:
    """Of a few streams, without portals."""
    streams = {**KNOWN.streams, FILES.name: FILES}
    entities = [one for one in Catalog(KNOWN.entities).entities if one.name == "groups"]
    few = {name: streams[name] for name in FEW}
    return RunContext(
        entities=entities,
        streams=few,
        owner={name: KNOWN.owner[name] for name in FEW if name in KNOWN.owner},
        file_kinds=KNOWN.file_kinds,
        store=opened.store,
        queue=opened.queue,
        files=opened.files,
        source=None,  # type: ignore[arg-type]
        target=None,  # type: ignore[arg-type]
        clock=Time(),
        options=Options(timezone=ZoneInfo("Europe/Moscow")),
        memory=Memory(opened.store, few.values()),
        notes=Notes(opened.store),
    )


def every_page(context: RunContext, text: str, **more: int) -> tuple[list[Hit], int]:
    found: list[Hit] = []
    looked_at, after = 0, ""
    while True:
        page = search(context, text, after=after, **more)  # type: ignore[arg-type]
        found += page.hits
        looked_at += page.looked_at
        if page.next is None:
            return found, looked_at
        after = page.next


def test_a_record_is_looked_up_with_all_that_is_known_of_it(context: RunContext) -> None:
    groups = context.streams["groups"]
    keys = ["9", "10", "1", "100", "2:30", "2:3", "b", "a:7", "a", "№ 5"]
    context.store.stage(groups.table, [row(one, f"group {one}") for one in keys], run="run-1", pass_no=1)
    timed = Staged("11", b'{"NAME": "timed"}', None, "2024-03-01T12:00:00+03:00", "2024-03-01T09:00:00Z", 180)
    context.store.stage(groups.table, [timed], run="run-2", pass_no=1)
    context.store.settle("groups", groups.table, [imported(10), failed(9)], now=NOON)
    keep_findings(
        context, [Finding("groups", Fate.DIFFERS, "10", "NAME", "a", "b"), Finding("groups", Fate.MISSING, "100")]
    )
    write_set_aside(context, [SetAside("groups", "77", "impossible", "nobody may", "secret")])
    for one in keys:
        view = record(context, "groups", one, ask=False)
        assert view is not None
        assert (view.id, view.title) == (one, f"group {one}")
    ten, nine, eleven, aside = (record(context, "groups", one, ask=False) for one in ("10", "9", "11", "77"))
    assert ten
    assert (ten.verdict, ten.run, ten.link and ten.link.target_id) == (RecordVerdict.IMPORTED, "run-1", "t10")
    assert ten.link
    assert ten.link.imported_at.startswith("2026-11-15T12:00:00")
    assert [(one.fate, one.actual) for one in ten.findings] == [("differs", "b")]
    assert nine
    assert nine.trouble
    assert (nine.verdict, nine.trouble.code) == (RecordVerdict.FAILED, "BAD")
    assert nine.trouble.at.startswith("2026-11-15T12:00:00")
    assert eleven
    assert eleven.times
    assert (eleven.times.utc, eleven.times.offset_min) == ("2024-03-01T09:00:00Z", 180)
    assert aside
    assert (aside.verdict, aside.title) == (RecordVerdict.IMPOSSIBLE, "secret")
    assert record(context, "groups", "12", ask=False) is None


def test_the_walk_looks_at_every_record_once_and_exact_hits_come_first(context: RunContext) -> None:
    for name in ("groups", "group_members"):
        table = context.streams[name].table
        keys = [f"{one % 7}:{one}" if name == "group_members" else str(one) for one in range(1, 121)]
        context.store.stage(table, [row(one, "Зимний отдых") for one in keys], run="r", pass_no=1)
    context.store.stage(context.streams["groups"].table, [row("text", "x" * 200_000)], run="r", pass_no=1)
    found, looked_at = every_page(context, "", limit=17, budget_s=0)
    assert looked_at == len(found) == len({(one.stream, one.id) for one in found}) == 241
    winter, _ = every_page(context, "ОТДЫХ зимний", limit=50)
    assert {one.stream for one in winter} == {"groups"}
    assert len(winter) == 120
    seven, _ = every_page(context, "7")
    assert [(one.stream, one.id, one.by) for one in seven] == [("groups", "7", "id"), ("group_members", "0:7", "child")]


def test_a_person_is_found_by_e_mail(context: RunContext) -> None:
    table = context.streams["users"].table
    people = [row(one, "N", natural=f"user{one}@company.example") for one in range(1, 30)]
    context.store.stage(table, people, run="r", pass_no=1)
    (hit,) = search(context, "USER17@company.example", stream="users").hits
    assert (hit.id, hit.by) == ("17", "email")
