"""After a delta pass the second pass looks at the records that were sent since, and at those that went without something,
as long as an earlier one has looked at all records and no link was removed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.phases import deferred, verify
from b24migrate.engine.run import RunResult
from b24migrate.model.records import Record
from b24sim.company.crm_ids import COMPANY, CONTACT, LEAD

Json = Any
NUMBER = re.compile(r"\d+")
PLAN = replace(SMALL, chats=0, messages=0, companies=6, contacts=60, leads=4, deals=0, smart_types=0, smart_items=0)
ENTITIES = ["users", "crm_structure", "crm_companies", "crm_contacts", "crm_leads"]
SETTINGS: Json = {
    "run": {"entities": ENTITIES, "user_coverage": 0.5},
    "mapping": {"placeholder_user": "1"},
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("second"), PLAN, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def crm(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few records would always be looked at as a whole."""
    monkeypatch.setattr(deferred, "LOOKED_UP_FOR_ONE", 0.001)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The contacts that the second pass looks at."""
    found: list[str] = []
    compose = deferred._compose_all

    def noted(context: Json, stream: Json, second: Json, records: list[Record]) -> Json:
        found.extend(one.row_key for one in records if stream.name == "crm_contacts")
        return compose(context, stream, second, records)

    monkeypatch.setattr(deferred, "_compose_all", noted)
    return found


def sync(made: World, **settings: Json) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(()), delta=True, tick=made.leap())


def sync_later(made: World, title: str) -> None:
    """A delta pass that no longer meets what the one before it met."""
    made.cloud.portal.clock.advance(3 * 3600)
    made.change("crm_contacts", id=int(imported(made)[-1]), fields={"post": title})
    sync(made)


def imported(made: World) -> list[str]:
    return [key for key, row in made.records("CrmContacts").items() if row["Status"] == "IMPORT_OK"]


def marks(made: World) -> list[str]:
    return [str(key) for (key,) in made.sql("SELECT RowKey FROM Incomplete WHERE RowKey LIKE 'crm_contacts:@%'")]


def link_code(made: World) -> str:
    """The field of contacts that links to one company."""
    rows = made.sql("SELECT RowKey, Payload FROM CustomFields WHERE PartitionKey = 'crm_contacts' AND Type = 'crm'")
    (code,) = [str(key) for key, payload in rows if "Contractor" in str(payload)]
    return code


def link_field(made: World) -> str:
    first, *rest = link_code(made).lower().split("_")
    return first + "".join(part.capitalize() for part in rest)


def companies(made: World) -> list[int]:
    known = made.records("CrmCompanies")
    return [one for one in made.cloud.portal.company.crm.items[COMPANY].ids if str(one) in known]


def test_a_delta_run_looks_at_what_it_sent(crm: World, seen: list[str]) -> None:
    changed = imported(crm)[35]
    crm.change("crm_contacts", id=int(changed), fields={"post": "Другое"})
    sync(crm)
    assert changed in seen
    assert len(seen) < 10
    seen.clear()
    crm.run()
    assert set(seen) == set(imported(crm))


@dataclass(frozen=True)
class Lacking:
    """A contact that went without its link to a company which the box refused. No later pass meets it."""

    made: World
    contact: str
    company: int

    @property
    def row(self) -> dict[str, Json]:
        found: dict[str, Json] = self.made.imported("crm_contacts")[f"source:crm_contacts:{self.contact}"]
        return found

    @property
    def has_link(self) -> bool:
        there = self.made.records("CrmCompanies")[str(self.company)]["TargetId"]
        fields = self.row["fields"]
        return str(there) in {str(fields.get(link_code(self.made))), *NUMBER.findall(fields["comments"])}


def make_lacking(made: World, place: str = "custom field") -> Lacking:
    contact, known = imported(made)[35], set(companies(made))
    made.change("crm_companies", "add", fields={"title": "Новая"})
    (new,) = set(made.cloud.portal.company.crm.items[COMPANY].ids) - known
    links = {"custom field": {link_field(made): str(new)}, "text": {"comments": f"[URL=/crm/company/details/{new}/]"}}
    made.change("crm_contacts", id=int(contact), fields=links[place])
    made.strike_box({"method": "import.*.batch", "item": {"key": f"source:crm_companies:{new}", "code": "VALIDATION"}})
    assert sync(made).exit_code == 5
    made.strike_box()
    for title in ("Иное", "Третье", "Четвёртое"):
        sync_later(made, title)
    return Lacking(made, contact, new)


@pytest.mark.parametrize("place", ["custom field", "text"])
def test_a_link_to_a_record_that_failed_comes_with_that_record(crm: World, seen: list[str], place: str) -> None:
    lacking = make_lacking(crm, place)
    seen.clear()
    sync_later(crm, "Пятое")
    assert lacking.contact not in seen
    crm.retry()
    sync_later(crm, "Шестое")
    assert lacking.contact in seen
    assert lacking.has_link
    sent = lacking.row["updated_count"]
    sync_later(crm, "Седьмое")
    assert lacking.row["updated_count"] == sent


def test_a_record_that_was_hidden_when_its_link_came_gets_it_when_it_is_back(crm: World) -> None:
    lacking = make_lacking(crm)
    table, number = crm.cloud.portal.company.crm.items[CONTACT], int(lacking.contact)
    row = dict(table.row(number))
    table.remove(number)
    sync_later(crm, "Пятое")
    assert lacking.contact in crm.deleted("CrmContacts")
    crm.retry()
    sync_later(crm, "Шестое")
    table.put(number, row)
    for title in ("Седьмое", "Восьмое"):
        sync_later(crm, title)
    assert crm.deleted("CrmContacts") == set()
    assert lacking.has_link


def test_the_retry_of_an_interrupted_run_does_not_take_a_link_for_written(
    crm: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second passes were over when the record came that they had missed."""

    class Killed(BaseException):
        pass

    def kill(*_: Json) -> None:
        raise Killed

    lacking = make_lacking(crm)
    crm.cloud.portal.clock.advance(3 * 3600)
    with monkeypatch.context() as patch, suppress(BaseException):
        patch.setattr(verify, "start", kill)
        sync(crm)
    crm.retry()
    sync_later(crm, "Пятое")
    assert lacking.has_link


