"""The data that every CRM record is made from: users, times and the IDs of other records."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from b24sim.company.chance import chance
from b24sim.company.crm_ids import STEP, CrmIds
from b24sim.company.people import People, is_active
from b24sim.company.plan import ANCHOR, DAY
from b24sim.moments import Moments
from b24sim.table import Row

AGE = 1_000 * DAY
NOBODY = 90_001  # an author who is not among the users any more


@dataclass(slots=True)
class World:
    """Decided once; records are written out from it on demand."""

    seed: int
    moments: Moments
    ids: CrmIds
    staff: list[int]
    dismissed: list[int]
    longest_text: int
    portal_url: str = ""
    _days: dict[int, str] = field(default_factory=dict)

    def author(self, place: int, luck: int) -> int:
        """Mostly an employee; sometimes one who left, sometimes one who was deleted."""
        if place % 41 == 11:
            return NOBODY
        if place % 23 == 5 and self.dismissed:
            return self.dismissed[luck % len(self.dismissed)]
        return self.staff[luck % len(self.staff)]

    def day(self, unix: float) -> str:
        """A date as the system fields show it: the clock part equals the offset, where that is not negative."""
        day = int(unix) // DAY
        if day not in self._days:
            text = datetime.fromtimestamp(day * DAY, UTC).strftime("%Y-%m-%d")
            offset = self.moments.offset_s(day * DAY)
            self._days[day] = f"{text}T{_clock(max(0, offset))}{_sign(offset)}{_clock(abs(offset))[:5]}"
        return self._days[day]

    def midnight(self, unix: float) -> str:
        """A date as custom fields show it: local midnight."""
        offset = self.moments.offset_s(unix)
        text = datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d")
        return f"{text}T00:00:00{_sign(offset)}{_clock(abs(offset))[:5]}"


@dataclass(frozen=True, slots=True)
class Times:
    """When the records of one type were made and changed, cheap enough to ask for all of them."""

    seed: int
    kind: str
    count: int

    def luck(self, place: int) -> int:
        return chance(self.seed, self.kind, place)

    def created(self, place: int, luck: int) -> int:
        step = AGE // max(1, self.count)
        return int(ANCHOR) - AGE + place * AGE // max(1, self.count) + luck % max(1, step)

    def updated(self, place: int, luck: int) -> int:
        created = self.created(place, luck)
        return created + (luck >> 9) % max(1, int(ANCHOR) - created)


@dataclass(frozen=True, slots=True)
class Made:
    """A record: what is its own, as JSON; which variant it shares the rest with; what is out of the ordinary."""

    own: bytes
    variant: int
    special: Row | None = None


class FileId(int):
    """The number of a file in a field; each method shows it in its own way."""


def world_of(people: People, ids: CrmIds) -> World:
    gone = [number for number in people.healthy if not is_active(people, number)]
    return World(people.plan.seed, people.moments, ids, people.healthy, gone, people.plan.longest_text)


def place_of(number: int) -> int:
    """The inverse of `spread`."""
    return number - number // STEP - 1


def one_of(ids: Sequence[int], luck: int) -> int:
    """Some id, 0 where there is none."""
    return ids[luck % len(ids)] if ids else 0


def deleted_among(ids: Sequence[int], luck: int) -> int:
    """An id that is not there any more."""
    return STEP * (1 + luck % (1 + len(ids) // STEP))


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"


def _sign(offset: int) -> str:
    return "-" if offset < 0 else "+"
