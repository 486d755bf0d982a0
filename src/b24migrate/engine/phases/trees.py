"""Trees of anything: ids under known keys, ids inside codes, and texts, rewritten wherever they occur."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.references import Resolver, mapped_options
from b24migrate.messages import say
from b24migrate.model import values
from b24migrate.model.fields import Field
from b24migrate.model.records import Json
from b24migrate.model.source_records import SourceRecord

if TYPE_CHECKING:
    from b24migrate.engine.phases.compose import ComposedRecord

Rich: TypeAlias = "Callable[[Field, SourceRecord, Json, ComposedRecord], str | None]"
NoteMissing: TypeAlias = "Callable[[str, str, ComposedRecord], None]"  # stream, source id


class PlaceResolver(Resolver):
    """Remembers what stays as it was, and where."""

    def __init__(self, context: RunContext, place: str, done: ComposedRecord) -> None:
        super().__init__(context)
        self._place = place
        self._done = done

    def missed(self, what: str) -> None:
        self._done.places.append((self._place, what))


class TreePosition(NamedTuple):
    """A position in the tree of a record."""

    spec: Field
    one: SourceRecord
    done: ComposedRecord
    place: str
    around: tuple[tuple[str, Mapping[str, Json]], ...] = ()

    def below(self, name: str | int) -> TreePosition:
        return self._replace(place=f"{self.place}/{name}")


class Trees:
    def __init__(self, context: RunContext, rewrite_text: Rich, note_missing: NoteMissing) -> None:
        self._context = context
        self._rewrite_text = rewrite_text
        self._note_missing = note_missing

    def rewrite(self, spec: Field, one: SourceRecord, value: Json, done: ComposedRecord) -> Json:
        if spec.tree is not None:
            done.places += [(f"{spec.name}/{place}", what) for place, what in spec.tree.doubts(value)]
        try:
            return self._walk(TreePosition(spec, one, done, spec.name), value)
        except RecursionError:  # deeper than any template that a person has drawn
            raise values.OddValue from None

    def _walk(self, at: TreePosition, value: Json, under: str = "") -> Json:
        if isinstance(value, str):
            return self._rewrite_code(at, self._rewrite_text(at.spec, at.one, value, at.done))
        if isinstance(value, list):
            return self._walk_list(at, "", value)
        if isinstance(value, dict):
            inside = at._replace(around=(*at.around, (under, value)))
            return {
                self._rewrite_key(at, under, name): self._walk_branch(inside.below(name), name, part)
                for name, part in value.items()
            }
        return value

    def _rewrite_key(self, at: TreePosition, under: str, name: str) -> str:
        """Keys hold ids and codes too: a condition is filed under the field it looks at."""
        linked = at.spec.tree.key(under, name) if at.spec.tree else None
        return str(self._rewrite_code(at, name) if linked is None else self._replace_id(at.below(name), linked, name))

    def _replace_id(self, at: TreePosition, linked: tuple[str, str], value: Json) -> Json:
        """The target's ID. A lost one stays, and its place is noted."""
        target_id = self._context.memory.links.target_id(*linked)
        if target_id is None:
            at.done.places.append((at.place, " ".join(linked)))
            return value
        return int(target_id) if isinstance(value, int) and target_id.isdecimal() else target_id

    def _walk_list(self, at: TreePosition, name: str, value: list[Json]) -> list[Json]:
        """Each part is under the list's own key, or under that which the list says."""
        place, key = (at.spec.tree.filed(value) if at.spec.tree else None) or (-1, "")
        keys = [key if number == place else name for number in range(len(value))]
        return [self._walk_branch(at.below(number), keys[number], part) for number, part in enumerate(value)]

    def _rewrite_code(self, at: TreePosition, text: Json) -> Json:
        code = at.spec.code
        return text if code is None else code(at.one, text, PlaceResolver(self._context, at.place, at.done))

    def _walk_branch(self, at: TreePosition, name: str, value: Json) -> Json:
        if at.spec.tree is not None:
            return self._walk_under(at, name, value)
        stream = at.spec.inside.get(name)
        if stream is None:
            return self._walk(at, value)
        if isinstance(value, (list, dict)):  # PHP sends a list with gaps as a map
            return self._replace_ids(at, stream, value)
        return self._walk(at, value)

    def _replace_ids(self, at: TreePosition, stream: str, value: Json) -> Json:
        """A list of ids; what is lost is left out."""
        ids = dict.fromkeys(values.references(value))
        found = self._context.memory.links.target_ids(stream, ids)
        at.done.lose("references_dropped", len(ids) - len(found))
        for missing in ids.keys() - found.keys():
            self._note_missing(stream, missing, at.done)
        there = dict.fromkeys(found[source_id] for source_id in ids if source_id in found)
        return [int(target_id) if target_id.isdecimal() else target_id for target_id in there]

    def _walk_under(self, at: TreePosition, name: str, value: Json) -> Json:
        """The value under a key. The key may define the stream of the IDs in it, or the dictionary of the entries."""
        if isinstance(value, list):
            return self._walk_list(at, name, value)
        source_id = None if isinstance(value, dict) else values.reference(value)
        linked = None
        if at.spec.tree is not None and source_id is not None and source_id.isdecimal():
            linked = at.spec.tree.under(at.one, at.around, name, source_id)
            options = {} if linked else mapped_options(self._context, name)
            if options and source_id not in options:
                at.done.places.append((at.place, say("place.option", id=source_id, field=name)))
            elif options:
                return options[source_id]
        if linked is not None:
            return self._replace_id(at, linked, value)
        found = self._rewrite_entry(at, name, source_id) if isinstance(value, str) and source_id else None
        return self._walk(at, value, name) if found is None else found

    def _rewrite_entry(self, at: TreePosition, name: str, text: str) -> str | None:
        if at.spec.tree is None:
            return None
        return at.spec.tree.entry(at.one, at.around, name, text, PlaceResolver(self._context, at.place, at.done))
