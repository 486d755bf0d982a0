"""Optional entities that a plan skips, because one of the portals lacks what they need (`Entity.optional`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from b24migrate.engine.diagnosis import Check
from b24migrate.messages import say
from b24migrate.model.errors import NO_SUCH_METHOD, Permanent
from b24migrate.model.streams import Entity
from b24migrate.ports import Answer, Command

# Also of a type of records that the portal does not have (api-reference/crm/universal/crm-item-list.md).
LACKING = frozenset({NO_SUCH_METHOD, "NOT_FOUND", "ENTITY_TYPE_NOT_SUPPORTED"})


def list_unnamed(entities: Sequence[Entity], named: Collection[str]) -> list[Entity]:
    """Of these entities those that may be skipped. An entity that was named meets the gates instead."""
    return [one for one in entities if one.optional and one.name not in named]


def find_untaken(entity: Entity, streams: Collection[str]) -> list[str]:
    """The streams of an optional entity that a target with these streams does not take."""
    return [one.name for one in entity.streams if one.name not in streams] if entity.optional else []


def find_without_target(entities: Sequence[Entity], streams: Collection[str]) -> dict[str, str]:
    return {one.name: say("note.left_out_target") for one in entities if find_untaken(one, streams)}


def find_without_scope(entities: Sequence[Entity], scopes: Collection[str] | None) -> dict[str, str]:
    """`scopes`: None if the portal does not report them."""
    found: dict[str, str] = {}
    for one in entities if scopes is not None else ():
        missing = [scope for scope in one.scopes if scope not in (scopes or ())]
        if missing:
            found[one.name] = say("note.left_out_scope", scopes=", ".join(f"`{scope}`" for scope in missing))
    return found


def list_calls(entities: Sequence[Entity]) -> list[Command]:
    """Cheap calls of the methods that these entities are read with, each once."""
    calls: list[Command] = []
    for one in entities:
        for method, params in one.probes.items():
            calls += [command for command in (Command(method, params),) if command not in calls]
    return calls


def find_without_methods(
    entities: Sequence[Entity], calls: Sequence[Command], said: Sequence[Answer]
) -> dict[str, str]:
    """Of the readings of each stream one must be possible."""

    def lacks(entity: Entity, method: str) -> bool:
        params = entity.probes.get(method)
        answers = (answer for call, answer in zip(calls, said, strict=True) if call == Command(method, params or {}))
        return params is not None and any(_is_lacking(answer) for answer in answers)

    return {
        one.name: say("note.left_out_methods")
        for one in entities
        if any(all(lacks(one, reading.method) for reading in stream.read) for stream in one.streams if stream.read)
    }


def _is_lacking(answer: Answer) -> bool:
    return isinstance(answer.error, Permanent) and answer.error.code in LACKING


def list_checks(left_out: Mapping[str, str]) -> Iterator[Check]:
    """A warning for each reason."""
    for why in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, reason in left_out.items() if reason == why)
        fix = say("doctor.left_out_fix")
        yield Check(say("doctor.name.left_out"), False, say("doctor.left_out", entities=names, why=why), fix)
