"""How portals differ where the documentation is silent. The defaults are what hurts most."""

from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from b24sim.filters import split

if TYPE_CHECKING:
    from b24sim.context import Context

NO_ORDER, ASCENDING, DESCENDING = "none", "ascending", "descending"
INSTANT, SHIFTED = "instant", "shifted"


@dataclass(frozen=True, slots=True)
class Habits:
    """`*_order`: of rows when no order is asked for. `*_dates`: a time with an offset in a filter is an instant, or the
    portal reads it as the caller's local time (`other_dates`: in user.get, sonet_group.get, crm.type.list and
    bizproc.*). `*_page`: the most rows of a page, whatever limit is asked for. `bare_entries`: entries of a
    timeline come as the list itself, by `start`, as the documentation says; portals wrap the list and read `offset`."""

    user_order: str = NO_ORDER
    crm_order: str = NO_ORDER
    crm_dates: str = SHIFTED
    task_dates: str = INSTANT
    other_dates: str = SHIFTED
    message_page: int = 50
    recent_page: int = 200
    bare_entries: bool = False


UNREADABLE = "-"  # an invalid time matches nothing
COMPARISONS = {">", ">=", "<", "<=", "><"}


def as_read(context: "Context", conditions: Any, dates: str, times: Container[str]) -> Any:
    """A filter as the portal understands it; `times` are the fields that hold one. Where times are shifted, one is
    turned into the server's local time and then read as the caller's: east of the server the boundary comes too early,
    west of it too late (kernel 25.100, module crm; the older lists and tasks.task.list take an instant)."""
    company = context.portal.company
    server, own = company.moments, company.moments_of(context.caller.user)

    def moment(value: Any) -> str:
        at = (own if dates == INSTANT else server).parse(value)
        if at is None:
            return UNREADABLE
        return server.iso(at if dates == INSTANT else at - own.offset_s(at) + server.offset_s(at))

    def read(asked: Any) -> Any:
        if isinstance(asked, list):
            return [read(one) for one in asked]
        return {key: value_of(str(key), value) for key, value in asked.items()} if isinstance(asked, dict) else asked

    def value_of(key: str, value: Any) -> Any:
        operator, name = split(key)
        if name not in times or operator.lstrip("!") not in COMPARISONS:
            return read(value)
        return [moment(one) for one in value] if isinstance(value, list) else moment(value)

    return read(conditions)
