"""Details of fifty chats from one search, so that a delta pass need not request each of them.

`im.search.chat.list` finds chats by the names of their members, and returns the fields of `im.dialog.get` except the
managers (api-reference/chats/search/im-search-chat-list.md). Which chats it knows, and how fresh its numbers are, is
not documented. So its result is used only for chats in which only messages are new according to the list of recent
chats, and a sample of the chats is requested as well. If one of these differs, or the search is behind the list, it is
not used, in this pass and in every later one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from zlib import crc32

from b24migrate.model.answers import id_of, open_list, row_in
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.ports import Command, Source

METHOD = "im.search.chat.list"
COMMANDS = 50  # in one request
PAGE = 50
WORTH = COMMANDS  # chats: to ask about fewer takes one request
SAMPLED, SHARE = 25, 0.01  # the size of the sample, or this share if it is more
SHORTEST = 3  # letters of a word that an index has (kernel 25.100)
LAST = "last_message_id"
NUMBERS = ("message_count", LAST)  # fields that messages change
OTHERS = (
    "name",
    "description",
    "owner",
    "avatar",
    "color",
    "type",
    "user_counter",
    "entity_type",
    "entity_id",
    "date_create",
    "message_type",
    "parent_chat_id",
    "parent_message_id",
)


class Disproved(Exception):
    """The portal's details differ from its search."""


def find_details(
    source: Source, last: Mapping[int, Json], word: str, via: int, known: Known
) -> Iterator[tuple[SourceRecord, Args]]:
    """The fields of `im.dialog.get` for chats in which only messages may be new, by the search and the known values.
    `last`: the newest message of each chat in the list of recent chats. Raises Disproved."""
    if len(last) <= WORTH or not word:
        return
    try:
        for rows in search(source, last, word, via):
            staged = known.lookup("chats", [str(one) for one in rows])
            for key, row in rows.items():
                before = staged.get(str(key))
                if before and has_only_messages(before.payload, row, last[key]):
                    yield before, {**before.payload, **{name: row[name] for name in NUMBERS}}
    except (Permanent, GateUnmet):
        return


def search(
    source: Source, wanted: Mapping[int, Json], word: str, via: int
) -> Iterator[Mapping[int, Mapping[str, Json]]]:
    """The given chats that a search for a word finds, page by page. Others are among the results, such as chats of
    tasks, so it continues while fewer pages than chats are left."""
    left = set(wanted)
    offset, pages = 0, min(COMMANDS, -(-len(left) // PAGE))
    while pages and len(left) > COMMANDS:
        answers = source.batch([search_page(word, offset + PAGE * k) for k in range(pages)], via=via)
        for answer in answers:
            raws = open_list(answer.require(), (), METHOD).items
            rows = {int(id_of(raw, "id", METHOD)): raw for raw in raws}
            yield {one: row_in(raw, METHOD) for one, raw in rows.items() if one in left}
            left -= rows.keys()
        offset += PAGE * pages
        further = -(-((answers[-1].total or 0) - offset) // PAGE)
        pages = min(COMMANDS, further) if 0 < further < len(left) else 0


def choose_word(owner: Mapping[str, Json]) -> str:
    """Of the name of the webhook's owner, who is in all of its chats; the last name is the rarer one."""
    words = [word for name in ("LAST_NAME", "NAME") for word in re.findall(r"\w+", str(owner.get(name) or ""))]
    return next((word for word in words if len(word) >= SHORTEST), "")


def search_page(word: str, offset: int) -> Command:
    return Command(METHOD, {"FIND": word, "OFFSET": offset, "LIMIT": PAGE})


def has_only_messages(before: Mapping[str, Json], row: Mapping[str, Json], last: Json) -> bool:
    """The list is older than the search."""
    if not all(isinstance(row.get(name), int) and name in before for name in NUMBERS):
        return False
    if isinstance(last, int) and row[LAST] < last:
        raise Disproved
    return row[LAST] == last and is_same(OTHERS, row, before)


def is_same(names: Sequence[str], row: Mapping[str, Json], before: Mapping[str, Json]) -> bool:
    """Portals write empty values in several ways."""
    return all(name in row and str(row[name] or "") == str(before[name] or "") for name in names if name in before)


def confirms(asked: Mapping[str, Json], told: Mapping[str, Json]) -> bool:
    """Whether the details of a chat match the search, unless a user wrote in between."""
    return asked.get(LAST) != told[LAST] or is_same((*NUMBERS, *OTHERS), asked, told)


def choose_sample(told: Mapping[int, Json]) -> list[int]:
    """A sample of the chats. It changes with each new message."""
    newest = max(told.values(), default=0)
    by_chance = sorted(told, key=lambda one: crc32(f"{newest}:{one}".encode()))
    return by_chance[: max(SAMPLED, round(SHARE * len(told)))]
