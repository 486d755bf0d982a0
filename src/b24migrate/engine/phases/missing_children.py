"""get: finds the children that a parent has lost, where a delta pass has read only the newest ones (`Tail`).

The parent's number of children shows how many are missing. The known IDs are compared with lists of the source, from
the newest down, until as many are missing: many parents share a request, and a list may have larger pages than the
reading (`Tail.ids`). Each missing child is then requested by ID. If this does not explain a parent's number, all its
children are read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from b24migrate.engine.phases import deletions, hints, tails
from b24migrate.engine.phases.context import Follow, RunContext
from b24migrate.engine.phases.parent_lanes import children_of, find_reading
from b24migrate.engine.phases.read_children import full_walk_jobs
from b24migrate.engine.phases.tails import LOST, SETTLED, Told
from b24migrate.model.answers import id_of, open_list
from b24migrate.model.errors import Permanent
from b24migrate.model.readings import Backward, IdPages, PerParent
from b24migrate.model.records import Job, Json
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CHANGES, CHECKPOINTS, DELETIONS, Answer, Command, RegisterRow

COMMANDS = 50  # in one request
FIRST_PAGES = 4  # of a parent in its first request, if there is room; twice as many in each further one
PARENTS = 400  # of a job
WIDE = "wide"  # the hint that `Tail.ids` shows all children


class Verdict(Enum):
    FOUND = "found"  # as many are missing as the number shows
    WHOLE = "whole"  # the lists do not explain the number: all children are read


@dataclass(slots=True)
class Loss:
    """A parent, and which of its children are missing from the newest down to `covered`."""

    parent: SourceRecord
    before: Told
    now: Told
    ids: Sequence[int]  # of all that are known, in order
    covered: int
    missing: set[int]
    odd: bool = False  # an answer that nothing can be made of, or a child that is not known

    @property
    def left(self) -> int:
        """So many ids are still to be compared, the first ones."""
        return bisect_left(self.ids, self.covered)

    @property
    def verdict(self) -> Verdict | None:
        """None: further ids have to be compared."""
        if self.odd or self.before.number is None or self.now.number is None:
            return Verdict.WHOLE
        if self.left and self.covered > self.before.last:
            return None
        came = bisect_right(self.ids, self.now.last) - bisect_right(self.ids, self.before.last)
        came = max(0, came) - sum(self.before.last < one <= self.now.last for one in self.missing)
        went = sum(one <= self.before.last for one in self.missing)
        wanted = self.before.number + came - self.now.number
        if went == wanted:
            return Verdict.FOUND
        return None if self.left and went < wanted else Verdict.WHOLE

    def next_pages(self, size: int, most: int) -> list[int]:
        """The IDs below which they are requested."""
        return [self.ids[place] + 1 for place in range(self.left - 1, -1, -size)[:most]]

    def compare(self, below: int, shown: Iterable[int], size: int) -> None:
        """Adds the IDs that a list shows below one. After a page that was shorter than expected there is a gap before
        the next one. Rows beyond the size of a page may have gaps between them."""
        if bisect_left(self.ids, below) < self.left:
            return
        listed = set(shown)
        rows = sorted((one for one in listed if one < below), reverse=True)[:size]
        lowest = rows[-1] if rows else 0
        known = set(self.ids[bisect_left(self.ids, lowest) : bisect_left(self.ids, below)])
        self.odd = bool(listed and not rows) or any(one not in known for one in rows if one <= self.before.last)
        self.missing |= known.difference(rows)
        self.covered = lowest

    @property
    def progress(self) -> list[Json]:
        return [self.parent.id, self.covered, sorted(self.missing)]


def seed(context: RunContext, scope: str, stream: Stream, pass_no: int, which: int) -> list[Job]:
    prefix = f"{LOST}:{stream.name}:{which}:"
    rows = list(context.store.rows(CHANGES, prefix))
    found = [[row.key.removeprefix(prefix), row.values["Fields"][0], row.values["Fields"][1:]] for row in rows]
    args = {"stream": stream.name, "pass": pass_no, **({"which": which} if which else {})}
    parts = (found[start : start + PARENTS] for start in range(0, len(found), PARENTS))
    return [Job(scope, "seek-missing", {**args, "parents": some}) for some in parts]


def seek(context: RunContext, job: Job) -> Follow:
    stream, reading = context.streams[job.args["stream"]], find_reading(context, job)
    losses, most = list(find_losses(context, stream, reading, job.args["parents"])), FIRST_PAGES
    while waiting := [one for one in losses if one.verdict is None]:
        if context.time_is_up():
            return [Job(job.scope, job.kind, {**job.args, "parents": [one.progress for one in losses]})]
        pages = choose_pages(context, stream, reading, job)
        try:
            list_ids(context, reading, pages, waiting, most)
        except Permanent:
            if pages.method == reading.method:
                raise
            refute_wide(context, stream, job)
        most *= 2
    return settle(context, job, stream, losses)


def find_losses(
    context: RunContext, stream: Stream, reading: PerParent, reached: Sequence[Sequence[Json]]
) -> Iterator[Loss]:
    keys = [str(one[0]) for one in reached]
    parents, states = context.lookup(reading.of, keys), tails.read_states(context, stream, keys)
    for key, covered, missing in reached:
        if key in parents and key in states and reading.tail:
            ids = tails.known_ids(context, stream, children_of(reading, key))
            now = Told.by(reading.tail, parents[key], states[key].whole)
            missed = {int(one) for one in missing}.intersection(ids)
            yield Loss(parents[key], states[key], now, ids, int(covered), missed)


# ---------------------------------------------------------------- lists


def choose_pages(context: RunContext, stream: Stream, reading: PerParent, job: Job) -> IdPages:
    """The wider lists, unless they have failed once."""
    paging, tail = reading.paging, reading.tail
    assert isinstance(paging, Backward)  # noqa: S101 (what has a tail is walked down)
    wide = tail.ids if tail else None
    if wide and context.store.read(CHECKPOINTS, hints.refuted_key(stream, int(job.args.get("which", 0)), WIDE)) is None:
        return wide
    return IdPages(
        reading.method,
        paging.size,
        lambda parent, below: {**reading.params(parent), paging.last: below, paging.limit: paging.size},
        reading.items,
        reading.id,
    )


def refute_wide(context: RunContext, stream: Stream, job: Job) -> None:
    hints.refute(context, stream, int(job.args.get("which", 0)), WIDE, int(job.args["pass"]))


def list_ids(context: RunContext, reading: PerParent, pages: IdPages, waiting: Sequence[Loss], most: int) -> None:
    """One request for each webhook: the next page of many parents, or up to so many of a few."""
    by_webhook: dict[int, list[Loss]] = {}
    for one in waiting:
        by_webhook.setdefault(reading.webhooks.first(one.parent, context.source.owners), []).append(one)
    for via, some in by_webhook.items():
        each = max(1, min(most, COMMANDS // len(some)))
        asked = [(one, below) for one in some[:COMMANDS] for below in one.next_pages(pages.size, each)]
        commands = [Command(pages.method, pages.params(one.parent, below)) for one, below in asked]
        for (one, below), answer in zip(asked, context.source.batch(commands, via=via), strict=True):
            if one.verdict is None:
                one.compare(below, read_ids(answer, pages), pages.size)


def read_ids(answer: Answer, pages: IdPages) -> list[int]:
    rows = open_list(answer.require(), pages.items, pages.method).items
    return [int(id_of(raw, pages.id, pages.method)) for raw in rows]


# ---------------------------------------------------------------- what is missing


def settle(context: RunContext, job: Job, stream: Stream, losses: Sequence[Loss]) -> list[Job]:
    """Requests the missing children by ID. The parents' new values are kept once these children are marked."""
    pass_no = int(job.args["pass"])
    found = [one for one in losses if one.verdict is Verdict.FOUND]
    keys = {one.parent.id: [_row_key(context, job, one, child) for child in sorted(one.missing)] for one in found}
    every = [key for some in keys.values() for key in some]
    for start in range(0, len(every), deletions.ASKED):
        records = context.store.get(stream.table, every[start : start + deletions.ASKED])
        deletions.ask_all(context, stream, list(records.values()), pass_no)
    gone = find_absent(context, stream, deletions.GONE, every)
    if set(every) - gone - find_absent(context, stream, deletions.DOUBTFUL, every):  # a list did not show them
        refute_wide(context, stream, job)
    done = [one for one in found if gone.issuperset(keys[one.parent.id])]
    rows = [RegisterRow(f"{SETTLED}:{stream.name}:{one.parent.id}", {"Fields": list(one.now)}) for one in done]
    if rows:
        context.store.write(CHANGES, rows)
    whole = [one.parent.id for one in losses if one not in done]
    args = {name: job.args[name] for name in ("stream", "pass", "which") if name in job.args}
    return full_walk_jobs(job.scope, args, whole)


def find_absent(context: RunContext, stream: Stream, state: str, row_keys: Sequence[str]) -> set[str]:
    prefix = f"{state}:{stream.name}:"
    return {one.removeprefix(prefix) for one in context.store.rows_of(DELETIONS, [prefix + key for key in row_keys])}


def _row_key(context: RunContext, job: Job, one: Loss, child: int) -> str:
    return f"{one.parent.id}:{find_reading(context, job).mark}{child}"
