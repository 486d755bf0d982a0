"""Schedules of recurring deals, each with its template: a deal that is made for it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from b24sim.company.crm import Crm
from b24sim.company.crm_ids import DEAL
from b24sim.company.crm_world import Times
from b24sim.errors import known_number
from b24sim.moments import Moments
from b24sim.table import Row, Table

if TYPE_CHECKING:
    from b24sim.company.company import Company

STREAM = "crm_recurring"
AGE_S = 30 * 86_400
# crm-deal-recurring-list.md: these names are in lower case, and only there
LOWER = {name: name.lower() for name in ("ID", "DEAL_ID", "BASED_ID", "CATEGORY_ID")}
EXECUTIONS = ("NEXT_EXECUTION", "LAST_EXECUTION")
PERIODS = ("day", "week", "month", "year")


class Schedules:
    def __init__(self, crm: Crm, count: int) -> None:
        self.crm = crm
        self.table = Table([], lambda _: {})
        for place in range(count):
            self.add(place)

    def add(self, place: int, now: float = 0.0, **fields: Any) -> int:
        """With a template like some deal, for nobody yet."""
        deals, number = self.crm.items[DEAL], self.table.next_id()
        based = self.crm.ids.deal_ids[place % len(self.crm.ids.deal_ids)] if self.crm.ids.deal_ids else 0
        template = deals.next_id()
        row = deals.ordinary(based or 1) | {"id": template, "_productRows": [], "contactIds": [], "contactId": 0}
        row |= {"companyId": 0, **{name: None for name in row if name.startswith("parentId")}}
        if now:
            moment = self.crm.world.moments.iso(now)
            row |= dict.fromkeys(("createdTime", "updatedTime", "movedTime", "lastActivityTime"), moment)
        deals.put(template, row | {"isRecurring": "Y", "title": f"Каждый раз №{number}"})
        self.table.put(number, self._row(number, place, template, based) | fields)
        return number

    def shown(self, number: int, own: Moments) -> Row:
        """To somebody with these moments."""
        row = self.table.row(number)
        moved = {name: self._moved(row[name], own) for name in EXECUTIONS if row[name]}
        return {LOWER.get(name, name): value for name, value in (row | moved).items()}

    def _moved(self, day: str, own: Moments) -> str:
        """A date that the method takes for a time (kernel crm 24.1300, DealRecurTable and CCrmDealRecurringRestProxy):
        midnight of the server, moved by what lies between its zone and that of the caller (CRestUtil)."""
        server = self.crm.world.moments
        midnight = datetime.fromisoformat(day).astimezone(UTC).replace(tzinfo=server.zone).timestamp()
        return server.iso(midnight - own.offset_s(midnight) + server.offset_s(midnight))

    def templates(self) -> set[int]:
        """No portal deletes these deals (crm classes/general/crm_deal.php)."""
        return {int(self.table.row(one)["DEAL_ID"]) for one in self.table}

    def _row(self, number: int, place: int, template: int, based: int) -> Row:
        world = self.crm.world
        begun = Times(world.seed, STREAM, 1).created(0, 0) + place * AGE_S
        limited = place % 3
        return {
            "ID": str(number), "DEAL_ID": str(template), "BASED_ID": str(based) if place % 2 == 0 else None,
            "ACTIVE": "Y" if place % 4 else "N", "CATEGORY_ID": "0", "IS_LIMIT": ("N", "D", "T")[limited],
            "COUNTER_REPEAT": str(place) if place else None, "LIMIT_REPEAT": "12" if limited == 2 else None,
            "LIMIT_DATE": world.day(begun + 12 * AGE_S) if limited == 1 else "", "START_DATE": world.day(begun),
            "NEXT_EXECUTION": world.day(begun + 2 * AGE_S), "LAST_EXECUTION": world.day(begun) if place else "",
            "PARAMS": {
                "MODE": "multiple", "SINGLE_BEFORE_START_DATE_TYPE": "day", "SINGLE_BEFORE_START_DATE_VALUE": 0,
                "MULTIPLE_TYPE": PERIODS[place % 4], "MULTIPLE_INTERVAL": 1 + place, "OFFSET_BEGINDATE_TYPE": "day",
                "OFFSET_BEGINDATE_VALUE": place, "OFFSET_CLOSEDATE_TYPE": "day", "OFFSET_CLOSEDATE_VALUE": 1,
            },
        }  # fmt: skip


# ---------------------------------------------------------------- changes

Change = Callable[["Company", float, dict[str, Any]], list[int]]


def add(company: "Company", now: float, wish: dict[str, Any]) -> list[int]:
    return [company.schedules.add(len(company.schedules.table), now, **wish.get("fields", {}))]


def update(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    number = known_number(company.schedules.table, wish)
    company.schedules.table.put(number, company.schedules.table.row(number) | wish.get("fields", {}))
    return [number]


def delete(company: "Company", _now: float, wish: dict[str, Any]) -> list[int]:
    """With its template."""
    number = known_number(company.schedules.table, wish)
    company.crm.items[DEAL].remove(int(company.schedules.table.row(number)["DEAL_ID"]))
    company.schedules.table.remove(number)
    return [number]


RECURRING_CHANGES: dict[tuple[str, str], Change] = {
    (STREAM, "add"): add,
    (STREAM, "update"): update,
    (STREAM, "delete"): delete,
}
