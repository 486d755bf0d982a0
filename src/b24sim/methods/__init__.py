"""The REST methods, one room per module of the portal."""

from b24sim.context import Method
from b24sim.methods import (
    chats,
    disk,
    feed,
    feed_comments,
    groups,
    messages,
    system,
    tasks,
    tasks_legacy,
    users,
    workflows,
)


def all_methods(*, listing_chats: bool = False) -> list[Method]:
    """Everything a portal serves; a few portals list chats and their messages under names of their own."""
    rooms = (system, users, groups, chats, messages, disk, feed, feed_comments, tasks, tasks_legacy, workflows)
    return [method for room in rooms for method in room.METHODS] + (messages.LISTING_METHODS if listing_chats else [])
