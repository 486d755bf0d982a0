"""Rules: data of CRM records that a box does not keep without the import module."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial

from b24migrate.entities.crm.rest_close_dates import is_closed
from b24migrate.entities.crm.rest_late import is_moved, is_raised
from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, Draft, Judge, Keeping, Rule
from b24migrate.model.records import Json
from b24migrate.targets.rest.box import PEOPLE, Box
from b24migrate.targets.rest.writer import Rules

LINK = re.compile(r"/(?:crm|company|workgroups|online)/|\[(?:CHAT|CONTEXT|DISK)", re.IGNORECASE)
RAISED = say("reason.rest_raised")
CHANGED = say("reason.rest_changed")
MOVER = say("reason.rest_mover")
STAMPED = say("reason.rest_stamp")
SUM = say("reason.rest_sum")
ZERO = say("reason.rest_zero")
NOBODY = say("reason.rest_nobody")
FIRST = say("reason.rest_first_client")
CLIENTS = (("companyId", "companyIds", "crm_companies"), ("contactId", "contactIds", "crm_contacts"))
CENT = 0.0101
LATE = ("parentId", "quoteId", "leadId")
CLOSED = say("reason.rest_closed")
TOLD = say("reason.rest_crm_noise")
STARTED = say("reason.rest_crm_started")
GONE = say("reason.rest_stage_gone")
RETURNED = say("reason.rest_return_customer")
COPIED = say("reason.rest_file")


def has_rows(draft: Draft) -> bool:
    return bool(draft.get("productRows"))


def comes_later(draft: Draft, codes: Collection[str]) -> bool:
    """Whether it may link to a record that is imported after it, so that it is changed once more."""
    filled = ((name, value) for name, value in draft.items() if value not in EMPTY)
    return any(name in codes or name.startswith(LATE) or _names_records(value) for name, value in filled)


def _names_records(value: Json) -> bool:
    return isinstance(value, str) and LINK.search(value) is not None


def has_another_sum(draft: Draft) -> bool:
    if not has_rows(draft) or draft.get("isManualOpportunity"):
        return False
    rows = draft["productRows"]
    total = sum(float(row.get("price") or 0) * float(row.get("quantity") or 0) for row in rows)
    return abs(total - float(draft.get("opportunity") or 0)) > CENT


def rules_of(stream: str, number: str) -> Rules:
    def rules(box: Box) -> Sequence[Rule]:
        def early(name: str) -> Judge:
            return partial(is_raised, box, stream, number, name)

        def changed_later() -> Judge:
            return lambda draft: later(draft) or is_raised(box, stream, number, "updatedTime", draft)

        def later(draft: Draft) -> bool:
            again = has_rows(draft) or comes_later(draft, box.codes_of(stream, "crm"))
            return again or (box.close_dates and is_closed(box, draft))

        def closed_today(draft: Draft) -> bool:
            """Whatever is written after the record sets it right."""
            return is_closed(box, draft) and not has_rows(draft)

        def changed_by(draft: Draft) -> bool:
            """It depends on what is imported by then."""
            return later(draft) or names_nobody(box, draft, "updatedBy")

        def moved_by(draft: Draft) -> bool:
            return names_nobody(box, draft, "movedBy") or is_moved(box, stream, draft)

        lost = Keeping.APPROXIMATED
        return [
            Rule(stream, "createdTime", lost, RAISED, early("createdTime")),
            Rule(stream, "movedTime", lost, RAISED, early("movedTime")),
            Rule(stream, "updatedTime", lost, CHANGED, running=changed_later),
            Rule(stream, "updatedBy", lost, MOVER, running=lambda: changed_by),
            Rule(stream, "categoryId", lost, GONE, lambda draft: no_pipeline(box, number, draft)),
            Rule(stream, "stageId", lost, GONE, lambda draft: no_stage(box, number, draft)),
            Rule(stream, "movedBy", lost, NOBODY, moved_by),
            *(
                Rule(stream, one, lost, FIRST, partial(has_another_first, box, one, many, to))
                for one, many, to in CLIENTS
            ),
            Rule(stream, "opportunity", lost, SUM, has_another_sum),
            Rule(stream, "isReturnCustomer", lost, RETURNED, lambda draft: bool(draft.get("isReturnCustomer"))),
            *(() if box.close_dates else [Rule(stream, "closedate", lost, CLOSED, running=lambda: closed_today)]),
            Rule(stream, "", Keeping.TRANSFORMED, TOLD, lambda _: True),
            Rule(stream, "", Keeping.TRANSFORMED, STARTED, later),
            *(
                Rule(stream, name, Keeping.TRANSFORMED, STAMPED, partial(is_present, name))
                for name in stamp_fields(number)
            ),
            *(Rule(stream, name, Keeping.TRANSFORMED, COPIED) for name in ("logo", "photo")),
            Rule(stream, "revenue", lost, ZERO, lambda draft: "revenue" in draft and draft["revenue"] is None),
            Rule(stream, "UF_*", Keeping.TRANSFORMED, COPIED, among=lambda name: name in box.codes_of(stream, "file")),
        ]

    return rules


def names_nobody(box: Box, draft: Draft, name: str) -> bool:
    """Whether the source names a user who cannot be found, or none."""
    who = draft.get(name)
    return name in draft and (who in EMPTY or not box.staged(PEOPLE, str(who)))


def has_another_first(box: Box, one: str, many: str, to: str, draft: Draft) -> bool:
    """Whether the first is gone, and there are others."""
    first = draft.get(one)
    if first not in EMPTY and box.staged(to, str(first)):
        return False
    return one in draft and any(box.staged(to, str(other)) for other in draft.get(many) or ())


def no_pipeline(box: Box, number: str, draft: Draft) -> bool:
    """Whether the record is in one that the source itself does not have any more."""
    where = draft.get("categoryId")
    kind = number or str(draft.get("entityTypeId"))
    return where not in (*EMPTY, 0) and not box.staged("crm_categories", f"{kind}:{where}")


def no_stage(box: Box, number: str, draft: Draft) -> bool:
    stage, where = draft.get("stageId"), draft.get("categoryId") or 0
    main = "DEAL_STAGE" if not where else f"DEAL_STAGE_{where}"
    stages = main if number else f"DYNAMIC_{draft.get('entityTypeId')}_STAGE_{where}"
    return stage not in EMPTY and not box.staged("crm_stages", f"{stages}:{stage}")


def stamp_fields(number: str) -> tuple[str, ...]:
    return ("originatorId", "originId") if number else ("xmlId",)


def is_present(name: str, draft: Draft) -> bool:
    """Whether the source has the field, even if it is empty."""
    return name in draft
