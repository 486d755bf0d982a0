"""What a run asks about the target before it writes: what it does not keep, and whether somebody has accepted that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from b24migrate.engine.diagnosis import Check, Diagnosis
from b24migrate.engine.doctor import patient, refused
from b24migrate.engine.phases.context import Work
from b24migrate.insight.fidelity.acceptance import GATE, accept, accepted, required
from b24migrate.insight.fidelity.entries import asked, concerning, listed
from b24migrate.insight.fidelity.model import Fidelity, amounts_of
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.fidelity import Rule

NAME = say("doctor.name.fidelity")


@dataclass(slots=True)
class Gate:
    """`consent` is asked who accepts the list; where it names nobody the run does not begin."""

    consent: Callable[[Fidelity], str] = lambda _: ""

    def examine(self, work: Work, entities: Collection[str], before: Diagnosis) -> Diagnosis:
        return examined(work, entities, before)

    def require(self, work: Work, rules: Sequence[Rule]) -> None:
        known = accepted(work).rules
        if all(rule.digest in known for rule in rules):
            return
        found = listed(work, rules)
        by = self.consent(found)
        if not by:
            raise required(found)
        accept(work, rules, by)


def examined(work: Work, entities: Collection[str], before: Diagnosis) -> Diagnosis:
    """The same diagnosis, with what the target said of these entities."""
    try:
        rules = patient(work.clock, lambda: asked(work))
    except MigrationError as error:
        return replace(before, checks=(*before.checks, refused("target", error, "auth.target")))
    own = concerning(work, rules, entities)
    return replace(before, checks=(*before.checks, _check(work, own)), rules=tuple(own))


def _check(work: Work, rules: Collection[Rule]) -> Check:
    if not rules:
        return Check(NAME, True, say("doctor.fidelity_kept"), gate=GATE)
    told = ", ".join(f"{keeping} {number}" for keeping, number in amounts_of(rules))
    known = accepted(work)
    if known.last and all(rule.digest in known.rules for rule in rules):
        message = say("doctor.fidelity_accepted", told=told, by=known.last.by, at=known.last.at)
        return Check(NAME, True, message, gate=GATE)
    message = say("doctor.fidelity_open", told=told)
    return Check(NAME, False, message, say("doctor.fidelity_fix"), GATE)
