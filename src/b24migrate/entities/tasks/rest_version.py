"""How this box treats tasks, as far as one that is there shows it: newer ones keep comments in chats (tasks 25.700)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

from b24migrate.model.records import Args
from b24migrate.targets.rest import values
from b24migrate.targets.rest.box import PAGE, Box, rows_at
from b24migrate.targets.rest.journal import Journal, JournalEntry, State

REMEMBERED_S = 60.0


def talks_in_chats(box: Box) -> bool:
    """Whether comments are messages, with the caller as author and the time of the call. A box without tasks does not
    show it."""
    return bool(_observe(box, "task chats", lambda: _newest_has_a_chat(box)))


def keeps_dates(box: Box) -> bool:
    """Whether the box kept the creation date of our tasks; true as long as it has none."""
    return _observe(box, "task dates", lambda: _kept_a_date(box)) is not False


def _observe(box: Box, name: str, ask: Callable[[], bool | None]) -> bool | None:
    """Asked again as long as there is nothing to see."""
    found = box.kept(name, ask, REMEMBERED_S)
    if found is None:
        box.forget(name)
    return found


def _newest_has_a_chat(box: Box) -> bool | None:
    asked = {"select": ["ID", "CHAT_ID"], "order": {"ID": "desc"}}
    newest = next(rows_at(box.question("tasks.task.list", asked), "tasks"), None)
    return None if newest is None else values.optional_id(newest.get("chatId")) is not None


def _kept_a_date(box: Box) -> bool | None:
    """Of the first few, since a user may have deleted one."""
    dated = (one for some in Journal(box.store).walk("tasks") for one in some if _has_date(one))
    ours = {one.target_id: one.trace["createdDate"] for one in islice(dated, PAGE)}
    if not ours:
        return None
    asked = {"filter": {"ID": list(ours)}, "select": ["ID", "CREATED_DATE"]}
    row = next(rows_at(box.question("tasks.task.list", asked), "tasks"), None)
    return None if row is None else values.utc(row.get("createdDate")) == ours[str(row["id"])]


def _has_date(one: JournalEntry) -> bool:
    return one.state is State.DONE and isinstance(one.trace, Mapping) and bool(one.trace.get("createdDate"))


def chats_of(box: Box, tasks: list[str]) -> dict[str, str]:
    """The chat of each task that has one."""
    asked = {"filter": {"ID": tasks}, "select": ["ID", "CHAT_ID"], "order": {"ID": "asc"}}
    rows: list[Args] = list(box.pages("tasks.task.list", asked, "tasks")) if tasks else []
    return {str(row["id"]): str(row["chatId"]) for row in rows if values.optional_id(row.get("chatId"))}
