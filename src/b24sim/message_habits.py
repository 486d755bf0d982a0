"""How a portal answers about messages where its documentation is silent. The defaults are what the newest ones do."""

from dataclasses import dataclass

ORDERS = ("newest", "oldest", "mixed")
PAGES = ("full", "short", "unread", "stuck")


@dataclass(frozen=True, slots=True)
class MessageHabits:
    order: str = "newest"  # of rows in a page below LAST_ID
    # short: fewer rows than LIMIT in the middle; unread: unread messages are added to each page; stuck: the newest page
    # is answered again and again
    pages: str = "full"
    plain_first_id: bool = False  # FIRST_ID=0 brings the oldest messages only, in order, as portals did until mid-2026
    exact_count: bool = False
    search: str = "all"  # what a search without a text shows; people: no words of the portal itself; none: an error
    chats_by: str = "people"  # what a search for chats looks at, besides their titles; titles: nothing else
