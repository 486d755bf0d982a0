"""How portals differ in what they do with tasks, and in what a list tells about what belongs to a task."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskHabits:
    """With `chats` comments are messages, as from tasks 25.700 on; `keeps_dates` is what kernels did until then,
    and what nobody promises for later ones. That one may filter by XML_ID is written nowhere at all. Kernels read the
    start of a list `from_address`: one in a JSON body counts for nothing. No page says that the older lists name the
    chat of a task (tasks/deprecated/task-item/task-item-list.md, task-item-get-data.md): with `old_lists_name_chats`
    they do.

    `list_checklists`: CHECKLIST is among the fields (tasks/fields.md), but no example of a list has it: a list ignores
    it, tells the items, or has an empty list for every task. `comment_counts`: COMMENTS_COUNT counts comments wherever
    they are (tasks-new.md does not say it), those of the forum topic only (kernel 25.100), or nothing; or the list has
    neither count nor topic. `chat_moves`: what of its task a new message in the chat moves is written nowhere."""

    chats: bool = False
    keeps_dates: bool = True
    filters_xml_id: bool = True
    start_from_address: bool = False
    old_lists_name_chats: bool = False
    list_checklists: str = "ignored"
    comment_counts: str = "all"
    chat_moves: str = "nothing"


CHECKLISTS = ("ignored", "told", "empty")
CHAT_MOVES = ("nothing", "count", "activity")
COUNTS = ("all", "forum", "zero", "absent")
