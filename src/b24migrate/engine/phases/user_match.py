"""People the target has already: linked by e-mail instead of sent, or by the admin's own map."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.context import Follow, Work
from b24migrate.model.records import Job, Link, Record, Settled, Status
from b24migrate.model.streams import Stream

AT_ONCE = 500  # what `import.users.match` takes
UNSENT = (Status.NEW, Status.ERROR_RETRY)


def match(work: Work, job: Job) -> Follow:
    """Settles the pending people of a lane that need not be sent."""
    stream = work.streams[job.args["stream"]]
    pending = work.store.pending(stream.table, lanes.ahead_of(job), AT_ONCE, now=work.clock.now())
    if not pending:
        return []
    records, candidates = _looked_at(work, stream, pending)
    loaded = work.store.links(stream.name, [record.row_key for record in records])
    _settle(work, stream, [loaded[one.row_key] for one in records if linked_by_hand(loaded.get(one.row_key))])
    if work.options.link_existing_users:
        rest = [one for one in candidates if one.row_key not in loaded]
        _settle(work, stream, _matched(work, stream, rest))
    return lanes.further(job, records[-1], moved=False)


def not_sent(work: Work, stream: Stream, records: Sequence[Record]) -> set[str]:
    """Of these people those that are linked, or will be as things stand."""
    links = work.store.links(stream.name, [record.row_key for record in records])
    found = {row_key for row_key, link in links.items() if link.origin != "import"}
    if not work.options.link_existing_users:
        return found
    rest = [one for one in records if one.row_key not in links and one.status in UNSENT and one.natural]
    matched = _matched(work, stream, [one for one in rest if _first(work, stream, one)])
    return found | {link.source_id for link in matched}


def linked_by_hand(link: Link | None) -> bool:
    return link is not None and link.origin == "loaded"


def _looked_at(work: Work, stream: Stream, pending: list[Record]) -> tuple[list[Record], list[Record]]:
    """As many of them as there is time for, and which of these may be linked."""
    candidates: list[Record] = []
    for place, one in enumerate(pending):
        if place and work.time_is_up():
            return pending[:place], candidates
        if work.options.link_existing_users and one.natural and _first(work, stream, one):
            candidates.append(one)
    return pending, candidates


def _first(work: Work, stream: Stream, record: Record) -> bool:
    """Of two source users with one e-mail only the first may be linked; the other is a duplicate."""
    return work.store.holder(stream.table, record.natural or "") == record.row_key


def _matched(work: Work, stream: Stream, records: list[Record]) -> list[Link]:
    """Without those that are on the target because we sent them, and never saw the answer."""
    if not records:
        return []
    found = work.target.match_users([str(record.natural) for record in records])
    there = {record.row_key: found[str(record.natural)] for record in records if record.natural in found}
    keys = {stream.key_of(row_key): row_key for row_key in there}
    ours = work.target.read(work.owner[stream.name].wire, stream.name, list(keys)) if keys else {}
    mine = {keys[key] for key in ours}
    return [Link(row_key, target_id, "", "matched") for row_key, target_id in there.items() if row_key not in mine]


def _settle(work: Work, stream: Stream, links: list[Link]) -> None:
    settled = [Settled(link.source_id, Status.IMPORT_OK, link=link, losses={"linked": 1}) for link in links]
    if settled:
        work.store.settle(stream.name, stream.table, settled, now=work.clock.now())
