"""The usual ways to create records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Item, Json
from b24migrate.targets.rest.box import Box, unexpected_answer
from b24migrate.targets.rest.journal import Journal
from b24migrate.targets.rest.writer import Create, CreateResult

_ID = re.compile(r"[1-9]\d*(:[1-9]\d*)?")


def create_one_by_one(method: str, params: Callable[[Item], Args], made: Callable[[Json], str] = str) -> Create:
    """A call for each, since texts of people do not go through `batch`. Who is refused does not hinder the others."""

    def create(box: Box, items: Sequence[Item]) -> Iterator[CreateResult]:
        for item in items:
            yield create_one(box, item, method, params, made)

    return create


def create_one(
    box: Box, item: Item, method: str, params: Callable[[Item], Args], made: Callable[[Json], str]
) -> CreateResult:
    """A success without a number (older boxes say `true`) is looked up like a lost answer."""
    try:
        target_id = made(box.call(method, params(item)))
    except Permanent as error:
        return CreateResult(item.key, error=error)
    if not _ID.fullmatch(target_id):
        raise unexpected_answer(method)
    return CreateResult(item.key, target_id)


def choose_unclaimed(box: Box, stream: str, candidates: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Of records that look like the lost ones those that are no other's: each key gets one of its own. Whose else they
    could be are its siblings, whose keys begin alike."""
    journal, found = Journal(box.store), dict[str, str]()
    taken: dict[str, set[str]] = {}
    for key, ids in candidates.items():
        family = key.rpartition(":")[0]
        if ids and family not in taken:
            known = (one for some in journal.walk(stream, beginning=f"{family}:") for one in some)
            taken[family] = {one.target_id for one in known if one.key not in candidates}
        free = next((one for one in ids if one not in taken[family]), None)
        if free is not None:
            found[key] = free
            taken[family].add(free)
    return found
