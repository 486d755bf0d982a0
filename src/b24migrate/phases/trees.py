"""Trees of anything: ids under known keys, ids inside codes, and texts, rewritten wherever they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

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


class At(NamedTuple):
    """Where in whose tree one is."""

    spec: Field
    one: Seen
    done: Composed
    place: str

    def below(self, name: str | int) -> At:
        return self._replace(place=f"{self.place}/{name}")

    def stays(self, stream: str, source_id: str) -> None:
        self.done.places.append((self.place, f"{stream} {source_id}"))


class Trees:
    def __init__(self, work: Work, rich: Rich) -> None:
        self._work = work
        self._rich = rich

    def rewritten(self, spec: Field, one: Seen, value: Json, done: Composed) -> Json:
        return self._walk(At(spec, one, done, spec.name), value)

    def _walk(self, at: At, value: Json) -> Json:
        if isinstance(value, str):
            return self._coded(at, self._rich(at.spec, at.one, value, at.done))
        if isinstance(value, list):
            return [self._walk(at.below(number), part) for number, part in enumerate(value)]
        if isinstance(value, dict):
            # Keys hold codes too: a condition is filed under the field it looks at.
            return {
                str(self._coded(at, name)): self._branch(at.below(name), name, part) for name, part in value.items()
            }
        return value

    def _coded(self, at: At, text: Json) -> Json:
        code = at.spec.code
        return text if code is None else code(at.one, text, Keeping(self._work, at.place, at.done))

    def _branch(self, at: At, name: str, value: Json) -> Json:
        stream = at.spec.inside.get(name)
        if stream is None:
            return self._walk(at, value)
        if isinstance(value, list | dict):  # PHP sends a list with gaps as a map
            return self._ids(at, stream, value)
        source_id = values.reference(value)
        if at.spec.code is None or source_id is None or not source_id.isdecimal():
            return self._walk(at, value)
        return self._id(at, stream, value, source_id)

    def _ids(self, at: At, stream: str, value: Json) -> Json:
        """A list of ids: what is lost is left out; where places are kept, it stays and is told."""
        ids = dict.fromkeys(values.references(value))
        found = self._work.links.target_ids(stream, ids)
        missing = [source_id for source_id in ids if source_id not in found]
        if at.spec.code is None:
            at.done.lose("references_dropped", len(missing))
        else:
            found = {one: one for one in missing} | found
            for source_id in missing:
                at.stays(stream, source_id)
        there = dict.fromkeys(found[source_id] for source_id in ids if source_id in found)
        return [int(target_id) if target_id.isdecimal() else target_id for target_id in there]

    def _id(self, at: At, stream: str, value: Json, source_id: str) -> Json:
        """One id; a number stays a number, a text a text."""
        target_id = self._work.links.target_id(stream, source_id)
        if target_id is None:
            at.stays(stream, source_id)
            return value
        return int(target_id) if isinstance(value, int) and target_id.isdecimal() else target_id
