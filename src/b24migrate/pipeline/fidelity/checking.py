"""Doctor's question to the target: what it does not keep."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from b24migrate.errors import MigrationError
from b24migrate.fidelity import Rule
from b24migrate.messages import say
from b24migrate.phases.work import Work
from b24migrate.pipeline.diagnosis import Check, Diagnosis
from b24migrate.pipeline.doctor import patient, refused
from b24migrate.pipeline.fidelity.accepting import GATE, accepted
from b24migrate.pipeline.fidelity.listing import asked, concerning
from b24migrate.pipeline.fidelity.model import amounts_of

NAME = say("doctor.name.fidelity")


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
