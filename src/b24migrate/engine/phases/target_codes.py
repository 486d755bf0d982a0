"""Codes that the target has given: a stage that was there already may have another code than the source's."""

from __future__ import annotations

from b24migrate.engine.phases import lanes
from b24migrate.engine.phases.compose import Composer
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.model.records import Job, Link, Status

AT_ONCE = 500  # what `import.<entity>.list` takes


def code_stream(name: str, code: str) -> str:
    """Under which name the id map keeps the codes of a stream's records."""
    return f"{name}.{code}"


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
        context.store.link(code_stream(stream.name, stream.code), links, now=context.clock.now())
    return lanes.next_lane_job(job, records[-1]) if records else []
