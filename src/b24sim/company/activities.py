"""Calls and activities of a CRM: letters, meetings, calls, to-dos, filled forms, and what only shows other records.

They come only where the plan asks for them. A place in the row of activities tells the kind, so that even a small
company has some of each.
"""

from collections.abc import Callable, Sequence

from b24sim.company.activity_rows import (
    CALL_PLACES,
    KINDS,
    activity_row,
    call_row,
    files_of_place,
)
from b24sim.company.attachments import Attachment, Attachments, Family, attachment_id, own_object
from b24sim.company.crm import Crm
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE, SMART_INVOICE, spread
from b24sim.company.crm_world import Times, deleted_among, place_of
from b24sim.company.plan import Plan
from b24sim.table import Row, Table

KEPT = 20_000  # rows that are remembered
FILES_OF_ONE = 4  # at most: the numbers of files depend on it
RECORDING = FILES_OF_ONE - 1
ORDER = 14  # a record that no portal lets go
Owner = tuple[int, int]


class Owners:
    """The CRM records that something may belong to, as they were in the beginning."""

    def __init__(self, plan: Plan, crm: Crm):
        asked = {LEAD: "leads", QUOTE: "quotes", SMART_INVOICE: "invoices"}
        more = [kind for kind, name in asked.items() if getattr(plan, name, 0)]
        kinds = (DEAL, CONTACT, COMPANY, *more, *(one.entity_type_id for one in crm.smart_types))
        there = {kind: crm.items.get(kind) for kind in kinds}
        self._ids: dict[int, Sequence[int]] = {kind: tuple(items.ids) for kind, items in there.items() if items}
        self.kinds = [kind for kind, ids in self._ids.items() if ids]

    def of_kind(self, kind: int, luck: int) -> Owner | None:
        ids = self._ids.get(kind)
        return (kind, ids[luck % len(ids)]) if ids else None

    def any(self, luck: int) -> Owner:
        """Of every kind; 0 and 0 where a CRM has no records."""
        return (self.of_kind(self.kinds[luck % len(self.kinds)], luck >> 8) if self.kinds else None) or (0, 0)

    def deleted_deal(self, luck: int) -> Owner:
        """A deal that was deleted."""
        return DEAL, deleted_among(self._ids.get(DEAL, ()), luck)


class Activities:
    """Rows under the ids of both streams, and which records each activity belongs to."""

    def __init__(self, plan: Plan, crm: Crm, attachments: Attachments, portal_url: Callable[[], str]):
        self.crm, self._portal_url = crm, portal_url
        self.owners = Owners(plan, crm)
        count, calls = (0, 0) if plan.box else (plan.crm_activities, plan.calls)
        self._times = Times(plan.seed, "activities", count)
        self._call_times = Times(plan.seed, "calls", calls)
        self.activities = Table(spread(count), self._activity, KEPT)
        self.calls = Table(spread(calls), self._call, KEPT)
        self._call_ids = spread(calls)
        self._activity_ids = spread(count)
        self.begun = frozenset(self._activity_ids)  # those that were there in the beginning
        self._own_bindings: dict[int, list[Owner]] = {}
        attachments.family(Family.ACTIVITY, self._attachment)

    # ------------------------------------------------------------ whom an activity belongs to

    def owner(self, number: int) -> Owner:
        """The main one: 0 and 0 for an orphan."""
        if number in self._own_bindings:
            return self._own_bindings[number][0] if self._own_bindings[number] else (0, 0)
        place, luck = self._place(number)
        if KINDS[place % len(KINDS)].orphan:
            return 0, 0
        return self.owners.deleted_deal(luck) if place % 67 == 43 else self.owners.any(luck)

    def bindings(self, number: int) -> list[Owner]:
        """All of them. Some belong to a deal besides, or to an order, which cannot be moved."""
        if number in self._own_bindings:
            return list(self._own_bindings[number])
        (place, luck), main = self._place(number), self.owner(number)
        if main == (0, 0):
            return []
        more = [self.owners.of_kind(CONTACT, luck >> 3), self.owners.of_kind(DEAL, luck >> 5)][: place % 3]
        more += [(ORDER, 1 + place)] if place % 11 == 4 else []
        return list(dict.fromkeys([main, *(one for one in more if one)]))

    def bind(self, number: int, owners: Sequence[Owner]) -> None:
        self._own_bindings[number] = list(owners)

    # ------------------------------------------------------------ rows

    def _place(self, number: int) -> tuple[int, int]:
        place = place_of(number)
        return place, self._times.luck(place)

    def _activity(self, number: int) -> Row:
        place, luck = self._place(number)
        moments = self.crm.world.moments
        created, updated = (which(place, luck) for which in (self._times.created, self._times.updated))
        call = call_of(place)
        files = [own_object(attachment_id(Family.ACTIVITY, place * FILES_OF_ONE + k)) for k in files_of_place(place)]
        if call is not None and call < len(self._call_ids):
            files = [recording_of(call)] if has_recording(call) else []
        return activity_row(
            number,
            place,
            owner=self.owner(number),
            author=self.crm.world.author(place, luck),
            luck=luck,
            created=moments.iso(created),
            updated=moments.iso(updated),
            origin=f"VI_{call_id(call)}" if call is not None and call < len(self._call_ids) else "",
            files=files,
            portal_url=self._portal_url(),
        )

    def _call(self, number: int) -> Row:
        call = place_of(number)
        luck = self._call_times.luck(call)
        place = 20 * (call // len(CALL_PLACES)) + CALL_PLACES[call % len(CALL_PLACES)]
        activity = self._activity_ids[place] if place < len(self._activity_ids) else 0
        return call_row(
            number,
            call_id(call),
            luck=luck,
            user=self.crm.world.author(call, luck),
            at=self.crm.world.moments.iso(self._call_times.created(call, luck)),
            owner=self.owner(activity) if activity else self.owners.any(luck),
            activity=activity,
            recording=recording_of(call) if has_recording(call) else 0,
        )

    def _attachment(self, ordinal: int, number: int) -> Attachment | None:
        place, k = divmod(ordinal, FILES_OF_ONE)
        made = Attachment(number, own_object(number), "crm", "activity", place)
        if k == RECORDING:
            return made if place < len(self._call_ids) and has_recording(place) else None
        return made if place < len(self._activity_ids) and k in files_of_place(place) else None


def call_of(place: int) -> int | None:
    """The call that the activity at a place is about."""
    round_, rest = divmod(place, 20)
    return round_ * len(CALL_PLACES) + CALL_PLACES.index(rest) if rest in CALL_PLACES else None


def call_id(call: int) -> str:
    return f"externalCall.{call:08x}.{call * 37 + 1_700_000_000}"


def has_recording(call: int) -> bool:
    return call % 4 in (0, 2)


def recording_of(call: int) -> int:
    return own_object(attachment_id(Family.ACTIVITY, call * FILES_OF_ONE + RECORDING))
