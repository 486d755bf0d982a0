"""How many records of this source a rule concerns: one pass over what is staged, remembered until that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from b24migrate.engine.phases.compose import Drafter, reason_not_to_send
from b24migrate.engine.phases.context import WALKED_AT_ONCE, RunContext, decode_record, walk
from b24migrate.engine.phases.user_match import find_linked
from b24migrate.engine.phases.verify import count_linked
from b24migrate.engine.state import DONE, States
from b24migrate.insight import forecast
from b24migrate.insight.fidelity.model import Basis
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Record, digest
from b24migrate.model.streams import Stream
from b24migrate.model.values import utc_text
from b24migrate.ports import FIDELITY, FIELD_MAP, INVENTORY, RegisterRow

COUNTS = "counts:"
ANY = 1 << 60


class Counts(NamedTuple):
    """By the digests of rules."""

    records: Mapping[str, int | None]
    basis: Basis


def count(context: RunContext, stream: Stream, rules: Sequence[Rule], *, most: int = ANY) -> Counts:
    """Exact where the stream is staged; a table of more than `most` records is not walked through, unless that was done
    before. Else how many there can be at most."""
    staged = sum(context.store.counts(stream.table).values())
    remembered = _load_counts(context, stream, rules, staged)
    if remembered is None and 0 < staged <= most:
        remembered = _count_rules(context, stream, rules)
        _save_counts(context, stream, rules, staged, remembered)
    whole = _is_read(context, stream)
    if remembered is not None:
        return Counts(remembered, Basis.COUNTED if whole else Basis.SO_FAR)
    total = staged if staged and whole else _total(context, stream)
    return Counts({rule.digest: total for rule in rules}, Basis.UNKNOWN if total is None else Basis.AT_MOST)


def _count_rules(context: RunContext, stream: Stream, rules: Sequence[Rule]) -> dict[str, int]:
    """In order of ids, which rules that depend on the records before rely on; a few hundred records in memory. Those
    that are not sent, or that the target had already, lose nothing."""
    drafter = Drafter(context, stream)
    judges = [(rule.digest, rule.judge()) for rule in rules]
    found = dict.fromkeys((rule.digest for rule in rules), 0)
    for record in _sent_records(context, stream):
        one = decode_record(record, stream)
        if stream.adopted(one) or reason_not_to_send(context, stream, record, one):
            continue
        draft = drafter.draft(one)
        for name, touched in judges:
            found[name] += touched(draft)
    return found


def _sent_records(context: RunContext, stream: Stream) -> Iterator[Record]:
    """All records; of users without those that the target has already and that are only linked."""
    entity, records = context.owner.get(stream.name), walk(context, stream.table)
    if entity is None or not entity.matches_users or not stream.natural:
        yield from records
        return
    while some := list(islice(records, WALKED_AT_ONCE)):
        linked: set[str] = set()
        with suppress(Permanent, GateUnmet):  # a target without a user search links none
            linked = find_linked(context, stream, some)
        yield from (one for one in some if one.row_key not in linked)


# ---------------------------------------------------------------- how many there are in all


def _is_read(context: RunContext, stream: Stream) -> bool:
    """To its end, and not only the first few for a try. Files belong to every entity that has any."""
    if stream.name in context.owner:
        owners = [context.owner[stream.name]]
    else:
        owners = [one for one in context.entities if any(stream.files for stream in one.streams)]
    states = States(context.store)
    read = all(states.read(one.name).phase("get").state == DONE for one in owners)
    return read and not any(row.values.get("Limited") for row in _latest(context, stream))


def _latest(context: RunContext, stream: Stream) -> list[RegisterRow]:
    return [row for row in context.store.rows(INVENTORY, prefix=f"{stream.name}:") if row.values.get("IsLatest")]


def _total(context: RunContext, stream: Stream) -> int | None:
    """By the inventory, else by the analysis."""
    for row in _latest(context, stream):
        if row.values.get("ReportedTotal") is not None:
            return int(row.values["ReportedTotal"])
    analysis = forecast.load_last(context.store)
    expected = {one.stream: one.records for one in analysis.streams} if analysis else {}
    estimate = expected.get(stream.name)
    return None if estimate is None else round(estimate.value if estimate.exact else estimate.high)


# ---------------------------------------------------------------- what was counted before


def _key(context: RunContext, stream: Stream, rules: Sequence[Rule], staged: int) -> str:
    """Changes with everything the count depends on: the pass, the custom fields that are sent, the users that are
    linked."""
    entity = context.owner.get(stream.name)
    pass_no = States(context.store).read(entity.name).pass_no if entity else 0
    fields = context.store.rows(FIELD_MAP, prefix=f"{entity.name}:") if entity and stream.custom.prefixes else []
    wanted = [[row.key, row.values.get("TargetField"), row.values.get("Included")] for row in fields]
    parts = [staged, pass_no, _is_read(context, stream), count_linked(context, stream), wanted]
    if stream.forbidden:
        parts.append(sorted(context.options.allow_activities))
    return digest([sorted(rule.digest for rule in rules), *parts])


def _load_counts(context: RunContext, stream: Stream, rules: Sequence[Rule], staged: int) -> Mapping[str, int] | None:
    row = context.store.read(FIDELITY, COUNTS + stream.name)
    if row is None or row.values["Hash"] != _key(context, stream, rules, staged):
        return None
    return {str(name): int(number) for name, number in row.values["Data"].items()}


def _save_counts(
    context: RunContext, stream: Stream, rules: Sequence[Rule], staged: int, found: Mapping[str, int]
) -> None:
    key, now = _key(context, stream, rules, staged), utc_text(context.clock.now().replace(microsecond=0))
    context.store.write(FIDELITY, [RegisterRow(COUNTS + stream.name, {"Hash": key, "Data": dict(found), "AtUtc": now})])
