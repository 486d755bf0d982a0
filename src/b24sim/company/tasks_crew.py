"""The users of a task and its state, decided by its place alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from b24sim.company.chance import chance
from b24sim.company.people import ADMIN, is_active
from b24sim.company.plan import ANCHOR, DAY

if TYPE_CHECKING:
    from b24sim.company.company import Company

# Above the ids that old chats of tasks name: what those belonged to is deleted.
FIRST_ID = 20_001
GAP = 3
HISTORY_DAYS = 900
CYCLE, SELF_PARENT = (11, 12), 13


@dataclass(frozen=True, slots=True)
class Crew:
    """People of a task. The creator or the responsible may be somebody the portal no longer knows."""

    creator: int
    responsible: int
    accomplices: tuple[int, ...]
    auditors: tuple[int, ...]

    @property
    def everybody(self) -> list[int]:
        return list(dict.fromkeys((self.creator, self.responsible, *self.accomplices, *self.auditors)))


def acquainted(company: "Company", crew: Crew) -> list[int]:
    """Those that the portal knows."""
    return [user for user in crew.everybody if user <= company.people.ids[-1]] or [ADMIN]


def luck_of(company: "Company", kind: str, place: int) -> int:
    return chance(company.plan.seed, kind, place)


def task_id(company: "Company", place: int) -> int:
    return FIRST_ID + GAP * place + luck_of(company, "task id", place) % 2


def place_of(company: "Company", number: int) -> int | None:
    place = (number - FIRST_ID) // GAP
    return place if 0 <= place < company.plan.task_count and task_id(company, place) == number else None


def created_at(company: "Company", place: int) -> float:
    """Later tasks have higher ids."""
    step = HISTORY_DAYS * DAY / max(1, company.plan.task_count)
    return int(
        ANCHOR - (HISTORY_DAYS + 5) * DAY + place * step + luck_of(company, "task made", place) % max(1, int(step))
    )


def crew_of(company: "Company", place: int) -> Crew:
    staff, luck = company.people.healthy, luck_of(company, "crew", place)
    stranger = company.people.ids[-1] + 500 + place % 7
    creator, responsible = staff[luck % len(staff)], staff[(luck >> 12) % len(staff)]
    gone = _dismissed(company, luck) if place % 13 in {4, 6} else 0
    if gone:
        creator, responsible = (gone, responsible) if place % 13 == 6 else (creator, gone)
    creator = stranger if place % 29 == 9 else creator
    responsible = stranger if place % 31 == 14 else responsible
    return Crew(creator, responsible, _some(staff, luck >> 24, (0, 0, 1, 2)), _some(staff, luck >> 36, (0, 1, 0, 3)))


def _dismissed(company: "Company", luck: int) -> int:
    staff = company.people.healthy
    some = (staff[(luck + step) % len(staff)] for step in range(60))
    return next((user for user in some if not is_active(company.people, user)), 0)


def _some(staff: list[int], luck: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    size = sizes[luck % len(sizes)]
    return tuple(dict.fromkeys(staff[(luck + 5 * step) % len(staff)] for step in range(size)))


def parent_of(company: "Company", place: int) -> int:
    """0 for a root. Some parents come later, some are gone, and three tasks are their own ancestors."""
    count = company.plan.task_count
    if place == SELF_PARENT:
        return task_id(company, place)
    if place in CYCLE and count > max(CYCLE):
        return task_id(company, sum(CYCLE) - place)
    if place % 23 == 7:
        return FIRST_ID + GAP * place + GAP - 1
    if place % 17 == 4 and place + 3 < count:
        return task_id(company, place + 3)
    return task_id(company, place - 1) if place % 4 in {2, 3} and place > 1 else 0


def group_of(company: "Company", groups: tuple[int, ...], place: int) -> int:
    """0 outside groups; some groups are deleted."""
    luck = luck_of(company, "task group", place)
    if place % 19 == 5:
        return 900_000 + place
    return groups[luck % len(groups)] if groups and luck % 2 else 0
