"""The usual ways to create records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from b24migrate.errors import Permanent
from b24migrate.records import Args, Item, Json
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.memory import Memory
from b24migrate.target.rest.words import Create, Made


def one_by_one(method: str, params: Callable[[Item], Args], made: Callable[[Json], str] = str) -> Create:
    """A call for each, since texts of people do not go through `batch`. Who is refused does not hinder the others."""

    def create(box: Box, items: Sequence[Item]) -> Iterator[Made]:
        for item in items:
            yield attempt(box, item, method, params, made)

    return create


def attempt(box: Box, item: Item, method: str, params: Callable[[Item], Args], made: Callable[[Json], str]) -> Made:
    try:
        return Made(item.key, made(box.call(method, params(item))))
    except Permanent as error:
        return Made(item.key, error=error)


def unclaimed(box: Box, stream: str, candidates: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of records that look like the lost ones those that are no other's: each key gets one of its own."""
    if not any(candidates.values()):
        return {}
    taken = {one.target_id for some in Memory(box.store).walk(stream) for one in some if one.key not in candidates}
    found: dict[str, str] = {}
    for key, ids in candidates.items():
        free = next((one for one in ids if one not in taken), None)
        if free is not None:
            found[key] = free
            taken.add(free)
    return found
