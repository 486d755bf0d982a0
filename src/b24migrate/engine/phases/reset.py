"""The beginning of a get: what the pass before it logged is forgotten; what was staged and imported stays.

A job, and the only one of its stage: when several processes begin a get at once, nobody may still be forgetting while
another already reads. A mark says that it was done, should somebody who was held up put the job once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.read import estimates, gap, trusted
from b24migrate.model.records import Job
from b24migrate.model.streams import Entity
from b24migrate.ports import CHECKPOINTS, PAGE_LOG, SET_ASIDE, Register, RegisterRow


def forget(context: RunContext, job: Job) -> Follow:
    entity = next(one for one in context.entities if one.name == job.args["entity"])
    mark, pass_no = f"~{entity.name}", int(job.args["pass"])
    done = context.store.read(CHECKPOINTS, mark)
    if done is not None and int(done.values["Pass"]) >= pass_no:
        return []
    begun = int(job.args.get("done", 0))
    for place, (register, prefix) in enumerate(list(_logged(entity))[begun:], begun):
        if place > begun and context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "done": place})]
        context.store.erase(register, prefix)
    context.store.write(CHECKPOINTS, [RegisterRow(mark, {"Pass": pass_no})])
    return []


def _logged(entity: Entity) -> Iterator[tuple[Register, str]]:
    for stream in (*entity.aids, *entity.streams):
        yield from ((register, f"{stream.name}:") for register in (PAGE_LOG, CHECKPOINTS))
        yield from ((CHECKPOINTS, prefix(stream)) for prefix in (estimates, trusted, gap))
        yield from ((SET_ASIDE, f"{why}:{stream.name}:") for why in ("excluded", "impossible"))
