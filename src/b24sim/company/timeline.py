"""The timeline of CRM records: comments, notes beside them and beside activities, and entries of applications."""

from collections.abc import Callable, Sequence

from b24sim.company.activities import Activities, Owner
from b24sim.company.attachments import Attachment, Attachments, Family, attachment_id, own_object
from b24sim.company.crm import Crm
from b24sim.company.crm_ids import DEAL, LEAD, spread
from b24sim.company.crm_world import Times, place_of
from b24sim.company.plan import Plan
from b24sim.table import Row, Table

KEPT = 20_000
FILES_OF_ONE = 2
NOTED_COMMENTS, NOTED_ACTIVITIES = 9, 7  # one of so many has a note
FIRST_ENTRY = 1_000_000_000  # a portal counts comments and entries together
# What the types of records in the recycle bin are called (kernel crm 24.1300, CCrmOwnerType).
SUSPENDED = "sus_"
TEXTS = (
    "Созвонились, ждёт [B]счёт[/B]",
    "[USER=%user%]Коллега[/USER], проверь договор",
    "См. файл [DISK FILE ID=n%file%]",
    "Клиент: «перезвоните» &amp; <срочно> 😀",
    "[URL=%portal%/crm/contact/details/%contact%/]Контакт[/URL] подтвердил",
    "Ок",
)