def test_a_postponed_link_to_a_newer_record_comes_with_that_record(crm: World) -> None:
    """It came to the source after its stream was read, and before the stream that links to it."""
    contact, leads = imported(crm)[35], crm.cloud.portal.company.crm.items[LEAD]
    known = set(leads.ids)
    crm.change("crm_leads", "add", fields={"title": "Новый"})
    (new,) = set(leads.ids) - known
    crm.change("crm_contacts", id=int(contact), fields={"leadId": new})
    crm.cloud.portal.clock.advance(3 * 3600)
    assert crm.run("crm_contacts").exit_code == 0
    sync_later(crm, "Иное")
    there = crm.records("CrmLeads")[str(new)]["TargetId"]
    assert crm.imported("crm_contacts")[f"source:crm_contacts:{contact}"]["fields"]["leadId"] == there


def test_marks_go_when_they_were_looked_at(crm: World, seen: list[str]) -> None:
    for title in ("Первое", "Второе", "Третье"):
        sync_later(crm, title)
    left = len(marks(crm))
    for title in ("Четвёртое", "Пятое"):
        sync_later(crm, title)
    assert len(marks(crm)) == left


def test_all_are_looked_at_when_a_link_was_removed(crm: World, seen: list[str]) -> None:
    crm.change("crm_companies", "delete", id=companies(crm)[0])
    sync(crm, run={"deletions": "delete", "deletions_limit": 100})
    seen.clear()
    sync_later(crm, "Другое")
    assert set(seen) == set(imported(crm))
    seen.clear()
    sync_later(crm, "Иное")
    assert len(seen) < 10


def test_all_are_looked_at_when_the_policy_is_another(crm: World, seen: list[str]) -> None:
    crm.change("crm_contacts", id=int(imported(crm)[0]), fields={"post": "Другое"})
    sync(crm, mapping={"placeholder_user": "2"})
    assert set(seen) == set(imported(crm))


def test_all_are_looked_at_after_a_run_that_ended_before_the_second_pass(crm: World, seen: list[str]) -> None:
    """A full run sends records without marks, since its second pass looks at all."""
    crm.change("crm_contacts", id=int(imported(crm)[0]), fields={"post": "Другое"})
    assert crm.run("crm_contacts", phases=("get",)).exit_code == 0
    with crm.app() as app:
        stream = app.context.streams["crm_contacts"]
        deferred.forget_completed(app.context, app.context.owner["crm_contacts"].task("set"), stream)
    sync_later(crm, "Иное")
    assert set(seen) == set(imported(crm))
