"""Custom fields: what they are called, and whose values stay behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.pipeline.world import World

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
    assert small.run().exit_code == 0
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


def test_labels_come_in_every_language_that_is_asked_for(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = declared(small, monkeypatch)
    small.run("users")
    assert fields[MENTOR]["label"] == {"ru": "Наставник", "en": "Mentor"}
    assert len(fields) == len(small.cloud.portal.company.user_fields)


def test_a_field_without_labels_is_called_by_its_code(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the portal takes the language for a filter and finds no field at all."""
    fields = declared(small, monkeypatch)
    small.strike_cloud({"method": "user.userfield.list", "kind": "error", "code": "ERROR_CORE", "at": [2, 3]})
    assert small.run("users").exit_code == 0
    assert fields[MENTOR]["label"] == {"ru": MENTOR, "en": MENTOR}