class Timeline:
    """Comments and entries under their ids, and which records each belongs to."""

    def __init__(
        self, plan: Plan, crm: Crm, activities: Activities, attachments: Attachments, portal_url: Callable[[], str]
    ):
        self.crm, self.activities, self._portal_url = crm, activities, portal_url
        comments, entries = (0, 0) if plan.box else (plan.crm_comments, plan.log_entries)
        self.has_notes = plan.crm_notes and not plan.box
        self._times = Times(plan.seed, "crm comments", comments)
        self._entry_times = Times(plan.seed, "log entries", entries)
        self.comments = Table(spread(comments), self._comment, KEPT)
        self.entries = Table([FIRST_ENTRY + number for number in spread(entries)], self._entry, KEPT)
        self._begun = set(spread(comments))
        # by id the deleted records that it belonged to, and what it was, where it belongs to no other
        self.recycled: dict[int, tuple[list[Owner], Row | None]] = {}
        self._own_owners: dict[int, list[Owner]] = {}
        self._entry_owners: dict[int, Owner] = {}
        self.own_notes: dict[tuple[int, int], Row | None] = {}
        self._shown: tuple[int, dict[Owner, list[int]]] = (-1, {})
        self._shown_entries: tuple[int, dict[Owner, list[int]]] = (-1, {})
        attachments.family(Family.TIMELINE, self._attachment)

    # ------------------------------------------------------------ whom they belong to

    def owners(self, number: int) -> list[Owner]:
        """One comment in three was written to a lead or to another record that a deal came from."""
        if number in self._own_owners:
            return list(self._own_owners[number])
        place = place_of(number)
        luck = self._times.luck(place)
        owners = self.activities.owners
        more = [owners.of_kind(DEAL, luck >> 4), owners.of_kind(LEAD, luck >> 9)] if place % 3 == 1 else []
        return list(dict.fromkeys([owners.any(luck), *(one for one in more if one)]))

    def bind(self, number: int, owners: Sequence[Owner]) -> None:
        self._own_owners[number] = list(owners)
        self.comments.version += 1

    def comments_of(self, owner: Owner) -> list[int]:
        if self._shown[0] != self.comments.version:
            found: dict[Owner, list[int]] = {}
            for number in self.comments:
                for one in self.owners(number):
                    found.setdefault(one, []).append(number)
            self._shown = (self.comments.version, found)
        return self._shown[1].get(owner, [])

    def entry_owner(self, number: int) -> Owner:
        if number in self._entry_owners:
            return self._entry_owners[number]
        return self.activities.owners.any(self._entry_times.luck(place_of(number - FIRST_ENTRY)))

    def entries_of(self, owner: Owner) -> list[int]:
        if self._shown_entries[0] != self.entries.version:
            found: dict[Owner, list[int]] = {}
            for number in self.entries:
                found.setdefault(self.entry_owner(number), []).append(number)
            self._shown_entries = (self.entries.version, found)
        return self._shown_entries[1].get(owner, [])

    def own_entry(self, number: int, owner: Owner) -> None:
        self._entry_owners[number] = owner

    # ------------------------------------------------------------ the recycle bin

    def recycle(self, owner: Owner) -> list[tuple[str, int, bool]]:
        """What belongs to no other record than a deleted one is in no list any more, and found by its id as before
        (kernel crm 24.1300, TimelineManager::transferOwnership). Returns stream, id, and whether it went."""
        found: list[tuple[str, int, bool]] = []
        for number in list(self.comments_of(owner)):
            rest = [one for one in self.owners(number) if one != owner]
            self._keep(number, owner, None if rest else self.comments.row(number))
            self.bind(number, rest)
            if not rest:
                self.comments.remove(number)
            found.append(("crm_comments", number, not rest))
        for number in list(self.entries_of(owner)):
            self._keep(number, owner, self.entries.row(number))
            self.entries.remove(number)
            found.append(("crm_logs", number, True))
        return found

    def _keep(self, number: int, owner: Owner, row: Row | None) -> None:
        owners = [*self.recycled[number][0], owner] if number in self.recycled else [owner]
        self.recycled[number] = owners, row

    # ------------------------------------------------------------ rows

    def _comment(self, number: int) -> Row:
        place = place_of(number)
        luck, files = self._times.luck(place), self._files(place)
        contact = self.activities.owners.of_kind(3, luck)
        text = TEXTS[place % len(TEXTS)].replace("%user%", str(self.crm.world.author(place + 1, luck)))
        text = text.replace("%file%", str(files[0] if files else 0)).replace("%portal%", self._portal_url())
        return {
            "ID": str(number),
            "CREATED": self.crm.world.moments.iso(self._times.created(place, luck)),
            "COMMENT": text.replace("%contact%", str(contact[1] if contact else 1)),
            "AUTHOR_ID": str(self.crm.world.author(place, luck)),
            "_FILES": files,
        }

    def _entry(self, number: int) -> Row:
        place = place_of(number - FIRST_ENTRY)
        luck = self._entry_times.luck(place)
        return {
            "id": number,
            "created": self.crm.world.moments.iso(self._entry_times.created(place, luck)),
            "authorId": self.crm.world.author(place, luck),
            "title": f"Обмен с 1С {number}",
            "text": "Документ выгружен",
            "iconCode": "info",
        }

    def note(self, kind: int, number: int) -> Row | None:
        """Of a comment (1) or an activity (2)."""
        if (kind, number) in self.own_notes:
            return self.own_notes[kind, number]
        every = NOTED_COMMENTS if kind == 1 else NOTED_ACTIVITIES
        begun = self._begun if kind == 1 else self.activities.begun
        if not self.has_notes or number % every != 2 or number not in begun:
            return None
        luck, moments = self._times.luck(number), self.crm.world.moments
        at = moments.iso(1_780_000_000 + luck % 9_000_000)
        who = self.crm.world.author(number, luck)
        return {
            "text": f"Заметка {number}",
            "createdById": who,
            "createdTime": at,
            "updatedById": who,
            "updatedTime": at,
        }

    def _files(self, place: int) -> list[int]:
        count = FILES_OF_ONE if place % 12 == 2 else 1 if place % 6 == 2 else 0
        return [own_object(attachment_id(Family.TIMELINE, place * FILES_OF_ONE + k)) for k in range(count)]

    def _attachment(self, ordinal: int, number: int) -> Attachment | None:
        place, k = divmod(ordinal, FILES_OF_ONE)
        if place >= len(self._begun) or k >= len(self._files(place)):
            return None
        return Attachment(number, own_object(number), "crm", "timeline", place)
