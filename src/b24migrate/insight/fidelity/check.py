"""What a run asks about the target before it writes: what it does not keep, and whether somebody has accepted that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from b24migrate.engine.diagnosis import Check, Diagnosis
from b24migrate.engine.doctor import refusal_check, wait_for_limits
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.fidelity.acceptance import GATE, accept, acceptance_required, load_accepted
from b24migrate.insight.fidelity.entries import ask_target, make_list, relevant_rules
from b24migrate.insight.fidelity.model import Fidelity, count_amounts
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.fidelity import Rule

NAME = say("doctor.name.fidelity")


@dataclass(slots=True)
class Gate:
    """`consent` is asked who accepts the list; where it names nobody the run does not begin."""

    consent: Callable[[Fidelity], str] = lambda _: ""

    def examine(self, context: RunContext, entities: Collection[str], before: Diagnosis) -> Diagnosis:
        return examine(context, entities, before)

    def require(self, context: RunContext, rules: Sequence[Rule]) -> None:
        known = load_accepted(context).rules
        if all(rule.digest in known for rule in rules):
            return
        found = make_list(context, rules)
        by = self.consent(found)
        if not by:
            raise acceptance_required(found)
        accept(context, rules, by)


def examine(context: RunContext, entities: Collection[str], before: Diagnosis) -> Diagnosis:
    """The same diagnosis, with what the target said of these entities."""
    try:
        rules = wait_for_limits(context.clock, lambda: ask_target(context))
    except MigrationError as error:
        return replace(before, checks=(*before.checks, refusal_check("target", error, "auth.target")))
    own = relevant_rules(context, rules, entities)
    return replace(before, checks=(*before.checks, _check(context, own)), rules=tuple(own))


def _check(context: RunContext, rules: Collection[Rule]) -> Check:
    if not rules:
        return Check(NAME, True, say("doctor.fidelity_kept"), gate=GATE)
    told = ", ".join(f"{keeping} {number}" for keeping, number in count_amounts(rules))
    known = load_accepted(context)
    if known.last and all(rule.digest in known.rules for rule in rules):
        message = say("doctor.fidelity_accepted", told=told, by=known.last.by, at=known.last.at)
        return Check(NAME, True, message, gate=GATE)
    message = say("doctor.fidelity_open", told=told)
    return Check(NAME, False, message, say("doctor.fidelity_fix"), GATE)
