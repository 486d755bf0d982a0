"""The size of a CRM and its IDs, so that other tables can refer to records without creating them.

Every tenth id is missing: such a record was deleted, and some of those that are left still name it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from b24sim.company.plan import Plan

LEAD, DEAL, CONTACT, COMPANY, QUOTE, SMART_INVOICE = 1, 2, 3, 4, 7, 31
LETTERS = {LEAD: "L", DEAL: "D", CONTACT: "C", COMPANY: "CO", QUOTE: "Q", SMART_INVOICE: "SI"}
STEP = 10
LOW_TYPES = (156, 177, 128)
FIRST_HIGH_TYPE = 1030


@dataclass(frozen=True, slots=True)
class SmartType:
    """A smart process. Its two numbers have nothing to do with each other."""

    id: int
    entity_type_id: int
    place: int


@dataclass(frozen=True, slots=True)
class CrmIds:
    """The records a CRM begins with: fixed by the plan, whatever changes later."""

    company_ids: Sequence[int]
    contact_ids: Sequence[int]
    deal_ids: Sequence[int]
    smart_types: tuple[SmartType, ...]
    smart_item_ids: Sequence[int]  # the same numbers in every smart process
    lead_ids: Sequence[int] = ()
    quote_ids: Sequence[int] = ()
    invoice_ids: Sequence[int] = ()

    def item_ids(self, entity_type_id: int) -> Sequence[int]:
        known = {COMPANY: self.company_ids, CONTACT: self.contact_ids, DEAL: self.deal_ids}
        known |= {LEAD: self.lead_ids, QUOTE: self.quote_ids, SMART_INVOICE: self.invoice_ids}
        if any(smart.entity_type_id == entity_type_id for smart in self.smart_types):
            return self.smart_item_ids
        return known.get(entity_type_id, ())


def crm_ids(plan: Plan) -> CrmIds:
    """Numbers that the plan does not name follow from the number of users; a box has none."""
    scale = 0 if plan.box else plan.users
    types = _wished(plan.smart_types, min(2, scale))
    return CrmIds(
        spread(_wished(plan.companies, scale)),
        spread(_wished(plan.contacts, 2 * scale)),
        spread(_wished(plan.deals, 3 * scale)),
        tuple(SmartType(13 + 4 * place, _entity_type_id(place), place) for place in range(types)),
        spread(_wished(plan.smart_items, scale)),
        *(spread(count) for count in (plan.leads, plan.quotes, plan.invoices)),
    )


def spread(count: int) -> Sequence[int]:
    """1 to 9, 11 to 19, and so on."""
    return [spread_at(place) for place in range(count)]


def spread_at(place: int) -> int:
    return place + place // (STEP - 1) + 1


def binding(entity_type_id: int, number: int) -> str:
    """`D_12`, and `T9c_3` for an item of the smart process 156."""
    return f"{letters(entity_type_id)}_{number}"


def letters(entity_type_id: int) -> str:
    return LETTERS.get(entity_type_id) or f"T{entity_type_id:x}"


def _wished(number: int | None, scaled: int) -> int:
    return scaled if number is None else number


def _entity_type_id(place: int) -> int:
    """128 to 191, then even numbers from 1030 on."""
    return LOW_TYPES[place] if place < len(LOW_TYPES) else FIRST_HIGH_TYPE + 2 * (place - len(LOW_TYPES))
