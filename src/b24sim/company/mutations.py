"""Days of work on a portal: records appear, change and go in every stream, the same ones for the same seed.

Dates move where a portal moves them and nowhere else (kernel 25.100, where the documentation is silent). Changes that a
client with a filter by date cannot see are returned with the reason.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from b24sim.company.company import Company

T = TypeVar("T")
CREATED, CHANGED, DELETED, HIDDEN = "created", "changed", "deleted", "hidden"
DELETIONS = 0.1  # of the share of changes
CREATIONS = 0.5
RESTORED = 0.05

# Why no date tells of it.
TRAPS = {
    "undated_stream": "records of this stream have no date that a filter takes",
    "department_moved": "another department in the company structure leaves TIMESTAMP_X as it was",
    "group_settings": "DATE_UPDATE of a group moves only where the writer names it",
    "member": "members of a group have no date, and DATE_UPDATE of the group does not move",
    "restored": "out of the recycle bin with a new id and the old dates",
    "imported": "created with dates that the caller gave",
    "bound_from_company": "bound in the card of the company: updatedTime of the contact does not move",
    "links_rewritten": "the company or contact it named is deleted: the link is taken out without a date",
    "merged": "the company or contact it named is merged into another: the link names that one, without a date",
    "late_commit": "the request set the time first and showed the change up to a minute later",
    "rows_same_sum": "product rows of the same sum, written the old way: updatedTime does not move",
    "option_deleted": "an option of a list is deleted: values go without a date",
    "task_restored": "out of the recycle bin with the same id and the old dates",
    "parent_deleted": "the task above it is deleted: PARENT_ID is written without a date",
    "changed_date_set": "an integration set CHANGED_DATE to an older time",
    "checklist": "items of checklists move no date of their task",
    "comment_dated_back": "ACTIVITY_DATE becomes the date of the comment, which lies in the past",
    "comment_in_chat": "a message in the chat of a task moves no date of the task",
    "comment_edited": "an edited comment moves nothing",
    "comment_deleted": "a deleted comment moves no date, only COMMENTS_COUNT",
    "message_edited": "an edit moves no id; IS_EDITED only where others had seen the message",
    "message_deleted": "the row stays under its id with IS_DELETED",
    "message_erased": "the row is gone: message_count falls, and so does the last id if it was the last",
    "reaction": "a reaction moves nothing",
    "chat_settings": "changed without a message in the chat",
    "participant_swapped": "changed without a message in the chat",
    "hidden": "not deleted: the owner of the webhook sees it no more",
    "post_edited": "an edited post keeps its date and its place in the feed",
    "feed_comment_edited": "an edited comment moves nothing",
    "activity_bound": "one more record that it belongs to moves no date of an activity",
    "owner_deleted": "a record that it belonged to is deleted: it belongs to the others from now on, without a date",
    "call_changed": "calls have no date of a change",
    "product_values": "values of properties that are written past the product leave its date as it was",
    "feed_comment_deleted": "a deleted comment moves nothing but NUM_COMMENTS of its post",
}


@dataclass
class Report:
    """What was done, by stream: ids as the dump has them. What came and went again is in none of the lists; what was
    changed may have been changed back. `hidden` is there still, but the owner of a webhook sees it no more."""

    streams: dict[str, dict[str, dict[str, bool]]] = field(default_factory=dict)
    invisible: list[dict[str, str]] = field(default_factory=list)
    noise: list[dict[str, str]] = field(default_factory=list)

    def note(self, stream: str, done: str, number: object, trap: str = "", *, as_it_was: bool = False) -> None:
        """`as_it_was`: what comes back is what went."""
        key = str(number)
        lists = self.streams.setdefault(stream, {name: {} for name in (CREATED, CHANGED, DELETED, HIDDEN)})
        if done == CREATED and key in lists[DELETED]:
            if lists[DELETED].pop(key) or not as_it_was:
                lists[CHANGED][key] = True
        elif done == DELETED:
            lists[HIDDEN].pop(key, None)
            changed = lists[CHANGED].pop(key, False)
            if not lists[CREATED].pop(key, False):
                lists[DELETED][key] = changed
        elif done != CHANGED or key not in lists[CREATED]:
            lists[done][key] = True
        if trap:
            self.invisible.append({"stream": stream, "id": key, "done": done, "trap": trap, "why": TRAPS[trap]})

    def moved(self, stream: str, number: object, why: str) -> None:
        """A date moved although nothing changed that is migrated."""
        self.noise.append({"stream": stream, "id": str(number), "why": why})

    def to_json(self) -> dict[str, Any]:
        streams = {name: {done: list(ids) for done, ids in lists.items()} for name, lists in self.streams.items()}
        return {"streams": dict(sorted(streams.items())), "invisible": self.invisible, "noise": self.noise}


@dataclass
class Day:
    """One day: chance, its hours, how much of everything changes, and what was done."""

    company: Company
    chance: Random
    start: float
    length: float
    share: float
    owners: frozenset[int]
    without: Collection[str]
    report: Report
    _events: int = 0

    def now(self) -> float:
        """Later with every event, and never after the end of the day."""
        self._events += 1
        return self.start + self.length * (1 - 500 / (500 + self._events))

    def amount(self, records: int, rate: float = 1.0) -> int:
        return min(records, int(records * self.share * rate + self.chance.random()))

    def some(self, known: Sequence[T], rate: float = 1.0) -> list[T]:
        """Some of them, as many as the share says."""
        return [known[place] for place in sorted(self.chance.sample(range(len(known)), self.amount(len(known), rate)))]

    def one(self, known: Sequence[T]) -> T:
        return known[self.chance.randrange(len(known))]

    def kind(self, kinds: Iterable[str]) -> str:
        """One of them; unwanted ones are left out."""
        return self.one([kind for kind in kinds if kind not in self.without] or [""])

    def wants(self, trap: str) -> bool:
        return trap not in self.without

    def word(self) -> str:
        return f"{self.chance.getrandbits(32):08x}"

    def staff(self) -> list[int]:
        """People who may come and go: none who owns a webhook."""
        company = self.company
        return [user for user in company.users if company.is_active(user) and user not in self.owners]


Habit = Callable[[Day], None]
