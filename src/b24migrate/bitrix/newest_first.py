"""Facts about pages that go from the newest record down, such as `im.dialog.messages.get` by LAST_ID.

Facts (bitrix24-rest-1 §D5; api-reference/chats/messages/im-dialog-messages-get.md):
- LAST_ID brings ids below it. FIRST_ID=0 brings the oldest messages and the newest one or two
  (bitrix-tools/b24-rest-docs issue 344), so a history cannot be walked upwards from nothing.
- The documentation names no order inside a page, and a page may hold more than LIMIT rows. Rows are therefore taken by
  their ids, and pages are chained inside a batch only as long as the answers keep to one order.
- Whether a page that is not full is the last one is not documented: an empty page is the end. Where such pages proved
  to be the last, one is believed if a count agrees. Chats of tasks have no count: there a page is believed that is less
  than half full and smaller than others (a portal may give fewer rows than LIMIT), except in a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# Above every id. No cursor at all also brings the newest page, but unread messages with it.
NEWEST = 2**53 - 1
# Where a walk begins, by the cursor of its progress: where the first way brings nothing, the others are tried.
BEGINNINGS: dict[int, int | None] = {0: NEWEST, -1: 0, -2: None}
# Walks in which an empty page followed the first page that was not full, before such a page is taken for the end.
PROVEN = 10


@dataclass(slots=True)
class PageHabits:
    """Facts that the answers of one method have shown; each process learns them separately."""

    descending: bool | None = True  # the order of ids in a page; None: there is none
    order_seen: bool = False
    begins: bool = False  # NEWEST has brought a page
    ends: int = 0
    probes: int = 0  # empty pages that were planned for, to find out
    gap: bool = False  # a page that was not full was not the last one
    largest: int = 0  # rows of the largest page: a portal may give fewer than LIMIT at most

    def learn_order(self, ids: Sequence[int]) -> None:
        if len(ids) < 2 or self.descending is None:
            return
        steps = {one > other for one, other in pairwise(ids)}
        descending = steps.pop() if len(steps) == 1 else None
        if self.order_seen and descending != self.descending:
            descending = None  # now this way, now that
        self.descending, self.order_seen = descending, True

    @property
    def short_page_ends(self) -> bool:
        return self.ends >= PROVEN and not self.gap

    def is_small(self, rows: int, size: int) -> bool:
        return rows < min(self.largest, size // 2)

    def pages(self, left: int | None, got: int, size: int) -> int:
        """How many pages to ask for in one request, where about `left` records are left."""
        if self.descending is None or got % size:
            return 1
        if left is None:
            return max(1, got // size)  # unknown: twice as many each time
        full, rest = divmod(max(0, left), size)
        if not rest or self.probes >= PROVEN + PROVEN // 2:
            return full + 1
        self.probes += 1
        return full + 2

    def last_place(self, left: int | None, size: int) -> int:
        """The position of a page's lowest ID, with about `left` records left before it."""
        if not self.descending:
            return 0
        return size - 1 if left is None or not 0 < left < size else left - 1
