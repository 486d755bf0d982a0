"""The undo itself: children before parents, and again what was kept because of others, until nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from b24migrate.engine import plan
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.missed import note_unlinked
from b24migrate.engine.phases.removal import forget
from b24migrate.engine.phases.verify import FOUND
from b24migrate.engine.state import EntityState, PhaseState, States
from b24migrate.engine.undo.checks import refuse_busy
from b24migrate.engine.undo.cycles import clear_circles, may_be_in_circle, restore_circles
from b24migrate.engine.undo.dry_run import DryRun, is_adopted
from b24migrate.engine.undo.forget import settle
from b24migrate.engine.undo.model import KeptRecord, Tally, delete_keys
from b24migrate.engine.undo.records import ImportedRecord, find_imported, spans_from_end
from b24migrate.engine.undo.scope import Scope
from b24migrate.engine.undo_lock import UndoLock
from b24migrate.model.records import Span
from b24migrate.model.streams import FINAL, LATE, Entity, Stream
from b24migrate.ports import KEPT
from b24migrate.ports.walk import Progress

UNDONE = ("set", LATE, FINAL, "verify")


def begin(context: RunContext, streams: Sequence[Stream]) -> None:
    """Before the first deletion. Otherwise a view could still show success after a kill."""
    names = list(dict.fromkeys(context.owner[one.name].name for one in streams))
    for entity in (one for one in context.entities if one.name in names):
        _reopen(context, entity)
        for stream in entity.streams:
            for register in FOUND:
                context.store.erase(register, f"{stream.name}:")
    for stream in streams:
        note_unlinked(context, stream)
    plan.mark_undone(context.store, context.clock, names)


def _reopen(context: RunContext, entity: Entity) -> None:
    for phase in UNDONE:
        context.queue.drop(entity.task(phase))

    def pending(state: EntityState) -> EntityState:
        for phase in UNDONE:
            state = state.with_phase(phase, PhaseState())
        return replace(state, verified=False)

    States(context.store).change(entity.name, pending)


class Undo:
    """It may be stopped at any moment and repeated; `tallies` show the progress."""

    def __init__(
        self, context: RunContext, scope: Scope, rehearsal: DryRun, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self._context = context
        self._scope = scope
        self._unsure = rehearsal.unsure
        self._expected = rehearsal.tallies
        self._needed = rehearsal.needed
        self._teller = Progress(say, context.clock)
        self._hold = UndoLock(context.store, context.clock)
        self.tallies = {one.name: Tally(one.name, context.owner[one.name].name) for one in scope.streams}

    @property
    def gone(self) -> int:
        return sum(one.deleted + one.absent for one in self.tallies.values())

    @property
    def kept(self) -> int:
        return sum(one.kept for one in self.tallies.values())

    def take(self) -> None:
        """Raises Halted when an import or another undo runs meanwhile."""
        left = self._hold.begin()
        done = False
        try:
            refuse_busy(self._context)
            if left is not None:
                settle(self._context, left)
            self._take([one for one in self._scope.streams if self._expected[one.name].ours])
            done = True
        finally:
            self._hold.leave(settled=done)

    def _take(self, streams: Sequence[Stream]) -> None:
        context = self._context
        begin(context, streams)
        for stream in self._scope.streams:
            context.store.erase(KEPT, f"{stream.name}:")
        left = {stream.name: spans_from_end(context, stream) for stream in streams}
        while any(left.values()):
            moved = sum(self._pass(stream, left) for stream in streams if left[stream.name])
            if not moved and not sum(self._clear_circles(stream, left[stream.name]) for stream in streams):
                break
        self._restore(streams, left)

    def _pass(self, stream: Stream, left: dict[str, list[Span]]) -> int:
        """One pass over what is left of a stream; returns how many were deleted."""
        tally, moved = self.tallies[stream.name], 0
        tally.forget_kept()
        self._context.store.erase(KEPT, f"{stream.name}:")
        todo, left[stream.name] = left[stream.name], []
        for span in todo:
            before = tally.kept
            moved += self._span(stream, span, tally)
            if tally.kept > before:
                left[stream.name].append(span)
            done, of = tally.deleted + tally.absent, self._expected[stream.name].ours
            self._teller.progress("Taking back", stream.name, done, of)
        return moved

    def _span(self, stream: Stream, span: Span, tally: Tally) -> int:
        def still() -> None:
            self._renew_lock(stream, span)

        still()
        found = self._find_imported(stream, span)
        if may_be_in_circle(stream):
            clear_circles(self._context, stream, [one.link for one in found if one.link and is_adopted(stream, one)])
        gone, kept, before = [], [], tally.deleted + tally.absent
        for one, answer in self._needed.answers(stream, found, dry_run=False, still=still):
            if answer.status == "kept":
                tally.keep(one.row_key, answer.reason)
                kept.append(KeptRecord(stream.name, one.row_key, one.target_id, answer.reason).row())
            # failed records were never there and stay failed
            elif answer.status == "deleted" or one.counts_as_imported:
                gone.append(one.row_key)
                tally.deleted += answer.status == "deleted"
                tally.absent += answer.status == "absent"
        forget(self._context, stream, gone, alone=True)
        self._context.store.write(KEPT, kept)
        return tally.deleted + tally.absent - before

    def _renew_lock(self, stream: Stream, span: Span) -> None:
        self._hold.at(stream.name, span)
        refuse_busy(self._context)

    def _find_imported(self, stream: Stream, span: Span) -> list[ImportedRecord]:
        aside = Tally(stream.name, "")  # records that are not ours were counted before
        return find_imported(self._context, self._scope, stream, span, aside, unsure=stream.name in self._unsure)

    def _clear_circles(self, stream: Stream, left: Sequence[Span]) -> int:
        """Records that hold one another in a circle lose that link; only where no user changed anything."""
        return sum(self._clear_circles_in(stream, span) for span in left) if may_be_in_circle(stream) else 0

    def _restore(self, streams: Sequence[Stream], left: dict[str, list[Span]]) -> None:
        self._context.memory.links.forget()
        for stream, span in ((one, span) for one in streams if may_be_in_circle(one) for span in left[one.name]):
            self._renew_lock(stream, span)
            restore_circles(self._context, stream, [one.link for one in self._find_imported(stream, span) if one.link])

    def _clear_circles_in(self, stream: Stream, span: Span) -> int:
        self._renew_lock(stream, span)
        self._context.memory.links.forget()  # deleted records are no longer named
        found = self._find_imported(stream, span)
        answers = delete_keys(self._context, stream.name, [stream.key_of(one.row_key) for one in found], dry_run=True)
        held = [one.link for one, answer in zip(found, answers, strict=True) if answer.needed and one.link]
        return clear_circles(self._context, stream, held)
