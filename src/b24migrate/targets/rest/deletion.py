"""Deletes imported records: only our own, and only if they are unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from b24migrate.messages import say
from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Json
from b24migrate.ports import Deleted
from b24migrate.targets.rest.box import PAGE, Box, expect_known_shape, in_chunks, rows_at
from b24migrate.targets.rest.journal import Journal, JournalEntry, State
from b24migrate.targets.rest.send import fingerprints, look_for
from b24migrate.targets.rest.writer import STAMP, Content, Known, Writer

CHANGED = say("keep.changed")
UNSURE = say("keep.unknown")
UNSEEN = say("keep.unseen")


def delete(box: Box, journal: Journal, writer: Writer, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
    """One answer per key, in order. Records that the box refuses to delete are kept, with its message."""
    known = journal.find(writer.stream, keys)
    known |= _look_for(box, writer, known)
    there = fingerprints(box, writer, [one for one in known.values() if one.target_id])
    answers = [_judge(writer, key, known.get(key), there) for key in keys]
    answers = _keep_with_contents(box, writer, answers, known, dry_run=dry_run)
    if dry_run:
        return answers
    answers = [_delete_one(box, writer, one, known) if one.status == "deleted" else one for one in answers]
    journal.forget(writer.stream, [one.key for one in answers if one.status != "kept" and one.key in known])
    return answers


def _look_for(box: Box, writer: Writer, known: dict[str, JournalEntry]) -> dict[str, JournalEntry]:
    begun = {key: one.trace for key, one in known.items() if one.state is State.BEGUN}
    found = look_for(box, writer, begun)
    return {key: known[key]._replace(state=State.MADE, target_id=target_id) for key, target_id in found.items()}


def _judge(writer: Writer, key: str, one: JournalEntry | None, there: dict[str, str]) -> Deleted:
    if one is None or (key not in there and one.state is not State.LINKED):
        return Deleted(key, "absent")
    if one.state is State.LINKED:
        return Deleted(key, "deleted")  # only the link: the record was there before
    if writer.delete is None:
        return Deleted(key, "kept", writer.stays, for_good=True)
    if not one.print:  # its writer was killed before it read the record back
        return Deleted(key, "kept", UNSURE)
    if one.print != there[key]:
        return Deleted(key, "kept", CHANGED)
    return Deleted(key, "deleted")


def _keep_with_contents(
    box: Box, writer: Writer, answers: list[Deleted], known: dict[str, JournalEntry], *, dry_run: bool
) -> list[Deleted]:
    """A delete also deletes the contents. Contents of users keep the record, and so do our own that stay. In a dry run
    our own that come with another call count as deleted: the caller knows those that stay."""
    going = [known[one.key] for one in answers if one.status == "deleted"]
    held = _find_contents(box, writer, [one for one in going if one.state is not State.LINKED])
    in_this_call, stays = {one.key for one in answers}, {one.key for one in answers if one.status == "kept"}
    kept = {one.key: Deleted(one.key, "kept", one.why, needed=one.part, part=one.part) for one in held if not one.by}
    while True:
        ours = (one for one in held if one.by in stays | kept.keys() or (one.by not in in_this_call and not dry_run))
        more = {one.key: Deleted(one.key, "kept", one.why, needed=True) for one in ours if one.key not in kept}
        if not more:
            return [kept.get(one.key, one) for one in answers]
        kept |= more


def _find_contents(box: Box, writer: Writer, some: list[JournalEntry]) -> list[Content]:
    found: list[Content] = []
    if writer.inside is None or writer.delete is None:
        return found
    for few in in_chunks(some):
        with expect_known_shape(writer.stream):
            found += writer.inside(box, {one.key: Known(one.target_id, one.trace) for one in few})
    return found


def _delete_one(box: Box, writer: Writer, answer: Deleted, known: dict[str, JournalEntry]) -> Deleted:
    one = known[answer.key]
    if one.state is State.LINKED or writer.delete is None:
        return answer
    try:
        writer.delete(box, Known(one.target_id, one.trace))
    except Permanent as error:
        return Deleted(answer.key, "kept", error.message)
    return answer


def child_keys(box: Box, stream: str, key: str) -> dict[str, str]:
    """The keys of our own records below a record, by target ID. The keys of children start with the ID of their
    parent."""
    return keys_with_prefix(box, stream, f"source:{stream}:{key.rpartition(':')[2]}:")


def keys_with_prefix(box: Box, stream: str, with_: str = "") -> dict[str, str]:
    known = (one for some in Journal(box.store).walk(stream, with_) for one in some)
    return {one.target_id: one.key for one in known if _is_ours(one)}


def stamped_key(box: Box, stream: str, stamp: Json, target_id: str) -> str:
    """The key in a stamp, if it belongs to this record: a copy of a record has a copy of its stamp."""
    key = str(stamp or "").removeprefix(f"{STAMP}:")
    known = Journal(box.store).find(stream, [key]).get(key)
    return key if known is not None and known.target_id == target_id and _is_ours(known) else ""


def select_tasks(box: Box, conditions: Mapping[str, Json], *names: str, after: int = 0) -> Iterator[Args]:
    """By id, not by `start`, which some boxes take from the address only."""
    while True:
        params = {"filter": {**conditions, ">ID": after}, "select": ["ID", *names], "order": {"ID": "asc"}}
        page = list(rows_at(box.question("tasks.task.list", params), "tasks"))
        yield from page
        reached = max((int(row["id"]) for row in page), default=after)
        if len(page) < PAGE or reached <= after:
            return
        after = reached


def _is_ours(one: JournalEntry) -> bool:
    return bool(one.target_id) and one.state is not State.LINKED
