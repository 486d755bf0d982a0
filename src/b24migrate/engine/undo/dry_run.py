"""A dry run of an undo: checks every record on the target and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from b24migrate.engine.phases.context import RunContext, decode_extras, decode_payload
from b24migrate.engine.undo.dependants import Dependants
from b24migrate.engine.undo.model import KeptRecord, Tally
from b24migrate.engine.undo.records import ImportedRecord, find_imported, may_have_more, spans_from_end
from b24migrate.engine.undo.scope import Scope
from b24migrate.model.records import NOWHERE
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import Deleted
from b24migrate.ports.walk import Progress


class DryRun:
    """A target that answers each call separately reports records with dependants as kept, although the undo would
    delete the dependants first. Such records count as `later`: only the undo itself shows their result."""

    def __init__(self, context: RunContext, scope: Scope, say: Callable[[str], None] = lambda _: None) -> None:
        self._context = context
        self._scope = scope
        self._teller = Progress(say, context.clock)
        self.tallies = {one.name: Tally(one.name, context.owner[one.name].name) for one in scope.streams}
        self.unsure: set[str] = set()
        self.needed = Dependants(context, scope)
        self._never_there = 0

    @property
    def nothing(self) -> bool:
        return not any(one.ours for one in self.tallies.values())

    @property
    def strange(self) -> int:
        """The number of records that should be on the target, if it has none of them at all; without records that its
        fidelity list excludes."""
        absent = sum(one.absent for one in self.tallies.values())
        return absent - self._never_there if absent == sum(one.ours for one in self.tallies.values()) else 0

    def walk(self) -> Iterator[KeptRecord]:
        """Records that would be kept in any case."""
        self.needed.gather()
        for stream in self._scope.streams:
            if may_have_more(self._context, self._scope, stream):
                self.unsure.add(stream.name)
            yield from self._stream(stream)

    def _stream(self, stream: Stream) -> Iterator[KeptRecord]:
        tally, looked_at = self.tallies[stream.name], 0
        for span in spans_from_end(self._context, stream):
            found = find_imported(self._context, self._scope, stream, span, tally, unsure=stream.name in self.unsure)
            for one, answer in self.needed.answers(stream, found, dry_run=True):
                yield from self._judge(stream, tally, one, answer)
            looked_at += len(found)
            self._teller.progress("Asking about", stream.name, looked_at)

    def _judge(self, stream: Stream, tally: Tally, one: ImportedRecord, answer: Deleted) -> Iterator[KeptRecord]:
        if answer.status == "absent":
            tally.absent += one.counts_as_imported
            self._never_there += one.target_id == NOWHERE
        elif answer.status == "deleted":
            tally.deleted += 1
            tally.adopted += is_adopted(stream, one)
        elif answer.needed:
            tally.later += 1
        else:
            tally.keep(one.row_key, answer.reason)
            yield KeptRecord(stream.name, one.row_key, one.target_id, answer.reason)


def is_adopted(stream: Stream, one: ImportedRecord) -> bool:
    """Whether the target may have had it already."""
    try:
        return stream.adopted(
            SourceRecord(one.row_key, decode_payload(stream, one.row["Payload"]), decode_extras(one.row["Extras"]))
        )
    except msgspec.DecodeError:
        return False
