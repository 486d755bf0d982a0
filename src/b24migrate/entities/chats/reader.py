"""Reads the lists of chats of all webhooks, with the details of the chats in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from b24migrate.entities.chats.details import (
    TELLING,
    FoundChat,
    chat_extras,
    detail_commands,
    is_as_before,
    note_missing_participants,
    participants,
    read_details,
    refusal_reason,
    unlisted_comments,
)
from b24migrate.entities.chats.search import LAST, Disproved, choose_sample, choose_word, confirms, find_details
from b24migrate.messages import say
from b24migrate.model.answers import id_of, open_list, row_in, unexpected_answer
from b24migrate.model.errors import Forbidden, Permanent
from b24migrate.model.records import Args, Json, Page, PageEntry, Row, SetAside, digest
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.ports import Answer, Command, Source

RECENT_LIMIT = 200
# Talks with the assistant are in a list of their own (api-reference/chats/im-recent-list.md, ONLY_COPILOT).
RECENT_LISTS: Mapping[str, Args] = {
    "chats": {},
    "channels": {"ONLY_CHANNEL": "Y"},
    "copilot": {"ONLY_COPILOT": "Y"},
}
NOT_NEEDED = "copilot"  # whatever is in this list is excluded
COMMANDS_AT_ONCE = 50  # in a batch
PAGES_AT_ONCE = 20  # of lists, in a request: each has half a megabyte
ENUMERATIONS = 5
SEARCH = "search"  # the hint that a search returns the same as a request for each chat
LOOKED_UP = 100  # staged chats
# The letters of `message_type`: api-reference/chat-bots/outdated/chats/events/on-imbot-join-chat.md.
MIGRATED_KINDS = frozenset({"P", "C", "O", "N", "J", "T", "B", "X"})  # X: of another module
TASK_CHATS = frozenset({"TASKS", "TASKS_TASK"})
OPEN_LINES = frozenset({"LINES", "LIVECHAT"})
OF_A_TASK = say("skip.of_a_task")
OPEN_LINE = say("skip.open_line")
COPILOT = say("skip.copilot")
NOTIFICATIONS = say("skip.notifications")
NOT_BEGUN = say("skip.empty_chat")
UNKNOWN_KIND = "skip.unknown_kind"


# ---------------------------------------------------------------- reading, as on every real portal


def gather(source: Source, cursor: Args, limit: int) -> Page:
    """First who has which chats, over all webhooks; then the details of a few at a time."""
    if "chats" in cursor:
        return read_details(source, [FoundChat(*one) for one in cursor["chats"]], int(cursor["n"]))
    alarms: list[str] = []
    found, skipped, _ = enumerate_chats(source, alarms)
    chosen = sorted([*found, *(int(one) for one in skipped if one.isdecimal())])[: limit or None]
    chats = sorted(found[one] for one in chosen if one in found)
    aside = [one for key, one in skipped.items() if not limit or (key.isdecimal() and int(key) in chosen)]
    jobs: list[Args] = [{"n": n, "chats": some} for n, some in enumerate(in_batches(chats))]
    return Page(next=jobs, aside=aside, alarms=alarms)


def gather_again(source: Source, cursor: Args, known: Known) -> Page:
    """The same, without the participants of unchanged chats and without details that a search returns."""
    if "chats" in cursor:
        return read_and_check(source, cursor, known)
    started = datetime.now(UTC)
    alarms: list[str] = []
    found, skipped, listed = enumerate_chats(source, alarms, known.staged())
    same = set[int]() if known.deep else find_same(listed, known)
    chats = [chat._replace(people=one not in same) for one, chat in found.items()]
    last = {one: listed[one].get(LAST) for one in same}
    rows, aside = search_details(source, [one for one in chats if not one.people], last, known)
    sample = choose_sample({one: last[one] for one in rows})
    asked = sorted(one for one in chats if one.chat_id in sample or one.chat_id not in rows)
    jobs: list[Args] = [
        {"n": n, "chats": some, "told": [one.chat_id for one in some if one.chat_id in rows]}
        for n, some in enumerate(in_batches(asked))
    ]
    log = [PageEntry(len(jobs), len(rows), len(rows), digest(list(rows)), started, datetime.now(UTC))] if rows else []
    return Page(rows=list(rows.values()), next=jobs, aside=[*skipped.values(), *aside], alarms=alarms, log=log)


def read_and_check(source: Source, cursor: Args, known: Known) -> Page:
    """The details of chats. If a search returned something else, all of them are read again without it."""
    told = known.lookup("chats", [str(one) for one in cursor.get("told", ())])
    page = read_details(source, [FoundChat(*one) for one in cursor["chats"]], int(cursor["n"]), known)
    asked = {row.source_id: row_in(row.payload, "im.dialog.get") for row in page.rows if row.source_id in told}
    if not all(one.id in asked and confirms(asked[one.id], one.payload) for one in told.values()):
        known.refute(SEARCH)
        page.next.append({})
    return page


def search_details(
    source: Source, chats: Sequence[FoundChat], last: Mapping[int, Json], known: Known
) -> tuple[dict[int, Row], list[SetAside]]:
    """Of chats with the same participants as before. A search shows no private dialogs."""
    rows: dict[int, Row] = {}
    aside: list[SetAside] = []
    owners = {} if known.refuted(SEARCH) else known.lookup("users", source.owners)
    try:
        for via, owner in enumerate(source.owners):
            mine = {one.chat_id: one for one in chats if one.via == via and one.dialog.startswith("chat")}
            word = choose_word(owners[owner].payload) if owner in owners else ""
            for before, row in find_details(source, {one: last[one] for one in mine}, word, via, known):
                chat = mine[int(before.id)]
                extras = chat_extras(chat.dialog, via, before.extras["users"])
                rows[chat.chat_id] = Row(before.id, msgspec.json.encode(row), extras)
                aside += unlisted_comments(chat, row)
    except Disproved:
        known.refute(SEARCH)
        return {}, []
    return rows, aside


def find_same(rows: Mapping[int, Args], known: Known) -> set[int]:
    """The chats of which the lists tell nothing new. Decoded, a chat is large: few are looked up at a time."""
    same: set[int] = set()
    ids = list(rows)
    for start in range(0, len(ids), LOOKED_UP):
        some = ids[start : start + LOOKED_UP]
        staged = known.lookup("chats", list(map(str, some)))
        same |= {one for one in some if is_as_before(rows[one], staged.get(str(one)))}
    return same


def in_batches(chats: Sequence[FoundChat]) -> Iterator[list[FoundChat]]:
    """As many chats at a time as fill a request, which one webhook makes."""
    some: list[FoundChat] = []
    commands = 0
    for chat in sorted(chats, key=lambda chat: chat.via):
        needed = len(detail_commands(chat))
        if some and (commands + needed > COMMANDS_AT_ONCE or chat.via != some[-1].via):
            yield some
            some, commands = [], 0
        some.append(chat)
        commands += needed
    if some:
        yield some


def enumerate_chats(
    source: Source, alarms: list[str], expected: int = 0
) -> tuple[dict[int, FoundChat], dict[str, SetAside], dict[int, Args]]:
    """The chats, what is in the lists besides, and what they tell of the chats. A list is sorted by activity and shifts
    while it is read, so it is read until nothing new turns up. `expected`: so many chats, and as many others as are in
    a list as a rule, fit into the first request."""
    found: dict[int, FoundChat] = {}
    rows: dict[int, Args] = {}
    skipped: dict[str, SetAside] = {}
    refused: dict[str, SetAside] = {}
    clear: set[str] = set()  # names that some webhook resolves
    for via in range(len(source.owners)):
        pages = {**dict.fromkeys(RECENT_LISTS, 1), "chats": min(PAGES_AT_ONCE, expected * 5 // 4 // RECENT_LIMIT + 1)}
        nameless: dict[str, Args] = {}
        for _ in range(ENUMERATIONS):
            before = len(found) + len(skipped)
            for item in recent_items(source, via, pages, alarms):
                one = recent_chat(item, via)
                if one is not None:
                    clear.add(str(item.get("id")))
                if isinstance(one, FoundChat):
                    found.setdefault(one.chat_id, one)
                    rows.setdefault(one.chat_id, list_row(item))
                elif isinstance(one, SetAside):
                    skipped.setdefault(one.source_id, one)
                else:
                    nameless[str(item["id"])] = {"DIALOG_ID": item["id"]}
            if len(found) + len(skipped) == before or max(pages.values()) == 1:
                break
        asked = {dialog: params for dialog, params in nameless.items() if dialog not in clear}
        for dialog, number in ask_chat_numbers(source, asked, via).items():
            if isinstance(number, Permanent):
                refused.setdefault(dialog, SetAside("chats", dialog, "impossible", refusal_reason(source, via, number)))
            else:
                clear.add(dialog)
                found.setdefault(number, FoundChat(number, f"chat{number}", via))
    skipped |= {dialog: one for dialog, one in refused.items() if dialog not in clear}
    return found, {key: one for key, one in skipped.items() if not key.isdecimal() or int(key) not in found}, rows


def list_row(item: Args) -> Args:
    """The fields of a chat in a list, under the names of `im.dialog.get` (api-reference/chats/im-recent-list.md)."""
    chat, message = (item[name] if isinstance(item.get(name), dict) else {} for name in ("chat", "message"))
    return {LAST: message.get("id"), **{name: chat[name] for name in TELLING if name in chat}}


def recent_chat(item: Args, via: int) -> FoundChat | SetAside | None:
    """The ID of an item in a recent list is a user's ID, `chat12`, or `sg17` for the chat of a group. None: its chat
    must be requested."""
    dialog = str(item.get("id") or "")
    chat = item["chat"] if isinstance(item.get("chat"), dict) else {}
    named = dialog if dialog.startswith("chat") else ""
    chat_id = next(filter(None, map(chat_number, (item.get("chat_id"), chat.get("id"), named))), 0)
    if rule := skip_rule({"type": item.get("type"), **chat}):
        return SetAside("chats", str(chat_id or dialog), "excluded", rule)
    if dialog.isdecimal():
        if chat_id:
            return FoundChat(chat_id, dialog, via)
        return SetAside("chats", f"dialog{dialog}", "excluded", NOT_BEGUN)
    if chat_id:
        return FoundChat(chat_id, f"chat{chat_id}", via)
    if dialog.startswith("sg"):
        return None
    kind = str(item.get("type") or dialog)
    return SetAside("chats", dialog or f"kind:{kind}", "excluded", say(UNKNOWN_KIND, kind=kind))


def chat_number(value: Json) -> int:
    """The number in 12, "12" and "chat12"; 0 if there is none."""
    text = str(value or "").removeprefix("chat")
    return int(text) if text.isdecimal() else 0


def ask_chat_numbers(source: Source, dialogs: Mapping[str, Args], via: int) -> dict[str, int | Permanent]:
    """By dialog the number of its chat, or why the portal does not return it."""
    commands = [Command("im.dialog.get", params) for params in dialogs.values()]
    found: dict[str, int | Permanent] = {}
    for dialog, answer in zip(dialogs, source.batch(commands, via=via), strict=True):
        try:
            found[dialog] = chat_number(decode_answer(answer).get("id")) or unexpected_answer("im.dialog.get", ("id",))
        except Permanent as error:
            found[dialog] = error
    return found


def skip_rule(chat: Mapping[str, Json]) -> str | None:
    """Why a chat is not migrated as one; None where it is."""
    kind, form, about = (str(chat.get(name) or "") for name in ("message_type", "type", "entity_type"))
    if about in TASK_CHATS or form == "tasksTask":
        return OF_A_TASK
    if kind == "L" or about in OPEN_LINES or form in ("lines", "livechat"):
        return OPEN_LINE
    if kind == "A" or form == "copilot" or about.startswith("AI_ASSISTANT"):
        return COPILOT
    if kind == "S" or form in ("notify", "notification"):
        return NOTIFICATIONS
    return say(UNKNOWN_KIND, kind=kind) if kind and kind not in MIGRATED_KINDS else None


def recent_items(source: Source, via: int, pages: dict[str, int], alarms: list[str]) -> Iterator[Args]:
    """Every item of every list. `pages`: how many each list had last time, and has now.

    Advance OFFSET by LIMIT, not by what came, and loop on `hasMore`: `total` is -1 and `next` is misleading."""
    read = dict.fromkeys(pages, 0)
    ahead = dict(pages)
    while ahead:
        short_first = sorted(ahead.items(), key=lambda one: one[1])
        wanted = [(name, read[name] + k) for name, count in short_first for k in range(count)][:PAGES_AT_ONCE]
        answers = source.batch([recent_page(name, page) for name, page in wanted], via=via)
        for (name, page), answer in zip(wanted, answers, strict=True):
            if name not in ahead:
                continue  # it has ended on an earlier page
            read[name] = page + 1
            try:
                listing = decode_answer(answer)
                items = open_list(listing, ("items",), "im.recent.list").items
            except Permanent as error:
                if name != NOT_NEEDED:
                    raise
                alarms.append(say("skip.copilot_unread", why=error.code or error.message))
                del ahead[name]
                continue
            yield from (item for item in items if isinstance(item, dict))
            flags = [listing[flag] for flag in ("hasMore", "hasMorePages") if flag in listing]
            if not (any(flags) if flags else items):  # where it does not tell, an empty page is the end
                del ahead[name]
        ahead = {name: max(1, min(9 * read[name], PAGES_AT_ONCE)) for name in ahead}
    pages.update(read)


def recent_page(name: str, page: int) -> Command:
    offset = {"OFFSET": page * RECENT_LIMIT, "LIMIT": RECENT_LIMIT}
    return Command("im.recent.list", {**RECENT_LISTS[name], **offset})


def decode_answer(answer: Answer) -> Mapping[str, Json]:
    if isinstance(answer.error, Forbidden):
        raise answer.error.gate
    row = answer.decode()
    return row if isinstance(row, dict) else {}


# ---------------------------------------------------------------- reading, where the portal lists chats


def read_list(source: Source, cursor: Args, limit: int) -> Page:
    started = datetime.now(UTC)
    if not cursor:
        pages: list[Args] = [{"via": via, "start": 0, "n": via * 1_000_000} for via in range(len(source.owners))]
        return first_chats(source, pages, limit) if limit else Page(next=pages)
    via, start, number = int(cursor["via"]), int(cursor["start"]), int(cursor["n"])
    answer = source.call("im.chat.get", {"start": start}, via=via)
    raws = open_list(answer.result, (), "im.chat.get").items
    rows = with_participants(source, raws, via)
    log = PageEntry(number, 50, len(rows), digest({"start": start, "via": via}), started, datetime.now(UTC))
    more = bool(raws) and answer.next is not None and answer.next > start
    more = more and not (limit and answer.next is not None and answer.next >= limit)  # by ascending id
    return Page(
        rows=rows,
        next=[{"via": via, "start": answer.next, "n": number + 1}] if more else [],
        reported=answer.total if len(source.owners) == 1 else None,
        log=[log],
        alarms=note_missing_participants(rows),
    )


def first_chats(source: Source, pages: Sequence[Args], limit: int) -> Page:
    """The first of all webhooks' chats together."""
    found: dict[str, Row] = {}
    log: list[PageEntry] = []
    reported = None
    waiting = list(pages)
    while waiting:
        page = read_list(source, waiting.pop(0), limit)
        found = {row.source_id: row for row in page.rows} | found
        log += page.log
        reported = page.reported
        waiting += page.next
    rows = [found[source_id] for source_id in sorted(found, key=int)[:limit]]
    return Page(rows=rows, reported=reported, log=log, alarms=note_missing_participants(rows))


def with_participants(source: Source, raws: Sequence[msgspec.Raw], via: int) -> list[Row]:
    chats = [(raw, {**row_in(raw, "im.chat.get"), "id": id_of(raw, "id", "im.chat.get")}) for raw in raws]
    asked = source.batch([Command("im.chat.user.list", {"CHAT_ID": chat["id"]}) for _, chat in chats], via=via)
    rows = []
    for (raw, chat), people in zip(chats, asked, strict=True):
        dialog = str(chat.get("dialog_id") or f"chat{chat['id']}")
        users = participants(source, FoundChat(int(chat["id"]), f"chat{chat['id']}", via), people)
        rows.append(Row(str(chat["id"]), bytes(raw), chat_extras(dialog, via, users)))
    return rows


def message_count(chat: SourceRecord) -> int | None:
    """An estimate: the portal increments and decrements this counter and never recounts (bitrix24-rest-1 §D3)."""
    count = chat.payload.get("message_count")
    return None if count is None else int(count)
