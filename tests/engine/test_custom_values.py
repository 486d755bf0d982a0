"""What becomes of the values of custom fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.engine.custom_catalog import DEAL, ORIGIN, ORIGINS, PLAN, fields_made, working
from tests.engine.world import World, world

from b24migrate.engine.phases.compose import ComposedRecord
from b24migrate.engine.phases.custom_values import CustomValues
from b24migrate.model.records import Json, Link, Record, Staged, Status
from b24migrate.model.source_records import SourceRecord
from b24sim.company import crm_fields as uf

Sent = Callable[..., tuple[dict[str, Json], Counter[str]]]


@contextmanager
def sending(made: World) -> Iterator[Sent]:
    """What becomes of a payload: the fields, and what was lost."""
    with working(made) as context:
        fields_made(context, "deals")
        fields_made(context, "bare")
        now = context.clock.now()
        context.store.link("users", [Link("5", "905")], now=now)
        context.store.link("deals", [Link("12", "912")], now=now)
        context.store.link("firms", [Link("7", "907")], now=now)
        context.store.link("files", [Link("crm:30577", "930")], now=now)
        context.store.link("stages.CODE", [Link("SOURCE:WEB", "UC_9"), Link("OTHER:CALL", "UC_8")], now=now)
        context.store.stage(
            context.streams["firms"].table, [Staged("8", b"{}"), Staged("9", b"{}")], run="r", pass_no=1
        )

        def put(payload: dict[str, Json], of: str = "deals", *, late: bool = True) -> Any:
            fields: dict[str, Json] = {}
            done = ComposedRecord(Record("1", Status.NEW, b"{}"))
            values = CustomValues(context, context.streams[of], late=late)
            values.put(SourceRecord("1", payload, {}), fields, done)
            return fields, Counter(done.losses)

        yield put


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """For those who only ask what a value becomes."""
    with world(tmp_path_factory.mktemp("shared"), PLAN) as made:
        yield made


@pytest.fixture(scope="module")
def sent(shared: World) -> Iterator[Sent]:
    with sending(shared) as put:
        yield put


def code(purpose: int) -> str:
    return {uf.NUMBER: "UF_CRM_DIGIT10", uf.WORD: "UF_CRM_CODE_WORD"}.get(purpose, DEAL.format(purpose))


FILE = {"id": 30577, "url": "https://host/a", "urlMachine": "https://host/rest/b"}


@pytest.mark.parametrize(
    ("purpose", "value", "wanted"),
    [
        (uf.TEXT, "Договор №5", "Договор №5"),
        (uf.TEXTS, ["a", "b"], ["a", "b"]),
        (uf.TEXTS, "a", ["a"]),
        (uf.TEXTS, {"0": "a", "3": "b"}, ["a", "b"]),
        (uf.WHOLE, 0, 0),
        (uf.WHOLE, "15", "15"),
        (uf.NUMBER, 12.5, 12.5),
        (uf.FLAG, "Y", True),
        (uf.FLAG, "N", False),
        (uf.FLAG, False, False),
        (uf.FLAG, "0", False),
        (uf.DATE, "2024-06-18T00:00:00+03:00", "2024-06-18"),
        (uf.DATE, "2024-06-18T03:00:00+03:00", "2024-06-18"),
        (uf.MOMENT, "2024-06-18T01:30:00+03:00", "2024-06-17T22:30:00Z"),
        (uf.EMPLOYEE, 5, "905"),
        (uf.EMPLOYEES, [5, "5"], ["905", "905"]),
        (uf.LINKS, ["D_12", "CO_7"], ["D_912", "CO_907"]),
        (uf.LINK, "7", "907"),
        (uf.LINK, "CO_7", "CO_907"),
        (uf.MONEY, "300|RUB", "300|RUB"),
        (uf.SITE, "https://a.example/?a=1", "https://a.example/?a=1"),
        (uf.PLACE, "Казань|55.79;49.11", "Казань|55.79;49.11"),
        (ORIGIN, "WEB", "UC_9"),
        (ORIGIN, "CALL", "CALL"),
        (ORIGINS, ["CALL", "WEB"], ["CALL", "UC_9"]),
        (ORIGINS, "WEB", ["UC_9"]),
        (uf.FILE, FILE, "930"),
        (uf.FILES, [FILE], ["930"]),
        (uf.FILES, {"0": FILE}, ["930"]),
    ],
)
def test_a_value_becomes_what_the_target_wants(sent: Sent, purpose: int | str, value: Json, wanted: Json) -> None:
    name = purpose if isinstance(purpose, str) else code(purpose)
    fields, losses = sent({name: value})
    assert (fields, losses) == ({name: wanted}, Counter())
    assert type(fields[name]) is type(wanted)


@pytest.mark.parametrize("value", [None, "", [], {}, False])
def test_an_empty_value_is_not_sent(sent: Sent, value: Json) -> None:
    assert sent({code(uf.TEXT): value, code(uf.EMPLOYEE): value}) == ({}, Counter())


@pytest.mark.parametrize("value", [0, "0", {}, ""])
def test_a_link_that_names_nothing_is_empty(sent: Sent, value: Json) -> None:
    fields, _ = sent({code(uf.LINKS): [value, "D_12"]})
    assert fields == {code(uf.LINKS): ["D_912"]}


@pytest.mark.parametrize(
    ("purpose", "value", "wanted", "loss"),
    [
        (uf.EMPLOYEE, 6, None, "references_dropped"),
        (uf.EMPLOYEES, [6, 5], ["905"], "references_dropped"),
        (uf.LINKS, ["D_12", "D_13"], ["D_912"], "references_dropped"),
        (uf.LINKS, ["12"], [], "references_dropped"),
        (uf.LINK, "8", None, "references_dropped"),
        (uf.FILE, {"id": 5, "urlMachine": "x"}, None, "files_dropped"),
        (uf.FILES, [FILE, {"id": 5}], ["930"], "files_dropped"),
        (uf.CHOICE, uf.GONE_OPTION, None, "references_dropped"),
        (uf.DATE, "some day", None, "custom_values_left"),
    ],
)
def test_what_leads_nowhere_is_dropped_and_counted(
    sent: Sent, purpose: int, value: Json, wanted: Json, loss: str
) -> None:
    assert sent({code(purpose): value}) == ({code(purpose): wanted}, Counter([loss]))


@pytest.fixture
def crm(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as made:
        yield made


def test_records_that_are_missed_on_the_target_are_named_once_for_each_field(crm: World) -> None:
    """Those that the source itself has no longer are not missed."""
    with sending(crm) as sent:
        sent({code(uf.LINKS): ["D_13", "CO_55"]})
        assert not any("not on the target" in note for note in read_notes(crm, "deals"))
        sent({code(uf.LINK): "8"})
        sent({code(uf.LINK): "9", code(uf.LINKS): ["CO_9", "CO_8"]})
    notes = [note for note in read_notes(crm, "deals") if "not on the target" in note]
    assert [(code(uf.LINK) in note, note.rpartition(" for example ")[2]) for note in notes] == [
        (True, "firms 8"),
        (False, "firms 9"),
    ]


def read_notes(made: World, entity: str) -> list[str]:
    ((notes,),) = made.sql("SELECT Notes FROM EntitiesState WHERE RowKey = ?", entity)
    return list(msgspec.json.decode(notes))


def test_options_are_those_of_the_target(sent: Sent, shared: World) -> None:
    known = shared.box.portal.imports.custom_fields("crm_deals")[code(uf.CHOICES)].options
    mine = next(one for one in shared.cloud.portal.company.crm.items[2].fields if one.purpose == uf.CHOICES).options
    fields, losses = sent({code(uf.CHOICES): [str(mine[0][0]), mine[2][0]]})
    assert [known[option]["value"] for option in fields[code(uf.CHOICES)]] == [uf.OPTIONS[0], uf.OPTIONS[2]]
    assert not losses


def test_types_that_nobody_can_carry_stay_behind(sent: Sent) -> None:
    assert sent({code(uf.ELEMENT): "31"}) == ({}, Counter(["custom_values_left"]))


def test_files_and_records_stay_behind_where_they_cannot_be_had(sent: Sent) -> None:
    payload = {code(uf.FILE): FILE, code(uf.LINK): "7", code(uf.WORD): "слово"}
    assert sent(payload, "bare") == ({code(uf.WORD): "слово"}, Counter({"custom_values_left": 2}))


def test_records_that_may_come_later_wait_for_the_second_pass(sent: Sent) -> None:
    payload = {code(uf.LINK): "7", code(uf.EMPLOYEE): 5}
    assert sent(payload, late=False)[0] == {code(uf.EMPLOYEE): "905"}
    assert sent(payload, late=True)[0] == {code(uf.LINK): "907", code(uf.EMPLOYEE): "905"}


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("ufCrm_1700000200", uf.TEXT),
        ("ufCrm1700000200", uf.TEXT),
        ("ufCrm_DIGIT10", uf.NUMBER),
        ("ufCrmDigit10", uf.NUMBER),
        ("ufCrmCodeWord", uf.WORD),
    ],
)
def test_names_that_a_method_made_up_are_understood(sent: Sent, name: str, purpose: int) -> None:
    assert sent({name: "5"}) == ({code(purpose): "5"}, Counter())


def test_a_declared_field_is_no_custom_one_and_an_unknown_one_is_counted(sent: Sent) -> None:
    assert sent({"ufDeclared": "5", "ufNobodyKnows": "6", "title": "7"}) == ({}, Counter(["custom_values_left"]))
