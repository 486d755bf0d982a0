"""What a box does not keep of CRM records when its own import takes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from b24migrate.fidelity import Draft, Judge, Keeping, Rule
from b24migrate.target.rest.box import Box
from b24migrate.target.rest.crm_times import changes, first_floor
from b24migrate.target.rest.words import Rules

RAISED = "The box takes no record to be older than the one before it; an earlier time is raised to that."
CHANGED = "The box takes the time of the move where product rows are written after the record; an earlier one is raised."
MOVER = "Whoever writes product rows counts as the last who changed the record: the owner of the webhook."
STAMPED = "The source's number is kept there, so that nothing arrives twice."
SUM = "The box adds up the product rows itself, unless the sum was given by hand."
COPIED = "The file arrives as a copy with a number of its own."


def has_rows(draft: Draft) -> bool:
    return bool(draft.get("productRows"))


def another_sum(draft: Draft) -> bool:
    if not has_rows(draft) or draft.get("isManualOpportunity"):
        return False
    rows = draft["productRows"]
    total = sum(float(row.get("price") or 0) * float(row.get("quantity") or 0) for row in rows)
    return abs(total - float(draft.get("opportunity") or 0)) > 0.005


def rules_of(stream: str, number: str) -> Rules:
    def rules(box: Box) -> Sequence[Rule]:
        floors = {"": first_floor(box, number)} if number else {}

        def too_early(name: str) -> Judge:
            return changes(name, floors)

        def changed_later() -> Judge:
            early = too_early("updatedTime")
            return lambda draft: early(draft) | has_rows(draft)

        lost = Keeping.APPROXIMATED
        found = [
            Rule(stream, "createdTime", lost, RAISED, running=partial(too_early, "createdTime")),
            Rule(stream, "movedTime", lost, RAISED, running=partial(too_early, "movedTime")),
            Rule(stream, "updatedTime", lost, CHANGED, running=changed_later),
            Rule(stream, "updatedBy", lost, MOVER, has_rows),
            Rule(stream, "opportunity", lost, SUM, another_sum),
            *(Rule(stream, name, Keeping.TRANSFORMED, STAMPED, partial(told, name)) for name in stamps(number)),
            *(Rule(stream, name, Keeping.TRANSFORMED, COPIED) for name in ("logo", "photo")),
        ]
        files = [code for code, kind in box.custom_types(stream).items() if kind == "file"]
        return [*found, *(Rule(stream, code, Keeping.TRANSFORMED, COPIED) for code in files)]

    return rules


def stamps(number: str) -> tuple[str, ...]:
    return ("originatorId", "originId") if number else ("xmlId",)


def told(name: str, draft: Draft) -> bool:
    """Whether the source says anything there, be it that there is nothing."""
    return name in draft
