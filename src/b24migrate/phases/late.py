"""The second pass of a set: references to records and files that came later than the record that holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from b24migrate.errors import Permanent, Transient
from b24migrate.phases import lanes
from b24migrate.phases.compose import Composed, Composer
from b24migrate.phases.places import remember
from b24migrate.phases.work import ATTEMPTS, Follow, Work, seen
from b24migrate.records import Item, Job, Link, Outcome, Record, Status
from b24migrate.streams import Stream

LOOKED_AT = 500  # records at a time, few of which have anything to complete


class Changed(NamedTuple):
    """A record whose late references change what was sent, and what they lost."""

    composed: Composed
    item: Item
    lost: Mapping[str, int]

    @property
    def row_key(self) -> str:
        return self.composed.record.row_key


def complete(work: Work, job: Job) -> Follow:
    """Sends the full fields of those imported records whose late references change what was sent. Safe to repeat:
    what the target has already is recognised by the digest in the id map."""
    stream = work.streams[job.args["stream"]]
    records = work.store.records(stream.table, lanes.ahead_of(job), LOOKED_AT)
    if not records:
        return []
    first, second = Composer(work, stream), Composer(work, stream, late=True)
    imported = [record for record in records if record.status is Status.IMPORT_OK]
    if not second.postpones:
        imported = _incomplete(work, stream, imported)
    links = work.store.links(stream.name, [record.row_key for record in imported])
    changed: list[Changed] = []
    for record in imported:
        link = links.get(record.row_key)
        if link is None or link.origin != "import":
            continue
        composed = second.compose(record)
        item = composed.item(stream)
        if composed.problem is None and item.digest != link.digest:
            lost = _lost(first.compose(record), composed, stream, link) if composed.losses else {}
            changed.append(Changed(composed, item, lost))
    while changed:
        count = max(1, work.target.fits([one.item for one in changed[: work.batch_size(stream)]]))
        _update(work, job, stream.name, changed[:count])
        changed = changed[count:]
    return lanes.further(job, records[-1], moved=False)


def _incomplete(work: Work, stream: Stream, records: Sequence[Record]) -> list[Record]:
    """Those with a mention in a text, or with files when any went without: of most there is nothing more to say."""
    name = f"files_dropped:{stream.name}"
    files = stream.files if work.store.counters(name).get(name) else None
    return [
        record
        for record in records
        if work.texts.may_concern(record.payload)
        or (files is not None and any(True for _ in files(seen(record, stream))))
    ]


def _lost(first: Composed, second: Composed, stream: Stream, link: Link) -> Mapping[str, int]:
    """What the late references lost. Counted once: while the target still has what the first pass sent."""
    if first.item(stream).digest != link.digest:
        return {}
    return {name: count - first.losses.get(name, 0) for name, count in second.losses.items()}


def _update(work: Work, job: Job, stream: str, changed: list[Changed]) -> None:
    entity = work.owner[stream]
    last = job.attempts + 1 >= ATTEMPTS
    try:
        outcomes = work.target.send(entity.wire, stream, [one.item for one in changed], run=work.run)
    except (Transient, Permanent) as error:
        if isinstance(error, Transient) and not (error.own and last):
            raise
        if len(changed) > 1:
            for one in changed:
                _update(work, job, stream, [one])
        else:
            work.note(entity.name, f"{stream} {changed[0].row_key}: a late reference was refused ({error})")
        return
    by_key = {outcome.key: outcome for outcome in outcomes}
    links = []
    losses = Counter[str]()
    again: Outcome | None = None
    for one in changed:
        row_key, item, lost = one.row_key, one.item, one.lost
        outcome = by_key[item.key]
        if outcome.target_id is None and outcome.retry and not last:
            again = outcome
        elif outcome.target_id is None:
            work.note(entity.name, f"{stream} {row_key}: a late reference was refused ({outcome.error_code})")
        else:
            remember(work, work.streams[stream], one.composed)
            links.append(Link(row_key, outcome.target_id, item.digest))
            losses.update({f"{name}:{stream}": count for name, count in lost.items() if count > 0})
    work.store.link(stream, links, now=work.clock.now())
    work.store.add(losses)
    if again is not None:
        raise Transient(f"{again.key}: {again.error}", code=again.error_code, own=True)
