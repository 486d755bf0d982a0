"""How portals differ where the documentation is silent. The defaults are what hurts most."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from b24sim.context import Context

NO_ORDER, ASCENDING, DESCENDING = "none", "ascending", "descending"
INSTANT, SHIFTED = "instant", "shifted"


@dataclass(frozen=True, slots=True)
class Habits:
    """`*_order`: of rows when no order is asked for. `*_dates`: a time with an offset in a filter is an instant, or the
    portal reads it as the caller's local time. `*_page`: the most rows of a page, whatever limit is asked for."""

    user_order: str = NO_ORDER
    crm_order: str = NO_ORDER
    crm_dates: str = SHIFTED
    task_dates: str = INSTANT
    message_page: int = 50
    recent_page: int = 200


def as_read(context: "Context", conditions: Any, dates: str) -> Any:
    """A filter as the portal understands it. Where times are shifted, one is turned into the server's local time and
    then read as the caller's: east of the server the boundary comes too early, west of it too late."""
    company = context.portal.company
    own = company.moments_of(context.caller.user)
    return conditions if dates == INSTANT or own is company.moments else _shifted(conditions, company.moments, own)


def _shifted(value: Any, server: Any, own: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shifted(item, server, own) for key, item in value.items()}
    if isinstance(value, list):
        return [_shifted(item, server, own) for item in value]
    at = server.parse(value) if isinstance(value, str) and "T" in value else None
    return value if at is None else server.iso(at - own.offset_s(at) + server.offset_s(at))
