"""Notes of entities keep their keys, also those that an earlier version wrote without."""

from __future__ import annotations

from tests.stores.samples import TABLES, Time

from b24migrate.engine.phases.notes import Notes
from b24migrate.messages import Message, say
from b24migrate.ports import ENTITIES_STATE, RegisterRow
from b24migrate.stores import open_store

SAID = say("note.drift", stream="users", reported=12, retrieved=11)


def test_a_note_without_its_key_gets_it_when_it_is_said_again() -> None:
    store = open_store("sqlite://:memory:", TABLES, Time()).store
    store.write(ENTITIES_STATE, [RegisterRow("users", {"Notes": ["another one", str(SAID)], "Counts": {"pass": 1}})])
    assert not Notes(store).add("users", SAID)
    row = store.read(ENTITIES_STATE, "users")
    store.close()
    assert row is not None
    assert row.values["Notes"] == ["another one", SAID]
    assert isinstance(row.values["Notes"][1], Message)
    assert row.values["Counts"] == {"pass": 1}
