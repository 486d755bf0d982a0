"""Files of the Drive that hang on something: a task, an item of a checklist, a comment, a post of the feed.

An attachment has an id of its own, which is not the id of the file: both are small numbers that overlap,
so a client that takes the one for the other gets the wrong bytes or none.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from b24sim.company.files import File, file_of
from b24sim.company.plan import ANCHOR

FIRST_ID = 1_000
# Every family draws ids of its own, so that each can be as long as it likes and none has to be counted.
STEP = 8
OBJECT_BASE = 2_000_000


class Family(IntEnum):
    """The owners of attachments. `LATER` is for those that are added while the portal is in use."""

    TASK = 0
    CHECKLIST = 1
    TASK_COMMENT = 2
    POST = 3
    POST_COMMENT = 4
    ACTIVITY = 5
    TIMELINE = 6
    LATER = 7


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to a record. A `guarded` file is on a user's own Drive: only its owner may open it there,
    although all users who see the record may open the attachment."""

    id: int
    object_id: int
    module: str
    entity_type: str
    entity_id: int
    created_by: int = 1
    created_at: float = ANCHOR
    guarded: bool = False


Make = Callable[[int, int], Attachment | None]
MayRead = Callable[[Attachment, int, bool], bool]


def attachment_id(family: Family, ordinal: int) -> int:
    return FIRST_ID + STEP * ordinal + family


def place_in_family(number: int) -> tuple[int, int]:
    """The ordinal and the family of an attachment."""
    return divmod(number - FIRST_ID, STEP)


def own_object(attachment: int) -> int:
    """The id of the file that belongs to that attachment alone."""
    return OBJECT_BASE + attachment


def _everybody(_attachment: Attachment, _user: int, _admin: bool) -> bool:
    return True


@dataclass(slots=True)
class Attachments:
    """All attachments of a company: families that make theirs from a number, and single ones."""

    seed: int
    _families: dict[Family, tuple[Make, MayRead]] = field(default_factory=dict)
    _single: dict[int, Attachment] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)  # files that another attachment names: they outlast the first one

    def family(self, family: Family, make: Make, may_read: MayRead = _everybody) -> None:
        """`make(ordinal, id)` writes the attachments of a family, or returns None."""
        self._families[family] = (make, may_read)

    def attach(
        self, module: str, entity_type: str, entity_id: int, *, by: int = 1, at: float = ANCHOR, file: int = 0
    ) -> Attachment:
        """Attach one more file, a new one unless an object of the Drive is named."""
        number = attachment_id(Family.LATER, len(self._single))
        made = Attachment(number, file or own_object(number), module, entity_type, entity_id, by, at)
        self._single[number] = made
        return made

    def find(self, number: int) -> Attachment | None:
        if number in self._single:
            return self._single[number]
        ordinal, family = place_in_family(number)
        if ordinal < 0 or family not in self._families:
            return None
        return self._families[Family(family)][0](ordinal, number)

    def readable(self, attachment: Attachment, user: int, admin: bool) -> bool:
        _, may_read = self._families.get(Family(place_in_family(attachment.id)[1]), (None, _everybody))
        return may_read(attachment, user, admin)

    def of_object(self, number: int) -> Attachment | None:
        """The attachment that brought a file of the Drive into the portal."""
        found = self.find(number - OBJECT_BASE)
        return found if found is not None and found.object_id == number else None

    def file(self, number: int) -> File | None:
        """A file by its id on the Drive; files of chats are not here."""
        there = number in self.shared or self.of_object(number) is not None
        return file_of(self.seed, number, number // STEP) if there else None
