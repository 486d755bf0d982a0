"""Whose a record is that lies inside one of ours: what people put there would go with it, and so it stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from b24migrate.messages import say
from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import PAGE, Box, rows_at
from b24migrate.targets.rest.journal import Journal, JournalEntry, State
from b24migrate.targets.rest.writer import STAMP

UNSEEN = say("keep.unseen")


def child_keys(box: Box, stream: str, key: str) -> dict[str, str]:
    """Of what is ours below a record the key by target id. The keys of children begin with the id of their parent."""
    return keys_with_prefix(box, stream, f"source:{stream}:{key.rpartition(':')[2]}:")


def keys_with_prefix(box: Box, stream: str, with_: str = "") -> dict[str, str]:
    known = (one for some in Journal(box.store).walk(stream, with_) for one in some)
    return {one.target_id: one.key for one in known if _is_ours(one)}


def stamped_key(box: Box, stream: str, stamp: Json, target_id: str) -> str:
    """The key that a stamp says, if it is true: a copy of a record has a copy of its stamp."""
    key = str(stamp or "").removeprefix(f"{STAMP}:")
    known = Journal(box.store).find(stream, [key]).get(key)
    return key if known is not None and known.target_id == target_id and _is_ours(known) else ""


def select_tasks(box: Box, conditions: Mapping[str, Json], *names: str, after: int = 0) -> Iterator[Args]:
    """By id, not by `start`, which some boxes take from the address only."""
    while True:
        asked = {"filter": {**conditions, ">ID": after}, "select": ["ID", *names], "order": {"ID": "asc"}}
        page = list(rows_at(box.question("tasks.task.list", asked), "tasks"))
        yield from page
        reached = max((int(row["id"]) for row in page), default=after)
        if len(page) < PAGE or reached <= after:
            return
        after = reached


def _is_ours(one: JournalEntry) -> bool:
    return bool(one.target_id) and one.state is not State.LINKED
