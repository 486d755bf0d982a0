"""get: of lists whose newest members come first, reads only the beginning if it shows everything new.

The total of each list that is longer than a page is kept with the pass that read it (register States). A list is left
after its first page if that shows as many new members as the total has grown since a complete pass; otherwise it is
read to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.delta import complete_pass, is_delta
from b24migrate.model.readings import PerParent, Progress
from b24migrate.model.records import Args, Job, Page
from b24migrate.model.streams import Stream
from b24migrate.ports import STATES, RegisterRow


def leave_known_lists(
    context: RunContext, job: Job, reading: PerParent, progress: Sequence[Progress], page: Page
) -> Page:
    """Before its rows are staged."""
    if not reading.is_newest_first or context.options.test_limit:
        return page
    begun = {one.parent.id for one in progress if not one.after}
    lists = {one["id"]: one for one in page.next if one["id"] in begun and one["after"] and one["id"] in page.totals}
    if not lists:
        return page
    stream, pass_no = context.streams[job.args["stream"]], int(job.args["pass"])
    keys = {parent: _key(stream, job, one) for parent, one in lists.items()}
    before = context.store.rows_of(STATES, list(keys.values()))
    rows = [RegisterRow(keys[one], {"State": [page.totals[one], pass_no]}) for one in lists]
    known: set[str] = set()
    if is_delta(context, stream, pass_no):
        new = _count_new_rows(context, stream, page)
        complete = complete_pass(context, stream)
        known = {
            one
            for one in lists
            if keys[one] in before and _is_known(before[keys[one]], page.totals[one] - new[one], complete)
        }
    context.store.write(STATES, rows)
    return replace(page, next=list(filter(None, (_onward(context, reading, one, known) for one in page.next))))


def _key(stream: Stream, job: Job, one: Mapping[str, int]) -> str:
    """Each webhook has lists of its own."""
    return f"{stream.name}:{job.args.get('which', 0)}.{one.get('via', 0)}:{one['id']}"


def _is_known(row: RegisterRow, total: int, complete: int) -> bool:
    """Whether the list had this total when a complete pass read it."""
    before, pass_no = row.values["State"]
    return bool(total == before and pass_no <= complete)


def _count_new_rows(context: RunContext, stream: Stream, page: Page) -> Counter[str]:
    """By parent."""
    staged = context.store.known(stream.table, [row.source_id for row in page.rows])
    return Counter(str((row.extras or {}).get("of")) for row in page.rows if row.source_id not in staged)


def _onward(context: RunContext, reading: PerParent, one: Args, known: set[str]) -> Args | None:
    """The position to continue at: the next webhook's list, if this one is known."""
    if one["id"] not in known:
        return one
    via = int(one.get("via", 0)) + 1
    more = reading.webhooks.everybody and via < len(context.source.owners)
    return {"id": one["id"], "after": 0, "got": 0, "via": via} if more else None
