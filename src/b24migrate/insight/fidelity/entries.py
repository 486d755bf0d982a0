"""The fidelity list: what the target does not keep, and how many records that concerns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from b24migrate.engine.analysis import load
from b24migrate.engine.diagnosis import Check, Diagnosis
from b24migrate.engine.doctor import refusal_check, wait_for_limits
from b24migrate.engine.optional import find_untaken
from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.fidelity import model
from b24migrate.insight.fidelity.count import ANY, count
from b24migrate.insight.fidelity.model import (
    GATE,
    WORST_FIRST,
    Fidelity,
    Line,
    accept,
    acceptance_required,
    count_amounts,
    hash_rules,
    load_accepted,
)
from b24migrate.messages import say
from b24migrate.model.errors import MigrationError
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.fields import Kind
from b24migrate.model.records import digest
from b24migrate.model.streams import Stream
from b24migrate.model.values import utc_text
from b24migrate.ports import FIDELITY, RegisterRow

KNOWN = "known:"
NAME = say("doctor.name.fidelity")


def make_list(
    context: RunContext, rules: Sequence[Rule], entities: Collection[str] = (), *, most: int = ANY
) -> Fidelity:
    """Of these entities (none: of all). `most`: longer tables are not walked through."""
    found = _make(context, rules, entities, most)
    return replace(found, asked_at=utc_text(context.clock.now().replace(microsecond=0)), now=True)


def ask_target(context: RunContext) -> list[Rule]:
    """The target's current rules for the known streams, and our own changes before sending. They are stored for callers
    without a target. Raises the target's refusal."""
    own = [
        rule
        for stream in context.streams.values()
        if stream.forbidden
        for rule in stream.forbidden.rules(context.options.allow_activities)
    ]
    rules = relevant_rules(context, [*context.target.fidelity(), *own, *_untaken(context)])
    rows = [[rule.stream, rule.field, rule.keeping.value, rule.reason] for rule in rules]
    now = utc_text(context.clock.now().replace(microsecond=0))
    before = context.store.read(FIDELITY, _key(context))
    if before is not None:
        model.keep_accepted(context, _rules(before), rules)
    context.store.write(FIDELITY, [RegisterRow(_key(context), {"Hash": hash_rules(rules), "Data": rows, "AtUtc": now})])
    return rules


def _untaken(context: RunContext) -> list[Rule]:
    """Every stream of an optional entity that the target does not take is lost."""
    entities = [one for one in context.entities if one.optional]
    taken = context.target.streams() if entities else ()
    return [
        Rule(stream.name, "", Keeping.LOST, stream.untaken or say("reason.untaken"))
        for one in entities
        if find_untaken(one, taken)
        for stream in one.streams
    ]


def current_list(context: RunContext, entities: Collection[str] = (), *, most: int = ANY) -> Fidelity | None:
    """By a target that answers at once; else what is remembered."""
    try:
        if "target" not in context.options.absent and context.target.alive():
            return make_list(context, ask_target(context), entities, most=most)
    except MigrationError:
        pass  # stored rules are better than none
    return last_list(context, entities)


def last_list(context: RunContext, entities: Collection[str] = ()) -> Fidelity | None:
    """The last answer of the target, with the counts of that time; None if it never answered. Makes no request and
    writes nothing."""
    row = _last_row(context)
    if row is None:
        return None
    return replace(_make(context, _rules(row), entities, 0), asked_at=str(row.values["AtUtc"]))


def accept_list(context: RunContext, entities: Collection[str], hash_seen: str, by: str) -> bool:
    """Accepts the last answer of the target if its hash is `hash_seen`; False otherwise."""
    row = _last_row(context)
    rules = relevant_rules(context, _rules(row), entities) if row is not None else []
    if row is None or hash_rules(rules) != hash_seen:
        return False
    model.accept(context, rules, by)
    return True


def _key(context: RunContext) -> str:
    """Each box has its own list."""
    return f"{KNOWN}{digest(context.options.target_url)[:16]}"


def _last_row(context: RunContext) -> RegisterRow | None:
    """Without a target (only the store is read): the last answer of any target."""
    if "target" in context.options.absent:
        return max(context.store.rows(FIDELITY, KNOWN), key=lambda row: str(row.values["AtUtc"]), default=None)
    return context.store.read(FIDELITY, _key(context))


