"""Probes of the portal for behavior that is undocumented or documented in contradictory ways (docs/probe.md).

Each probe is pure: it yields commands, gets their answers and judges them. An answer that a probe cannot parse counts
as unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from b24migrate.model.errors import Permanent
from b24migrate.model.records import Args, Json
from b24migrate.model.streams import Asking, Probe
from b24migrate.ports import Answer, Command

ORDERS = ("ascending", "descending", "none")
ENOUGH = 5  # rows from which an order is seen
CHATS = 10  # counts that are right, from which all are believed to be
FEW, MANY = 4, 30  # chats, posts and users that are checked: at the start of a run, and for `doctor --probe`
MESSAGES = 50  # the largest LIMIT of im.dialog.messages.get
RECENT = 200  # the largest LIMIT of im.recent.list
PAGES = range(1, 1001)
CRM_TYPES = (2, 3, 4)  # deals, contacts, companies
OWNERS = 50


def list_at(answer: Answer, *path: str) -> list[Args]:
    """The objects at the path; empty if there is no list."""
    found = answer.known()
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    members = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return [one for one in members if isinstance(one, dict)]


def numbers(rows: Iterable[Args], field: str) -> list[int]:
    return [int(row[field]) for row in rows if str(row.get(field)).isdecimal()]


def order_of(ids: Sequence[int]) -> str | None:
    if len(ids) < ENOUGH:
        return None
    ordered = sorted(ids)
    return "ascending" if ids == ordered else "descending" if ids == ordered[::-1] else "none"


def sample_rows(rows: Sequence[Args], count: int) -> list[Args]:
    """Some from the beginning, some from the end."""
    half = count // 2
    return list(rows) if len(rows) <= count else [*rows[: count - half], *rows[len(rows) - half :]]


# ---------------------------------------------------------------- chats


def ask_messages(wide: bool) -> Asking:
    """The pages of im.dialog.messages.get (`FIRST_ID=0`: bitrix-tools/b24-rest-docs#344), and `message_count`."""
    (recent,) = yield [Command("im.recent.list", {"LIMIT": RECENT, "SKIP_OPENLINES": "Y"})]
    items = list_at(recent, "items")
    answer = recent.known()
    more = isinstance(answer, dict) and (answer.get("hasMore") is True or answer.get("hasMorePages") is True)
    dialogs = [str(one["id"]) for one in sample_rows([one for one in items if one.get("id")], MANY if wide else FEW)]
    answers = yield [command for dialog in dialogs for command in questions(dialog)]
    newest = [numbers(list_at(one, "messages"), "id") for one in answers[0::3]]
    upward = [numbers(list_at(one, "messages"), "id") for one in answers[1::3]]
    counted = [one.known() for one in answers[2::3]]
    read = [place for place, ids in enumerate(newest) if ids]
    answers = yield [page(dialogs[place], "LAST_ID", min(newest[place]), 1) for place in read]
    below = {place: list_at(one, "messages") for place, one in zip(read, answers, strict=True)}
    older = {
        place: numbers((row for row in rows if row.get("unread") is not True), "id") for place, rows in below.items()
    }
    whole = [place for place, one in zip(read, answers, strict=True) if one.known() and not older[place]]
    full = {len(newest[place]) for place in read if older[place]}
    stuck = any(min(older[place]) >= min(newest[place]) for place in read if older[place])
    added = any(max(numbers(below[place], "id")) >= min(newest[place]) for place in read if below[place])
    pages = "stuck" if stuck else "unread" if added else "short" if len(full) > 1 else "full" if full else None
    orders = {order for ids in newest if (order := order_of(ids))}
    extras = {
        bool(set(sorted(ids)[-2:]) & set(up)) for ids, up in zip(newest, upward, strict=True) if len(ids) >= ENOUGH
    }
    counts = [chat["message_count"] == len(set(newest[place])) for place in whole if (chat := counted[place])]
    return {
        "first_id": None if not extras else "newest" if True in extras else "plain",
        "message_order": MESSAGE_ORDERS["none" if len(orders) > 1 else orders.pop()] if orders else None,
        "message_count": "drifting" if False in counts else "exact" if len(counts) >= CHATS else None,
        "message_pages": pages,
        "message_page": full.pop() if len(full) == 1 else None,
        "recent_page": len(items) if more else None,
    }


MESSAGE_ORDERS = {"ascending": "oldest", "descending": "newest", "none": "mixed"}


def questions(dialog: str) -> tuple[Command, Command, Command]:
    about = Command("im.dialog.get", {"DIALOG_ID": dialog})
    return page(dialog, "LAST_ID", 0, MESSAGES), page(dialog, "FIRST_ID", 0, 2), about


def page(dialog: str, cursor: str, number: int, limit: int) -> Command:
    return Command("im.dialog.messages.get", {"DIALOG_ID": dialog, cursor: number, "LIMIT": limit})


messages = Probe(
    {
        "first_id": ("plain", "newest"),
        "message_order": ("newest", "oldest", "mixed"),
        "message_count": ("exact", "drifting"),
        "message_page": PAGES,
        "message_pages": ("full", "short", "unread", "stuck"),
        "recent_page": PAGES,
    },
    ask_messages,
)


# ---------------------------------------------------------------- dates in filters


def owner_differs(profile: Json, server: Json) -> bool:
    """Whether the owner of the webhook lives in another zone than the server: else a shift cannot be seen."""
    try:
        here = datetime.fromisoformat(str(server))
        offset = profile.get("TIME_ZONE_OFFSET") if isinstance(profile, dict) else None
        zone = profile.get("TIME_ZONE") if isinstance(profile, dict) else None
        own = timedelta(seconds=int(offset)) if offset is not None else here.astimezone(ZoneInfo(str(zone))).utcoffset()
    except (ValueError, LookupError, OSError):
        return False
    return own != here.utcoffset()


def dates(differs: bool, newest: datetime, since: Answer, after: Sequence[Json]) -> str | None:
    """By two counts: of records not older than the newest one, at least one, and of later ones, zero, unless a user has
    just changed one."""
    if since.error is not None:
        return None
    if any(at > newest for at in map(moment, after) if at is not None):
        return None
    if after or not since.total:
        return "shifted"
    return "instant" if differs else None


def moment(text: Json) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


# ---------------------------------------------------------------- CRM


def ask_crm(_: bool) -> Asking:
    """Whether dates in filters of crm.item.list are instants, its order when none is asked for, and whether
    crm.item.productrow.list takes several owners."""
    profile, server, *lists = yield [
        Command("profile", {}),
        Command("server.time", {}),
        *(items(kind, {"order": {"updatedTime": "DESC"}, "start": -1}, "updatedTime") for kind in CRM_TYPES),
        *(items(kind, {"start": -1}) for kind in CRM_TYPES),
        items(CRM_TYPES[0], {"filter": SOLD, "order": {"id": "DESC"}, "start": -1}),
    ]
    changed = [list_at(one, "items") for one in lists[:3]]
    kind = next((place for place, rows in enumerate(changed) if rows), 0)
    newest = moment(changed[kind][0].get("updatedTime")) if changed[kind] else None
    deals = numbers(list_at(lists[6], "items"), "id")[:OWNERS]
    asked = [owners_of(deals), owners_of(deals[::-1])] if len(deals) > 1 else []
    if newest is not None:
        asked += [
            changed_since(CRM_TYPES[kind], ">=", newest),
            changed_since(CRM_TYPES[kind], ">", newest + timedelta(seconds=1)),
        ]
    answers = yield asked
    order = {found for one in lists[3:6] if (found := order_of(numbers(list_at(one, "items"), "id")))}
    zone: str | None = None
    if newest is not None:
        after = [row.get("updatedTime") for row in list_at(answers[-1], "items")]
        zone = dates(owner_differs(profile.known(), server.known()), newest, answers[-2], after)
    return {
        "crm_dates": zone,
        "crm_order": None if not order else order.pop() if len(order) == 1 else "none",
        "product_owners": owner_lists(deals, answers[:2]) if len(deals) > 1 else None,
    }


SOLD = {">opportunity": 0, "=isManualOpportunity": "N"}  # the amount is then the sum of product rows


def items(kind: int, how: Args, *fields: str) -> Command:
    return Command("crm.item.list", {"entityTypeId": kind, "select": ["id", *fields], **how})


def changed_since(kind: int, sign: str, at: datetime) -> Command:
    how = {"filter": {f"{sign}updatedTime": at.isoformat()}, "order": {"updatedTime": "DESC"}, "start": 0}
    return items(kind, how, "updatedTime")


def owners_of(deals: Sequence[int]) -> Command:
    asked = {"filter": {"=ownerType": "D", "=ownerId": list(deals)}, "order": {"id": "ASC"}}
    return Command("crm.item.productrow.list", asked)


def owner_lists(deals: Sequence[int], answers: Sequence[Answer]) -> str | None:
    """Rows of an owner that is not the first of its list prove that the list is understood."""
    if any(one.error is not None for one in answers):
        return "one" if all(isinstance(one.error, Permanent) for one in answers) else None
    named = [set(numbers(list_at(one, "productRows"), "ownerId")) for one in answers]
    if any(found - {first} for found, first in zip(named, (deals[0], deals[-1]), strict=True)):
        return "many"
    return "one" if any(named) else None


crm = Probe(
    {"crm_dates": ("instant", "shifted"), "crm_order": ORDERS, "product_owners": ("many", "one")},
    ask_crm,
)


# ---------------------------------------------------------------- tasks


def ask_tasks(_: bool) -> Asking:
    """Whether `isAvailable` of method.get is true to a real call, and whether dates in filters are instants."""
    method, profile, server, newest = yield [
        Command("method.get", {"name": TASKS}),
        Command("profile", {}),
        Command("server.time", {}),
        changed_tasks({}),
    ]
    known, rows = method.known(), list_at(newest, "tasks")
    available = known.get("isAvailable") if isinstance(known, dict) and known.get("isExisting") is True else None
    at = moment(rows[0].get("changedDate")) if rows else None
    answers: Sequence[Answer] = yield (
        []
        if at is None
        else [
            changed_tasks({">=CHANGED_DATE": at.isoformat()}),
            changed_tasks({">CHANGED_DATE": (at + timedelta(seconds=1)).isoformat()}),
        ]
    )
    zone: str | None = None
    if at is not None:
        after = [row.get("changedDate") for row in list_at(answers[1], "tasks")]
        zone = dates(owner_differs(profile.known(), server.known()), at, answers[0], after)
    works = newest.known() is not None  # else there is nothing to compare with: the scope may be missing
    return {
        "is_available": None if not works or not isinstance(available, bool) else "true" if available else "false",
        "task_dates": zone,
    }


TASKS = "tasks.task.list"


def changed_tasks(condition: Args) -> Command:
    how = {"filter": condition} if condition else {}
    return Command(TASKS, {"order": {"CHANGED_DATE": "desc"}, **how, "select": ["ID", "CHANGED_DATE"], "start": 0})


tasks = Probe({"is_available": ("true", "false"), "task_dates": ("instant", "shifted")}, ask_tasks)


# ---------------------------------------------------------------- users


def ask_users(_: bool) -> Asking:
    (found,) = yield [Command("user.get", {"ADMIN_MODE": True})]
    return {"user_order": order_of(numbers(list_at(found), "ID"))}


users = Probe({"user_order": ORDERS}, ask_users)
