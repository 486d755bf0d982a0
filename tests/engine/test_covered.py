"""verify looks at the links of all records once. After that a delta run looks at the records that it met, as long as no
link was removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.phases import broken_links, removal
from b24migrate.engine.run import RunResult
from b24migrate.model.records import Job, Record
from b24sim.company.crm_ids import COMPANY

Json = Any
PLAN = replace(SMALL, chats=0, messages=0, companies=6, contacts=4, deals=20, smart_types=0, smart_items=0)
ENTITIES = ["users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals"]
SETTINGS: Json = {
    "run": {"entities": ENTITIES, "user_coverage": 0.5},
    "mapping": {"placeholder_user": "1"},
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("covered"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def crm(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def sync(made: World, **settings: Json) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(()), delta=True, tick=made.leap())


def dangling(made: World) -> list[tuple[str, str, str]]:
    found = made.sql("SELECT Stream, SourceId, Expected FROM Findings WHERE Fate = 'dangling' ORDER BY RowKey")
    return [(str(stream), str(one), str(expected)) for stream, one, expected in found]


def deals(made: World) -> list[int]:
    return [int(key) for key, row in made.records("CrmDeals").items() if row["Status"] == "IMPORT_OK"]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The deals that verify looks at."""
    found: list[str] = []
    find = broken_links.find_dangling

    def noted(context: Json, stream: Json, records: list[Record]) -> Json:
        found.extend(one.row_key for one in records if stream.name == "crm_deals")
        return find(context, stream, records)

    monkeypatch.setattr(broken_links, "find_dangling", noted)
    return found


def test_a_delta_run_looks_at_the_records_that_it_met(crm: World, seen: list[str]) -> None:
    changed = deals(crm)[0]
    crm.change("crm_deals", id=changed, fields={"title": "Другое"})
    sync(crm)
    assert str(changed) in seen
    assert len(seen) < 5
    seen.clear()
    crm.run()
    assert len(seen) >= 15


def test_a_record_that_waited_is_looked_at_when_it_is_sent(crm: World, seen: list[str]) -> None:
    """It failed in its own run. A later pass does not meet it."""
    failed, other, *_ = deals(crm)
    crm.change("crm_deals", id=failed, fields={"title": "Другое"})
    item = {"key": f"source:crm_deals:{failed}", "code": "VALIDATION"}
    crm.strike_box({"method": "import.*.batch", "item": item})
    assert sync(crm).exit_code == 5
    crm.strike_box()
    for title in ("Иное", "Третье"):  # the first one still meets it: passes overlap
        crm.cloud.portal.clock.advance(3 * 3600)
        crm.change("crm_deals", id=other, fields={"title": title})
        sync(crm)
    seen.clear()
    crm.retry()
    assert str(failed) in seen


def test_an_open_link_stays_a_finding_until_it_is_resolved(crm: World) -> None:
    with crm.app() as app:
        store = app.context.store
        company, link = next(iter(store.links("crm_companies", list(crm.records("CrmCompanies"))).items()))
        store.unlink("crm_companies", [company])
    crm.run()
    found = dangling(crm)
    assert found
    assert {expected for _, _, expected in found} == {company}
    crm.change("crm_contacts", id=int(next(iter(crm.records("CrmContacts")))), fields={"post": "Другое"})
    assert sync(crm).exit_code == 5
    assert dangling(crm) == found
    with crm.app() as app:
        app.context.store.link("crm_companies", [link], now=app.context.clock.now())
    sync(crm)
    assert dangling(crm) == []


def test_all_records_are_looked_at_when_links_were_removed(crm: World, seen: list[str]) -> None:
    company = next(
        one for one in crm.cloud.portal.company.crm.items[COMPANY].ids if str(one) in crm.records("CrmCompanies")
    )
    crm.change("crm_companies", "delete", id=company)
    sync(crm, run={"deletions": "delete", "deletions_limit": 100})
    assert len(seen) >= 15
    assert dangling(crm) == []


def test_two_processes_that_begin_at_once_look_at_what_was_sent(crm: World, seen: list[str]) -> None:
    """The jobs of the second one are thrown away."""
    deal = deals(crm)[10]
    with crm.app() as app:
        context = app.context
        stream = context.streams["crm_deals"]
        record = context.store.get(stream.table, [str(deal)])[str(deal)]
        removal.note_uncovered(context, stream, [record._replace(pass_no=0)])
        for _ in range(2):
            broken_links.start(context, "crm-deals-verify", stream)
        broken_links.cover_sent(context, Job("crm-deals-verify", "cover-sent", {"stream": stream.name, "after": ""}))
    assert seen == [str(deal)]
