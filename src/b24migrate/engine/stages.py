"""The stages of each phase. A stage seeds jobs; when they are all done the next stage begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from b24migrate.engine import plan
from b24migrate.engine.phases import (
    arrivals,
    child_deletions,
    count_ranges,
    deferred,
    deletions,
    delta,
    inventory,
    lanes,
    missing_children,
    moved,
    read,
    removal,
    send,
    stale_links,
    stale_parents,
    sweep,
    verify,
)
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.state import DONE, FAILED, States
from b24migrate.model.fields import Kind
from b24migrate.model.records import Job, Json, Status
from b24migrate.model.streams import FINAL, LATE, Entity, Stream

Memo = Mapping[str, Json]
PARTS = -1  # the round of `remove` in which they go


def no_repeat(_context: RunContext, _scope: str, _memo: Memo) -> tuple[list[Job], Memo]:
    return [], {}


class Stage(NamedTuple):
    """`seed` gives its first jobs. `again` is called when they are done, with its last result."""

    name: str
    seed: Callable[[RunContext, str], list[Job]]
    again: Callable[[RunContext, str, Memo], tuple[list[Job], Memo]] = no_repeat


def stages(context: RunContext, entity: Entity, phase: str, pass_no: int) -> list[Stage]:
    makers: dict[str, Callable[[], list[Stage]]] = {
        "custom-fields-get": lambda: [one_job("fields", "read-fields", entity)],
        "custom-fields-set": lambda: [one_job("fields", "create-fields", entity)],
        "get": lambda: get_stages(context, entity, pass_no),
        "set": lambda: set_stages(context, entity),
        LATE: lambda: late_stages(context, entity),
        FINAL: lambda: final_stages(context),
        "verify": lambda: [
            one_job("forget", "forget-findings", entity),
            *map(verify_stage, entity.streams),
            one_job("covered", "note-covered", entity),
        ],
    }
    return makers[phase]()


def one_job(name: str, kind: str, entity: Entity, **args: Json) -> Stage:
    return Stage(name, lambda _, scope: [Job(scope, kind, {"entity": entity.name, **args})])


# ---------------------------------------------------------------- get


def get_stages(context: RunContext, entity: Entity, pass_no: int) -> list[Stage]:
    reads = [stage for stream in entity.aids for stage in read_stages(context, stream, pass_no)]
    reads += [
        stage
        for stream in entity.streams
        for stage in (*read_stages(context, stream, pass_no), *deletion_stages(context, stream, pass_no))
    ]
    pulls = [pull_stage(stream) for stream in entity.streams] if context.options.test_limit else []
    fetches = [files_stage("fetch", one) for one in (*pulled_entities(context, entity), entity)]
    begun = one_job("forget", "forget", entity, **{"pass": pass_no})
    return [begun, *reads, *pulls, *fetches, inventory_stage(entity, pass_no)]


def inventory_stage(entity: Entity, pass_no: int) -> Stage:
    def seed(_: RunContext, scope: str, **more: Json) -> list[Job]:
        return [Job(scope, "close", {"entity": entity.name, "pass": pass_no, **more})]

    def again(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        """If the totals of a delta pass differ from the counts by range, it counts by range again."""
        done = int(memo.get("round", 0))
        names = memo.get("streams") or [one.name for one in inventory.find_drifted(context, entity, pass_no)]
        streams, after = [context.streams[name] for name in names], {"round": done + 1, "streams": names}
        if not streams or done > 2:
            return [], {}
        if done == 0:
            counts = [job for one in streams for job in count_ranges.seed(context, scope, one, pass_no, again=True)]
            return counts, after
        if done == 1:
            args = {"pass": pass_no, "after": "", "again": True}
            return [Job(scope, "mark", {"stream": one.name, **args}) for one in streams], after
        return seed(context, scope, again=True), after

    return Stage("inventory", seed, again)


def pulled_entities(context: RunContext, entity: Entity) -> list[Entity]:
    """Those whose records may have been pulled through for this one: what it refers to, and what that refers to."""
    if not context.options.test_limit:
        return []
    named: set[str] = set()
    left = [entity]
    while left:
        owners = {context.owner[name].name for name in left.pop().refers_to if name in context.owner}
        left += [one for one in context.entities if one.name in owners - named]
        named |= owners
    return [other for other in context.entities if other.name in named - {entity.name}]


def read_stages(context: RunContext, stream: Stream, pass_no: int) -> list[Stage]:
    """One reading after the other: the later ones use what the earlier ones found."""
    more = [which for which, reading in enumerate(stream.more, 1) if context.suits(reading)]
    return [read_stage(stream, pass_no, which) for which in (0, *more)]


def read_stage(stream: Stream, pass_no: int, which: int) -> Stage:
    def seed(context: RunContext, scope: str) -> list[Job]:
        swept = sweep.seed(context, scope, stream, pass_no) if is_swept(context, stream, pass_no) else []
        return [*read.start(context, scope, stream, pass_no, which), *swept]

    def again(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        """Reads the records that a sweep found, looks for lost children, and reads parents whose new children show a
        change of them, all together."""
        if memo:
            return [], {}
        parents = stale_parents.seed(context, scope, stream, which)
        if not delta.is_delta(context, stream, pass_no):
            return parents, {"read": True}
        found = sweep.seed_reading(context, scope, stream, pass_no) if is_swept(context, stream, pass_no) else []
        lost = missing_children.seed(context, scope, stream, pass_no, which)
        return [*found, *lost, *parents], {"read": True}

    return Stage(f"read {stream.name}", seed, again)


def is_swept(context: RunContext, stream: Stream, pass_no: int) -> bool:
    return delta.is_delta(context, stream, pass_no) and delta.find_way(context, stream) == delta.SWEPT


def deletion_stages(context: RunContext, stream: Stream, pass_no: int) -> list[Stage]:
    """Right after the reading, so the children of deleted records are not requested."""

    def judge(context: RunContext, scope: str) -> list[Job]:
        if delta.is_delta(context, stream, pass_no):
            return child_deletions.seed(context, scope, "judge-children", stream, pass_no)
        return deletions.seed(context, scope, "judge", stream, pass_no)

    def mark(context: RunContext, scope: str) -> list[Job]:
        args = {"stream": stream.name, "pass": pass_no, "after": ""}
        return [Job(scope, "mark", args)] if deletions.count_absent(context, stream) else []

    def seek(context: RunContext, scope: str) -> list[Job]:
        if not delta.is_delta(context, stream, pass_no):
            return deletions.seed(context, scope, "seek", stream, pass_no)
        way = delta.find_way(context, stream)
        if way == delta.CHILDREN:
            return child_deletions.seed(context, scope, "seek-children", stream, pass_no)
        seed = sweep.seed_absent if way == delta.SWEPT else count_ranges.seed
        return seed(context, scope, stream, pass_no)

    def refer(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        if memo:
            return [], {}
        # A full pass reads those by itself that it has not read yet.
        named_by = [
            one
            for one in moved.find_referring(context, stream)
            if context.options.delta or is_over(context, context.owner[one.name], "get")
        ]
        return stale_links.seed(context, scope, stream, named_by), {"done": True}

    judged = [Stage(f"judge {stream.name}", judge)] if deletions.is_reread(context, stream) else []
    sent = [send_after_set_stage(one, stream) for one in moved.find_referring(context, stream)]
    return [Stage(f"seek {stream.name}", seek), *judged, Stage(f"mark {stream.name}", mark, refer), *sent]


def pull_stage(stream: Stream) -> Stage:
    return Stage(f"pull {stream.name}", lambda _, scope: [Job(scope, "pull", {"stream": stream.name, "after": ""})])


def files_stage(kind: str, entity: Entity) -> Stage:
    def seed(context: RunContext, scope: str) -> list[Job]:
        return lanes.seed(context, scope, kind, context.streams["files"], every=100, entity=entity.name)

    return Stage(kind, seed)


# ---------------------------------------------------------------- set


def set_stages(context: RunContext, entity: Entity) -> list[Stage]:
    """People to link, files, what was pulled through for this entity, and its own records."""
    others = pulled_entities(context, entity)
    both = [*others, entity]
    matched = [match_stage(stream) for one in both if one.matches_users for stream in one.streams if stream.natural]
    uploads = [files_stage("upload", one) for one in both]
    pulled = [
        stage
        for one in others
        for stream in one.streams
        for stage in (send_stage(stream, pulled=True), *learn_stages(stream))
    ]
    sent = [
        stage
        for stream in entity.streams
        for stage in (renewal_stage(stream), send_stage(stream), *freed_stages(stream), *learn_stages(stream))
    ]
    left = [remove_stage(stream) for stream in entity.streams if stream.deletions.access]
    return [*matched, *uploads, *pulled, *map(recall_stage, entity.streams), *sent, *left]


def late_stages(context: RunContext, entity: Entity) -> list[Stage]:
    both = [*pulled_entities(context, entity), entity]
    streams = [stream for one in both for stream in one.streams if may_be_completed(stream)]
    return [*map(arrival_stage, streams), *map(late_stage, streams)]


def final_stages(context: RunContext) -> list[Stage]:
    """When everything has arrived: what is deleted at the source goes, what refers to others first."""
    run = plan.current(context.store)
    entities = [one for one in context.entities if run is None or one.name in run.plan.entities]
    streams = [stream for entity in reversed(entities) for stream in reversed(entity.streams)]
    removed = [Stage("protect", removal.seed_protection), *map(remove_stage, streams)]
    removed += [remove_parts_stage(stream) for stream in streams if stream.deletions.access]
    removed += relink_stages(removal.streams_with_names(context, entities))
    return [
        *removed,
        forget_stage(entities),
        Stage("finalize", lambda _, scope: [Job(scope, "finalize", {"after": ""})]),
    ]


def forget_stage(entities: Sequence[Entity]) -> Stage:
    def seed(context: RunContext, scope: str) -> list[Job]:
        """What arrives with the last jobs of an entity whose set has failed, others may have passed."""
        states = [States(context.store).read(one.name) for one in entities]
        if any(one.phase("set").state == FAILED for one in states) or not arrivals.arrived_streams(context):
            return []
        return [Job(scope, "forget-arrived", {"entities": [one.name for one in entities]})]

    return Stage("forget arrived", seed)


def relink_stages(streams: Sequence[Stream]) -> list[Stage]:
    """Removes links to deleted records from the texts and custom fields of other records."""

    def complete(stream: Stream) -> Stage:
        def seed(context: RunContext, scope: str) -> list[Job]:
            return deferred.seed_marked(context, scope, stream, unlinked=True) if removal.has_removed(context) else []

        return Stage(f"relink {stream.name}", seed)

    def end(context: RunContext, scope: str) -> list[Job]:
        return [Job(scope, "relinked", {})] if removal.has_removed(context) else []

    return [Stage("relink", removal.seed_relink), *map(complete, streams), Stage("relinked", end)]


def recall_stage(stream: Stream) -> Stage:
    return Stage(f"recall {stream.name}", lambda context, scope: removal.seed_recall(context, scope, stream))


def remove_stage(stream: Stream) -> Stage:
    def again(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        """Some are kept as long as others of the stream depend on them. When a round removed none, they stay."""
        left, round_no = removal.count_removable(context, stream), int(memo.get("round", 0)) + 1
        if left >= memo.get("left", left + 1):
            return [], {}
        return removal.seed(context, scope, stream, round_no), {"left": left, "round": round_no}

    return Stage(f"remove {stream.name}", lambda context, scope: removal.seed(context, scope, stream), again)


def remove_parts_stage(stream: Stream) -> Stage:
    """Again, for those that were part of a record that is deleted now, such as the owner of a group."""
    return Stage(f"remove parts {stream.name}", lambda context, scope: removal.seed(context, scope, stream, PARTS))


def match_stage(stream: Stream) -> Stage:
    return Stage(f"match {stream.name}", lambda context, scope: lanes.seed(context, scope, "match", stream))


def renewal_stage(stream: Stream) -> Stage:
    return Stage(f"renew {stream.name}", lambda context, scope: arrivals.seed_renewal(context, scope, stream))


def freed_stages(stream: Stream) -> list[Stage]:
    """What failed because of a unique value is sent again when all others are sent."""
    if not (stream.natural and stream.natural.code):
        return []
    freed = Stage(f"free {stream.name}", lambda context, scope: arrivals.seed_freed(context, scope, stream))
    return [freed, send_stage(stream)._replace(name=f"send {stream.name} again")]


def arrival_stage(stream: Stream) -> Stage:
    return Stage(f"arrived {stream.name}", lambda context, scope: arrivals.seed(context, scope, stream))


def late_stage(stream: Stream) -> Stage:
    def again(context: RunContext, _scope: str, _memo: Memo) -> tuple[list[Job], Memo]:
        deferred.end_late(context, stream)
        return [], {}

    return Stage(f"complete {stream.name}", lambda context, scope: deferred.seed_late(context, scope, stream), again)


def may_be_completed(stream: Stream) -> bool:
    return bool(
        stream.late or stream.refs or stream.files or any(one.kind in (Kind.RICH, Kind.TREE) for one in stream.fields)
    )


def send_stage(stream: Stream, *, pulled: bool = False) -> Stage:
    args: dict[str, Json] = {"pulled": True} if pulled else {}

    def lanes_of(context: RunContext, scope: str, **more: Json) -> list[Job]:
        return send.seed(context, scope, stream, **args, **more)

    def seed(context: RunContext, scope: str) -> list[Job]:
        return lanes_of(context, scope) if count_left(context, stream, pulled) else []

    def again(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        """Records that wait for one another need more than one pass. When a pass settled none, what is left fails."""
        still = count_left(context, stream, pulled)
        if not still or memo.get("final"):
            return [], {}
        if still < memo.get("left", still + 1):
            return lanes_of(context, scope), {"left": still}
        return lanes_of(context, scope, final=True), {"final": True}

    return Stage(f"send {stream.name}", seed, again)


def send_after_set_stage(stream: Stream, of: Stream) -> Stage:
    """What named deleted records and was read again. A stream whose set is over would not be sent in this run, and
    whatever waits for its import would be blocked."""
    sent = send_stage(stream)

    def is_due(context: RunContext) -> bool:
        return bool(moved.find_gone(context, of)) and is_over(context, context.owner[stream.name], "set")

    def seed(context: RunContext, scope: str) -> list[Job]:
        return sent.seed(context, scope) if is_due(context) else []

    def again(context: RunContext, scope: str, memo: Memo) -> tuple[list[Job], Memo]:
        return sent.again(context, scope, memo) if is_due(context) else ([], {})

    return Stage(f"send {stream.name} after {of.name}", seed, again)


def is_over(context: RunContext, entity: Entity, phase: str) -> bool:
    """In this run."""
    run = plan.current(context.store)
    if run is None or entity.name not in run.plan.entities or phase not in run.plan.phases:
        return False
    return States(context.store).read(entity.name).phase(phase).state == DONE


def learn_stages(stream: Stream) -> list[Stage]:
    def seed(context: RunContext, scope: str) -> list[Job]:
        return lanes.seed(context, scope, "learn", stream, pending=False)

    return [Stage(f"learn {stream.name}", seed)] if stream.code else []


def count_left(context: RunContext, stream: Stream, pulled: bool) -> int:
    if pulled:
        return context.store.pulled_pending(stream.table)
    counts = context.store.counts(stream.table)
    return counts.get(Status.NEW, 0) + counts.get(Status.ERROR_RETRY, 0)


# ---------------------------------------------------------------- verify


def verify_stage(stream: Stream) -> Stage:
    return Stage(f"verify {stream.name}", lambda context, scope: verify.start(context, scope, stream))
