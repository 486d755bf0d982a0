"""People the target has already: linked by e-mail instead of sent, or by the admin's own map."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.missed import note_arriving
from b24migrate.model.records import Job, Link, Record, Settled, Status
from b24migrate.model.streams import Stream

AT_ONCE = 500  # the limit of `import.users.match`
UNSENT = (Status.NEW, Status.ERROR_RETRY)


def match(context: RunContext, job: Job) -> Follow:
    """Settles the pending people of a lane that need not be sent."""
    stream = context.streams[job.args["stream"]]
    pending = context.store.pending(stream.table, lanes.rest_of_lane(job), AT_ONCE, now=context.clock.now())
    if not pending:
        return []
    records, candidates = _find_candidates(context, stream, pending)
    loaded = context.store.links(stream.name, [record.row_key for record in records])
    _settle(context, stream, [loaded[one.row_key] for one in records if is_linked(loaded.get(one.row_key))])
    if context.options.link_existing_users:
        rest = [one for one in candidates if one.row_key not in loaded]
        _settle(context, stream, _match_candidates(context, stream, rest))
    return lanes.next_lane_job(job, records[-1])


def find_linked(context: RunContext, stream: Stream, records: Sequence[Record]) -> set[str]:
    """Of these people those that are linked, or will be as things stand."""
    links = context.store.links(stream.name, [record.row_key for record in records])
    found = {row_key for row_key, link in links.items() if link.origin != "import"}
    if not context.options.link_existing_users:
        return found
    rest = [one for one in records if one.row_key not in links and one.status in UNSENT and one.natural]
    matched = _match_candidates(context, stream, [one for one in rest if _is_first(context, stream, one)])
    return found | {link.source_id for link in matched}


def is_linked(link: Link | None) -> bool:
    """Matched by the administrator or by an earlier run: the target's user keeps its own values, even after changes in
    the source."""
    return link is not None and link.origin != "import"


def _find_candidates(context: RunContext, stream: Stream, pending: list[Record]) -> tuple[list[Record], list[Record]]:
    """As many of them as there is time for, and which of these may be linked."""
    candidates: list[Record] = []
    for place, one in enumerate(pending):
        if place and context.time_is_up():
            return pending[:place], candidates
        if context.options.link_existing_users and one.natural and _is_first(context, stream, one):
            candidates.append(one)
    return pending, candidates


def _is_first(context: RunContext, stream: Stream, record: Record) -> bool:
    """Of two source users with one e-mail only the first may be linked; the other is a duplicate."""
    return context.store.holder(stream.table, record.natural or "") == record.row_key


def _match_candidates(context: RunContext, stream: Stream, records: list[Record]) -> list[Link]:
    """Without those that are on the target because we sent them, and never saw the answer."""
    if not records:
        return []
    found = context.target.match_users([str(record.natural) for record in records])
    there = {record.row_key: found[str(record.natural)] for record in records if record.natural in found}
    keys = {stream.key_of(row_key): row_key for row_key in there}
    ours = context.target.read(context.owner[stream.name].wire, stream.name, list(keys)) if keys else {}
    mine = {keys[key] for key in ours}
    return [Link(row_key, target_id, "", "matched") for row_key, target_id in there.items() if row_key not in mine]


def _settle(context: RunContext, stream: Stream, links: list[Link]) -> None:
    linked = context.store.get(stream.table, [one.source_id for one in links])
    note_arriving(context, stream, list(linked.values()))
    settled = [Settled(link.source_id, Status.IMPORT_OK, link=link, losses={"linked": 1}) for link in links]
    if settled:
        context.store.settle(stream.name, stream.table, settled, now=context.clock.now())
