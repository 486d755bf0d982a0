"""Makes the list: what the target says, with how many records of this source it concerns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import groupby

from b24migrate.engine.phases.context import Work
from b24migrate.insight.fidelity import acceptance
from b24migrate.insight.fidelity.count import ANY, count
from b24migrate.insight.fidelity.model import WORST_FIRST, Fidelity, Line, hash_of
from b24migrate.model.errors import MigrationError
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.records import digest
from b24migrate.model.streams import Kind, Stream
from b24migrate.model.values import utc_text
from b24migrate.ports import FIDELITY, RegisterRow

KNOWN = "known:"


def listed(work: Work, rules: Sequence[Rule], entities: Collection[str] = (), *, most: int = ANY) -> Fidelity:
    """Of these entities (none: of all). `most`: longer tables are not walked through."""
    found = _made(work, rules, entities, most)
    return replace(found, asked_at=utc_text(work.clock.now().replace(microsecond=0)), now=True)


def asked(work: Work) -> list[Rule]:
    """What the target says now, of the streams that there are, and what is changed before it is sent; it is
    remembered for whoever cannot ask. Raises what the target refuses with."""
    own = [rule for stream in work.streams.values() for rule in stream.rules(work.options.allow_activities)]
    rules = concerning(work, [*work.target.fidelity(), *own])
    told = [[rule.stream, rule.field, rule.keeping.value, rule.reason] for rule in rules]
    now = utc_text(work.clock.now().replace(microsecond=0))
    before = work.store.read(FIDELITY, _key(work))
    if before is not None:
        acceptance.keep_accepted(work, _rules(before), rules)
    work.store.write(FIDELITY, [RegisterRow(_key(work), {"Hash": hash_of(rules), "Data": told, "AtUtc": now})])
    return rules


def known(work: Work, entities: Collection[str] = (), *, most: int = ANY) -> Fidelity | None:
    """By a target that answers at once; else what is remembered."""
    try:
        if "target" not in work.options.absent and work.target.alive():
            return listed(work, asked(work), entities, most=most)
    except MigrationError:
        pass  # what is remembered is better than nothing
    return remembered(work, entities)


def remembered(work: Work, entities: Collection[str] = ()) -> Fidelity | None:
    """What was last heard of the target, with the numbers that were counted then; None when it was never asked. Nobody
    is asked, and nothing is written."""
    row = _last_said(work)
    if row is None:
        return None
    return replace(_made(work, _rules(row), entities, 0), asked_at=str(row.values["AtUtc"]))


def accept_known(work: Work, entities: Collection[str], hash_seen: str, by: str) -> bool:
    """What was last heard of the target, if it is the list that somebody saw. False when it is another."""
    row = _last_said(work)
    rules = concerning(work, _rules(row), entities) if row is not None else []
    if row is None or hash_of(rules) != hash_seen:
        return False
    acceptance.accept(work, rules, by)
    return True


def _key(work: Work) -> str:
    """What another box said is no word of this one."""
    return f"{KNOWN}{digest(work.options.target_url)[:16]}"


def _last_said(work: Work) -> RegisterRow | None:
    """Whoever has no target, and only looks at the store, is told what any said last."""
    if "target" in work.options.absent:
        return max(work.store.rows(FIDELITY, KNOWN), key=lambda row: str(row.values["AtUtc"]), default=None)
    return work.store.read(FIDELITY, _key(work))


def _rules(row: RegisterRow) -> list[Rule]:
    """As they are told; which records they touch is not remembered."""
    return [Rule(stream, field, Keeping(keeping), reason) for stream, field, keeping, reason in row.values["Data"]]


def concerning(work: Work, rules: Sequence[Rule], entities: Collection[str] = ()) -> list[Rule]:
    """A rule for a stream that nobody migrates, or for a field that its records never have, concerns nobody. Files
    belong to every entity."""
    here = [
        rule
        for rule in rules
        if rule.keeping is not Keeping.KEPT
        and (stream := work.streams.get(rule.stream)) is not None
        and _may_have(stream, rule.field)
    ]
    return [rule for rule in here if not entities or _entity(work, rule.stream) in (*entities, "files")]


def _may_have(stream: Stream, name: str) -> bool:
    if not name or name.endswith("*") or not stream.fields:
        return True
    begins = (*(stream.rest.prefixes if stream.rest else ()), *stream.custom_prefix)
    families = tuple(one.name for one in stream.fields if one.kind is Kind.FAMILY)
    return any(one.name == name for one in stream.fields) or name.startswith((*begins, *families))


def _made(work: Work, rules: Sequence[Rule], entities: Collection[str], most: int) -> Fidelity:
    accepted = acceptance.accepted(work)
    places = {name: place for place, name in enumerate(work.streams)}
    ordered = sorted(concerning(work, rules, entities), key=lambda rule: (places[rule.stream], _order(rule)))
    lines = [
        line
        for _, own in groupby(ordered, key=lambda rule: rule.stream)
        for line in _lines(work, list(own), accepted.rules, most)
    ]
    open_ = any(not line.accepted for line in lines)
    return Fidelity(hash_of(ordered), tuple(lines), open_, accepted.last if lines else None)


def _order(rule: Rule) -> tuple[int, str]:
    return WORST_FIRST.index(rule.keeping), rule.field


def _lines(work: Work, rules: Sequence[Rule], accepted: Collection[str], most: int) -> list[Line]:
    stream = work.streams[rules[0].stream]
    counts = count(work, stream, rules, most=most)
    return [
        Line(
            _entity(work, rule.stream),
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


def _entity(work: Work, stream: str) -> str:
    owner = work.owner.get(stream)
    return owner.name if owner else stream
