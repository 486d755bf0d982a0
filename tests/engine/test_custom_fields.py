"""Custom fields: what they are called, whose values stay behind, and what the administrator chose for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine.world import World

from b24migrate import ports
from b24migrate.engine import field_map
from b24migrate.engine.phases.custom_fields import field_map_rows, target_code
from b24migrate.ports import RegisterRow

PASSPORT, CLIENT = "UF_USR_PASSPORT", "UF_USR_CLIENT"
MENTOR = "UF_USR_1724228142171"


def add_fields(made: World) -> None:
    """A scan of a passport, and a CRM client, as two people have them."""
    company = made.cloud.portal.company
    pattern = company.user_fields[0]
    for number, code, kind in ((301, PASSPORT, "file"), (302, CLIENT, "crm")):
        company.user_fields.append({**pattern, "ID": str(number), "FIELD_NAME": code, "USER_TYPE_ID": kind})
    made.change("users", id=2, fields={PASSPORT: 771, CLIENT: "D_12"})
    made.change("users", id=3, fields={CLIENT: ["C_5", "CO_6"]})


def counter(made: World, name: str) -> float:
    counters: dict[str, float] = dict(made.sql("SELECT Name, Value FROM Counters"))
    return counters.get(name, 0)


def test_values_that_cannot_be_carried_over_stay_behind_and_are_named(small: World) -> None:
    add_fields(small)
    assert small.run("users").exit_code == 0
    sent = {name for row in small.imported("users").values() for name in row["fields"]}
    assert MENTOR in sent
    assert not {PASSPORT, CLIENT} & sent
    notes = " ".join(small.entity("users").notes)
    assert PASSPORT in notes
    assert CLIENT in notes
    assert counter(small, "custom_values_left:users") == 3
    assert small.entity("users").verified


def declared(made: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The fields that the box is asked to make, once the run is over."""
    portal = made.box.portal
    take = portal._import
    seen: dict[str, Any] = {}

    def watch(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        if name == "import.users.fields":
            seen.update({field["code"]: field for field in body["fields"]})
        return take(name, body, *size)  # type: ignore[arg-type]

    monkeypatch.setattr(portal, "_import", watch)
    return seen


def test_labels_come_in_every_language_that_the_portal_answers(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = declared(small, monkeypatch)
    small.run("users")
    assert fields[MENTOR]["label"] == {"ru": "Наставник", "en": "Mentor", "de": "Betreuer"}
    assert len(fields) == len(small.cloud.portal.company.user_fields)


def test_a_field_without_labels_is_called_by_its_code(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the portal takes the language for a filter and finds no field at all."""
    fields = declared(small, monkeypatch)
    small.strike_cloud(
        {"method": "user.userfield.list", "kind": "error", "code": "ERROR_CORE", "at": list(range(2, 40))}
    )
    assert small.run("users").exit_code == 0
    assert fields[MENTOR]["label"] == {"ru": MENTOR, "en": MENTOR}


# ---------------------------------------------------------------- options that are gone


LEVEL, NUMBER, HIRED = "UF_USR_1724228142162", "UF_USR_1724228142173", "UF_USR_1724228142170"


def test_values_that_are_no_options_any_more_are_dropped_and_named_once(small: World) -> None:
    for user, value in ((2, [9998]), (3, [9999, 26]), (4, [9997])):
        small.change("users", id=user, fields={LEVEL: value})
    assert small.run("users").exit_code == 0
    known = small.box.portal.imports.custom_fields("users")[LEVEL].options
    sent = small.imported("users")
    assert sent["source:users:2"]["fields"][LEVEL] == []
    assert [known[option]["value"] for option in sent["source:users:3"]["fields"][LEVEL]] == ["Junior"]
    assert counter(small, "references_dropped:users") == 3
    notes = [note for note in small.entity("users").notes if LEVEL in note]
    assert len(notes) == 1
    assert "999" in notes[0]


def test_values_follow_an_option_that_the_target_has_made_again(small: World) -> None:
    """It finds options by their text, and the source has renamed one: the users themselves are as they were. No field
    links to users, so that nothing else needs a second pass."""
    company = small.cloud.portal.company
    company.user_fields[:] = [one for one in company.user_fields if one["FIELD_NAME"] == LEVEL]
    small.run("users")
    options = small.box.portal.imports.custom_fields("users")[LEVEL].options
    before = set(options)
    for one in before:
        options[one] = {}
    for delta in (False, True):
        with small.app() as app:
            assert app.runner.run(app.chosen(("users",)), delta=delta, tick=small.leap()).exit_code == 0
    values = [one for some in values_of(small, LEVEL) for one in some]
    assert values
    assert before.isdisjoint(values)
    assert all(options[one].get("value") for one in values)
    assert small.entity("users").verified


# ---------------------------------------------------------------- what the administrator chose


def choose(made: World, *lines: tuple[str, str, str, str]) -> int:
    with made.app() as app:
        return field_map.load(app.context, [("entity", "source_field", "target_field", "included"), *lines])


def values_of(made: World, code: str) -> list[Any]:
    return [row["fields"][code] for row in made.imported("users").values() if code in row["fields"]]


def test_a_loaded_code_is_where_the_field_and_its_values_go(small: World) -> None:
    small.run("users", phases=("custom-fields-get",))
    assert choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes")) == 1
    assert small.run("users").exit_code == 0
    there = small.box.portal.imports.custom_fields("users")
    assert "UF_USR_GRADE" in there
    assert LEVEL not in there
    chosen = [option for value in values_of(small, "UF_USR_GRADE") for option in value]
    assert chosen
    assert set(chosen) <= set(there["UF_USR_GRADE"].options)
    assert values_of(small, LEVEL) == []
    assert small.entity("users").verified


def test_another_run_keeps_what_the_administrator_chose(small: World) -> None:
    small.run("users", phases=("custom-fields-get",))
    choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes"), ("users", NUMBER, "", "no"))
    small.run("users")
    assert small.run("users").exit_code == 0
    chosen = {key: (target, included) for key, target, included in small.sql(FIELD_MAP)}
    assert chosen[f"users:{LEVEL}"] == ("UF_USR_GRADE", 1)
    assert chosen[f"users:{NUMBER}"][1] == 0
    assert chosen[f"users:{HIRED}"] == (HIRED, 1)
    assert LEVEL not in small.box.portal.imports.custom_fields("users")


FIELD_MAP = "SELECT RowKey, TargetField, Included FROM FieldMap"


def rename(made: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A box that has a code of its own for every field; the codes that it is asked for under, as they come."""
    portal = made.box.portal
    take = portal._import
    asked: list[str] = []

    def own(name: str, body: Mapping[str, Any], *size: Any) -> Any:
        if name != "import.users.fields":
            return take(name, body, *size)  # type: ignore[arg-type]
        asked.extend(field["code"] for field in body["fields"])
        renamed = [{**field, "code": f"{field['code']}_X"} for field in body["fields"]]
        answer = take(name, {**body, "fields": renamed}, *size)
        for entry in answer["fields"]:
            entry["code"] = entry["code"].removesuffix("_X")
        return answer

    monkeypatch.setattr(portal, "_import", own)
    return asked


def test_every_run_asks_for_a_field_under_the_code_of_the_source(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = rename(small, monkeypatch)
    small.run("users")
    first = sorted(asked)
    asked.clear()
    assert small.run("users").exit_code == 0
    assert sorted(asked) == first
    assert LEVEL in first
    assert {key: target for key, target, _ in small.sql(FIELD_MAP)}[f"users:{LEVEL}"] == f"{LEVEL}_X"
    assert values_of(small, f"{LEVEL}_X")


def test_a_loaded_code_is_asked_for_again_whatever_the_box_made_of_it(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = rename(small, monkeypatch)
    small.run("users", phases=("custom-fields-get",))
    choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes"))
    small.run("users")
    asked.clear()
    assert small.run("users").exit_code == 0
    assert "UF_USR_GRADE" in asked
    assert not {LEVEL, "UF_USR_GRADE_X"} & set(asked)
    assert choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes")) == 0


def test_what_the_box_answered_is_no_choice_when_it_is_loaded_back(
    small: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = rename(small, monkeypatch)
    small.run("users")
    assert choose(small, ("users", LEVEL, f"{LEVEL}_X", "yes"), ("users", HIRED, "", "yes")) == 0
    choose(small, ("users", LEVEL, f"{LEVEL}_X", "no"))
    choose(small, ("users", LEVEL, f"{LEVEL}_X", "yes"))
    asked.clear()
    small.run("users")
    assert {LEVEL, HIRED} <= set(asked)
    assert f"{LEVEL}_X" not in asked


def test_a_choice_can_be_taken_back(small: World) -> None:
    small.run("users", phases=("custom-fields-get",))
    choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes"))
    small.run("users", phases=("custom-fields-get", "custom-fields-set"))
    assert choose(small, ("users", LEVEL, "", "yes")) == 1
    small.run("users")
    assert values_of(small, LEVEL)
    assert values_of(small, "UF_USR_GRADE") == []


def test_an_excluded_field_is_neither_created_nor_sent_and_no_loss(small: World) -> None:
    small.run("users", phases=("custom-fields-get",))
    assert choose(small, ("users", NUMBER, "", "no")) == 1
    assert small.run("users").exit_code == 0
    assert NUMBER not in small.box.portal.imports.custom_fields("users")
    assert values_of(small, NUMBER) == []
    company = small.cloud.portal.company
    assert counter(small, "custom_values_excluded:users") == sum(
        NUMBER in company.users.row(user) for user in company.users.ids
    )
    assert counter(small, "custom_values_left:users") == 0
    assert small.entity("users").verified


def test_a_field_of_another_type_on_the_target_can_be_given_another_code(small: World) -> None:
    wanted = {**BARE, "code": LEVEL, "type": "string"}
    with small.app() as app:
        app.context.target.fields("users", "users", [wanted])
    small.run("users")
    assert any("TYPE_MISMATCH" in note for note in small.entity("users").notes)
    assert values_of(small, LEVEL) == []
    choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes"))
    small.run("users")
    assert not any("TYPE_MISMATCH" in note for note in small.entity("users").notes)
    assert small.box.portal.imports.custom_fields("users")["UF_USR_GRADE"].type == "enumeration"


BARE = {"multiple": False, "mandatory": False, "sort": 100, "label": {"en": "x"}, "settings": {}, "options": []}


def test_values_of_a_field_that_could_not_be_made_are_counted_not_sent(small: World) -> None:
    """Also under a code that was loaded for it: the target would ignore them in silence."""
    small.run("users", phases=("custom-fields-get",))
    choose(small, ("users", LEVEL, "UF_USR_GRADE", "yes"))
    with small.app() as app:
        app.context.target.fields("users", "users", [{**BARE, "code": "UF_USR_GRADE", "type": "string"}])
    small.run("users")
    assert values_of(small, "UF_USR_GRADE") == []
    assert counter(small, "custom_values_left:users") > 0


def test_of_two_fields_that_would_become_one_the_chosen_goes_first(small: World) -> None:
    """The other one came to the source after the code was chosen."""
    small.run("users", phases=("custom-fields-get",))
    choose(small, ("users", HIRED, "UF_USR_LATER", "yes"))
    company = small.cloud.portal.company
    company.user_fields.append({**company.user_fields[0], "ID": "400", "FIELD_NAME": "UF_USR_LATER"})
    small.run("users")
    assert small.box.portal.imports.custom_fields("users")["UF_USR_LATER"].type == "date"
    assert any("UF_USR_LATER" in note and "CODE_TAKEN" in note for note in small.entity("users").notes)


def test_a_code_that_two_entities_have_is_mapped_for_each(small: World) -> None:
    with small.app() as app:
        rows = [
            RegisterRow(f"{name}:UF_CODE", {"TargetField": f"UF_{name}", "Included": 1}) for name in ("a", "b", "c")
        ]
        app.context.store.write(ports.FIELD_MAP, rows)
        found = {name: field_map_rows(app.context, name) for name in ("a", "b", "c")}
    assert {name: one["UF_CODE"].values["TargetField"] for name, one in found.items()} == {
        "a": "UF_a",
        "b": "UF_b",
        "c": "UF_c",
    }


def test_a_field_has_its_own_code_on_the_target_unless_another_is_known() -> None:
    wished = {
        "UF_A": RegisterRow("deals:UF_A", {"TargetField": "UF_B"}),
        "UF_C": RegisterRow("deals:UF_C", {"TargetField": ""}),
    }
    assert [target_code(one, wished) for one in ("UF_A", "UF_C", "UF_D")] == ["UF_B", "UF_C", "UF_D"]
