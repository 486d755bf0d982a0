"""Trees of anything: ids under known keys, ids inside codes, and texts, rewritten wherever they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from b24migrate.phases import values
from b24migrate.phases.references import Resolver
from b24migrate.phases.work import Work
from b24migrate.records import Json
from b24migrate.streams import Field, Seen

if TYPE_CHECKING:
    from b24migrate.phases.compose import Composed


Rich: TypeAlias = "Callable[[Field, Seen, Json, Composed], str | None]"


class Keeping(Resolver):
    """Remembers what stays as it was, and where."""

    def __init__(self, work: Work, place: str, done: Composed) -> None:
        super().__init__(work)
        self._place = place
        self._done = done

    def missed(self, what: str) -> None:
        self._done.places.append((self._place, what))


class Trees:
    def __init__(self, work: Work, rich: Rich) -> None:
        self._work = work
        self._rich = rich

    def rewritten(self, spec: Field, one: Seen, value: Json, done: Composed) -> Json:
        return self._walk(spec, one, value, done, spec.name)

    def _walk(self, spec: Field, one: Seen, value: Json, done: Composed, place: str) -> Json:
        if isinstance(value, str):
            return self._text(spec, one, value, done, place)
        if isinstance(value, list):
            return [self._walk(spec, one, part, done, f"{place}/{at}") for at, part in enumerate(value)]
        if isinstance(value, dict):
            return {
                self._name(spec, one, name, done, place): self._branch(spec, one, name, part, done, f"{place}/{name}")
                for name, part in value.items()
            }
        return value

    def _text(self, spec: Field, one: Seen, value: str, done: Composed, place: str) -> Json:
        text = self._rich(spec, one, value, done)
        return text if spec.code is None else spec.code(one, text, Keeping(self._work, place, done))

    def _name(self, spec: Field, one: Seen, name: str, done: Composed, place: str) -> str:
        """Keys hold codes too: a condition is filed under the field it looks at."""
        return name if spec.code is None else str(spec.code(one, name, Keeping(self._work, place, done)))

    def _branch(self, spec: Field, one: Seen, name: str, value: Json, done: Composed, place: str) -> Json:
        stream = spec.inside.get(name)
        if stream is None:
            return self._walk(spec, one, value, done, place)
        if isinstance(value, list | dict):  # PHP sends a list with gaps as a map
            return self._ids(spec, stream, value, done, place)
        return self._id(spec, one, stream, value, done, place)

    def _ids(self, spec: Field, stream: str, value: Json, done: Composed, place: str) -> Json:
        ids = dict.fromkeys(values.references(value))
        found = self._work.links.target_ids(stream, ids)
        missing = [source_id for source_id in ids if source_id not in found]
        if spec.code is None:  # where nobody looks at places, what is lost is left out
            done.lose("references_dropped", len(missing))
        else:
            done.places += [(place, f"{stream} {source_id}") for source_id in missing]
        kept = {} if spec.code is None else {one: one for one in missing}
        there = dict.fromkeys((found | kept)[source_id] for source_id in ids if source_id in found or source_id in kept)
        return [int(target_id) if target_id.isdecimal() else target_id for target_id in there]

    def _id(self, spec: Field, one: Seen, stream: str, value: Json, done: Composed, place: str) -> Json:
        """One id under a key. What is no number is a code or a text; a number keeps its spelling."""
        source_id = values.reference(value)
        if spec.code is None or source_id is None or not source_id.isdecimal():
            return self._walk(spec, one, value, done, place)
        target_id = self._work.links.target_id(stream, source_id)
        if target_id is None:
            done.places.append((place, f"{stream} {source_id}"))
            return value
        return int(target_id) if isinstance(value, int) and target_id.isdecimal() else target_id
