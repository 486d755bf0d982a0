"""Notes for people, kept in an entity's state."""

from __future__ import annotations

from b24migrate.messages import Message, say
from b24migrate.ports import ENTITIES_STATE, RegisterRow, Store

MOST_NOTES = 100
MORE_NOTES = say("note.more")


class Notes:
    """At most 100 notes for each entity, and one that there are more."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, entity: str, message: str, begins: str = "", /) -> bool:
        """Returns whether it is new. With `begins` only the first note with this prefix is."""
        about = begins or message
        while True:
            row = self._store.read(ENTITIES_STATE, entity) or RegisterRow(entity, {})
            notes = list(row.values.get("Notes") or [])
            if any(note == message or (about != message and note.startswith(about)) for note in notes):
                if message in notes:
                    self._add_key(row, notes, message)
                return False
            if len(notes) > MOST_NOTES:
                return True
            kept = message if len(notes) < MOST_NOTES else MORE_NOTES
            if self._store.swap(ENTITIES_STATE, row._replace(values={**row.values, "Notes": [*notes, kept]})):
                return True

    def _add_key(self, row: RegisterRow, notes: list[str], message: str) -> None:
        """Earlier versions kept the same note without its key. Another process may come first: the next note tries
        again."""
        at = notes.index(message)
        if isinstance(message, Message) and not isinstance(notes[at], Message):
            notes[at] = message
            self._store.swap(ENTITIES_STATE, row._replace(values={**row.values, "Notes": notes}))


class NoNotes(Notes):
    """For reading only: keeps nothing."""

    def add(self, _entity: str, _message: str, _begins: str = "", /) -> bool:
        return False
