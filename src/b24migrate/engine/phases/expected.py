"""Which differences the target had announced. What was announced and did not happen is told as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from b24migrate.engine.phases import comparison
from b24migrate.engine.phases.comparison import EMPTY, Compared, Outcome, shown
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.draft import Drafter
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.records import Fate, Finding, Json
from b24migrate.model.streams import Seen, Stream
from b24migrate.ports import FINDINGS, FORESEEN, SPARED, Register, TargetRecord

EXPECTED: Mapping[Fate, Register] = {Fate.FORESEEN: FORESEEN, Fate.SPARED: SPARED}  # nothing is wrong


def register_of(fate: Fate) -> Register:
    """Where what was found so is kept."""
    return EXPECTED.get(fate, FINDINGS)


class Foresight:
    """Of the records of one stream. A rule that depends on the records before cannot be asked about a single one: it
    speaks for all of them. One without a field is about the record as a whole, and explains no field's difference; that
    it is lost explains that it is missing."""

    def __init__(self, context: RunContext, stream: Stream) -> None:
        self._stream = stream
        self._rules = context.rules(stream)
        self._drafter = Drafter(context, stream) if self._rules else None
        self._tells_spared = context.options.verify_all  # else only a few are looked at, and it would be chance

    def findings(self, one: Seen, expected: Mapping[str, Json], found: TargetRecord | None) -> list[Finding]:
        """Everything that is to be said about a record. What the target had already keeps its own values."""
        if found is None:
            return [self.of_missing(one)]
        compared = comparison.compared(self._stream, {} if self._stream.adopted(one) else expected, found.fields)
        touching = self._touching(one)
        return [finding for field in compared for finding in self._judged(one.id, field, touching)]

    def announced(self, one: Seen) -> Callable[[str], bool]:
        """Whether a field of this record was said to differ."""
        touching = self._touching(one)
        return lambda name: any(rule.concerns(name) for rule in touching)

    def of_missing(self, one: Seen) -> Finding:
        lost = [rule for rule in self._touching(one) if not rule.field and rule.keeping is Keeping.LOST]
        if lost:
            return Finding(self._stream.name, Fate.FORESEEN, one.id, note=lost[0].reason)
        return Finding(self._stream.name, Fate.MISSING, one.id)

    def of_the_count(self, counted: Finding) -> Finding:
        """Where whole records are lost there are fewer; which ones is looked up one by one."""
        lost = [rule for rule in self._rules if not rule.field and rule.keeping is Keeping.LOST]
        fewer = counted.fate is Fate.MISSING and lost
        return counted._replace(fate=Fate.FORESEEN, note=lost[0].reason) if fewer else counted

    def _touching(self, one: Seen) -> Sequence[Rule]:
        if self._drafter is None:
            return ()
        draft = self._drafter.draft(one)
        return [rule for rule in self._rules if rule.running or rule.judge()(draft)]

    def _judged(self, source_id: str, one: Compared, touching: Sequence[Rule]) -> Iterator[Finding]:
        own = [rule for rule in touching if rule.concerns(one.name)]
        values = (one.name, shown(one.expected), shown(one.actual))
        if one.outcome is Outcome.EQUAL:
            certain = [rule for rule in own if not rule.running]
            if certain and self._tells_spared and one.expected not in EMPTY:
                yield Finding(self._stream.name, Fate.SPARED, source_id, *values, certain[0].reason)
        elif own:
            yield Finding(self._stream.name, Fate.FORESEEN, source_id, *values, own[0].reason)
        elif one.outcome is Outcome.DIFFERS:
            yield Finding(self._stream.name, Fate.DIFFERS, source_id, *values)
