"""Schedules of recurring deals. The deal that one is for becomes a template, which people do not see."""

from b24sim.imports.kinds import BOOL, DATE, INT, OBJECT, TEXT, Fields, Inspection, Ref
from b24sim.imports.stream import Stream

DEAL = Ref("crm_deals")


def _is_switched_off(fields: Fields, seen: Inspection) -> None:
    seen.field = "ACTIVE"
    if fields.get("ACTIVE") is not False:
        raise seen.refuse("a schedule arrives switched off")


RECURRING_STREAMS = (
    Stream(
        "crm_recurring",
        "crm",
        {
            **dict.fromkeys(("DEAL_ID", "BASED_ID"), DEAL),
            **dict.fromkeys(("NEXT_EXECUTION", "LAST_EXECUTION", "START_DATE", "LIMIT_DATE"), DATE),
            **dict.fromkeys(("COUNTER_REPEAT", "LIMIT_REPEAT"), INT),
            "CATEGORY_ID": Ref("crm_categories", also=frozenset({"0"})),
            "IS_LIMIT": TEXT,
            "ACTIVE": BOOL,
            "PARAMS": OBJECT,
        },
        required=("DEAL_ID",),
        rules=(_is_switched_off,),
    ),
)