def _rules(row: RegisterRow) -> list[Rule]:
    """As stored: without the records that they concern."""
    return [Rule(stream, field, Keeping(keeping), reason) for stream, field, keeping, reason in row.values["Data"]]


def relevant_rules(context: RunContext, rules: Sequence[Rule], entities: Collection[str] = ()) -> list[Rule]:
    """Without rules for streams that are not migrated and for fields that their records never have. Files belong to
    every entity."""
    here = [
        rule
        for rule in rules
        if rule.keeping is not Keeping.KEPT
        and (stream := context.streams.get(rule.stream)) is not None
        and _may_have(stream, rule.field)
    ]
    return [rule for rule in here if not entities or _entity(context, rule.stream) in (*entities, "files")]


def _may_have(stream: Stream, name: str) -> bool:
    if not name or name.endswith("*") or not stream.fields:
        return True
    begins = (*(stream.rest.prefixes if stream.rest else ()), *stream.custom.prefixes)
    families = tuple(one.name for one in stream.fields if one.kind is Kind.FAMILY)
    return any(one.name == name for one in stream.fields) or name.startswith((*begins, *families))


def _make(context: RunContext, rules: Sequence[Rule], entities: Collection[str], most: int) -> Fidelity:
    accepted = model.load_accepted(context)
    places = {name: place for place, name in enumerate(context.streams)}
    ordered = sorted(relevant_rules(context, rules, entities), key=lambda rule: (places[rule.stream], _order(rule)))
    lines = [
        line
        for _, own in groupby(ordered, key=lambda rule: rule.stream)
        for line in _lines(context, list(own), accepted.rules, most)
    ]
    without = load(context.store).facts.left_out
    open_ = any(not line.accepted and line.entity not in without for line in lines)
    return Fidelity(hash_rules(ordered), tuple(lines), open_, accepted.last if lines else None)


def _order(rule: Rule) -> tuple[int, str]:
    return WORST_FIRST.index(rule.keeping), rule.field


def _lines(context: RunContext, rules: Sequence[Rule], accepted: Collection[str], most: int) -> list[Line]:
    stream = context.streams[rules[0].stream]
    counts = count(context, stream, rules, most=most)
    return [
        Line(
            _entity(context, rule.stream),
            rule.stream,
            rule.field,
            rule.keeping.value,
            rule.reason,
            counts.records[rule.digest],
            counts.basis,
            rule.digest in accepted,
        )
        for rule in rules
    ]


def _entity(context: RunContext, stream: str) -> str:
    owner = context.owner.get(stream)
    return owner.name if owner else stream


# ---------------------------------------------------------------- the gate of a run


@dataclass(slots=True)
class Gate:
    """`consent` returns who accepts the list. If it is empty, the run does not start."""

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
    """The same diagnosis, with the answer of the target about these entities. Losses of entities outside the plan are
    in the list, but need no acceptance."""
    try:
        rules = wait_for_limits(context.clock, lambda: ask_target(context))
    except MigrationError as error:
        return replace(before, checks=(*before.checks, refusal_check("target", error, "auth.target")))
    planned = {one for one in entities if one not in before.facts.left_out}
    own = [
        rule
        for rule in relevant_rules(context, rules, entities)
        if _entity(context, rule.stream) in {*planned, "files"}
    ]
    return replace(before, checks=(*before.checks, _check(context, own)), rules=tuple(own))


def _check(context: RunContext, rules: Collection[Rule]) -> Check:
    if not rules:
        return Check(NAME, True, say("doctor.fidelity_kept"), gate=GATE)
    amounts = ", ".join(f"{keeping} {number}" for keeping, number in count_amounts(rules))
    known = load_accepted(context)
    if known.last and all(rule.digest in known.rules for rule in rules):
        message = say("doctor.fidelity_accepted", told=amounts, by=known.last.by, at=known.last.at)
        return Check(NAME, True, message, gate=GATE)
    message = say("doctor.fidelity_open", told=amounts)
    return Check(NAME, False, message, say("doctor.fidelity_fix"), GATE)
