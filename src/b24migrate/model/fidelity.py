"""How a target keeps a field: declared by the target, listed before the import, and used by verify."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from b24migrate.messages import Message
from b24migrate.model.records import Json, digest

# the fields of a record under the names of the wire, as far as they are known before the import: flags, times and
# numbers as they are sent, references still with the ids of the source
Draft: TypeAlias = Mapping[str, Json]
KEY = ""  # in a draft: the key under which the record is sent. No field is called so
Judge: TypeAlias = Callable[[Draft], bool]

EMPTY: tuple[Json, ...] = (None, "", [], {})


class Keeping(StrEnum):
    KEPT = "kept"
    TRANSFORMED = "transformed"  # all of it is there, in another form
    APPROXIMATED = "approximated"  # something near it is there
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Rule:
    """The loss of a field. Fields without a rule are kept."""

    stream: str
    field: str  # a name on the wire; ending in `*`: every name with this prefix; empty: the whole record
    keeping: Keeping
    reason: str  # a message; in the words of the target if it is not one of ours
    touches: Judge | None = None  # the records it concerns; None: those in which the field is filled
    # where it depends on the records before, in order of their ids: a fresh judge for one pass over the stream
    running: Callable[[], Judge] | None = None
    among: Callable[[str], bool] | None = None  # which of the names with this prefix; None: all of them

    def concerns(self, name: str) -> bool:
        if not self.field.endswith("*"):
            return name == self.field
        return name.startswith(self.field[:-1]) and (self.among is None or self.among(name))

    @property
    def digest(self) -> str:
        """Of what users read and accept once. A message is identified by its key: a new wording changes nothing."""
        reason = [self.reason.key, self.reason.values] if isinstance(self.reason, Message) else self.reason
        return digest([self.stream, self.field, self.keeping.value, reason])

    def judge(self) -> Judge:
        return self.running() if self.running else self.touches or self._filled

    def _filled(self, draft: Draft) -> bool:
        return any(self.concerns(name) and value not in EMPTY for name, value in draft.items()) or not self.field
