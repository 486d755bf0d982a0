"""Codes that the target has given: a stage that was there already may have another code than the source's, and the
values of a list have other IDs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.compose import Composer
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.missed import note_unlinked
from b24migrate.model.records import Job, Link, Outcome, Status
from b24migrate.model.streams import Stream

AT_ONCE = 500  # the limit of `import.<entity>.list`


def code_stream(name: str, code: str) -> str:
    """Under which name the id map keeps the codes of a stream's records."""
    return f"{name}.{code}"


def keep_options(context: RunContext, stream: Stream, answered: Iterable[tuple[str, Outcome]]) -> None:
    """The target's values of the records' lists. They are kept before the records count as imported: until then the
    target is called again, with the same answer."""
    links = [
        Link(f"{row_key}:{option}", target_id, "", "learned")
        for row_key, outcome in answered
        for option, target_id in outcome.options.items()
    ]
    if stream.options and links:
        _link(context, stream, stream.options, links)


def forget_codes(context: RunContext, stream: Stream, row_keys: Collection[str]) -> None:
    """Of records that are not on the target any more."""
    if stream.code:
        context.store.unlink(code_stream(stream.name, stream.code), row_keys)
    if stream.options:
        name, gone = code_stream(stream.name, stream.options), set(row_keys)
        known = (link.source_id for link in context.store.all_links(name))
        context.store.unlink(name, [one for one in known if one.rpartition(":")[0] in gone])


def read_codes(context: RunContext, job: Job) -> Follow:
    """Reads the codes of a lane's imported records back from the target."""
    stream = context.streams[job.args["stream"]]
    records = context.store.records(stream.table, lanes.rest_of_lane(job), AT_ONCE)
    imported = [record for record in records if record.status is Status.IMPORT_OK]
    if imported:
        keys = [stream.key_of(record.row_key) for record in imported]
        there = context.target.read(context.owner[stream.name].wire, stream.name, keys)
        composer = Composer(context, stream, late=True)
        links = []
        for record in imported:
            found = there.get(stream.key_of(record.row_key))
            on_target = None if found is None else found.fields.get(stream.code)
            code = on_target or composer.compose(record).fields.get(stream.code)
            if code:
                links.append(Link(record.row_key, str(code), "", "learned"))
        _link(context, stream, stream.code, links)
    return lanes.next_lane_job(job, records[-1]) if records else []


def _link(context: RunContext, stream: Stream, code: str, links: Sequence[Link]) -> None:
    name = code_stream(stream.name, code)
    before = context.store.links(name, [one.source_id for one in links])
    replaced = any(one.source_id in before and before[one.source_id].target_id != one.target_id for one in links)
    if replaced:
        note_unlinked(context, stream)
    context.store.link(name, links, now=context.clock.now())
    if replaced:  # a second pass that is under way may have looked before
        note_unlinked(context, stream)
        context.memory.links.forget()
