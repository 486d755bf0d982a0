"""The REST methods, one room per module of the portal."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from b24sim.context import Method
from b24sim.methods import (
    activities,
    catalog,
    chats,
    crm_currencies,
    crm_items,
    crm_legacy,
    crm_products,
    crm_structure,
    crm_userfields,
    disk,
    feed,
    feed_comments,
    groups,
    messages,
    recurring,
    requisites,
    system,
    tasks,
    tasks_legacy,
    timeline,
    users,
    workflows,
)


def all_methods(
    *, listing_chats: bool = False, without: Iterable[str] = (), more: Iterable[Method] = ()
) -> list[Method]:
    """The methods of a portal. A few portals have own names for lists of chats, and old ones lack some methods, or all
    with a prefix (`tasks.*`)."""
    rooms = (system, users, groups, chats, messages, disk, feed, feed_comments, tasks, tasks_legacy, workflows)
    crm = (crm_items, crm_structure, crm_products, crm_legacy, crm_userfields, crm_currencies, catalog, requisites)
    beside = (activities, timeline, recurring)
    everything = [method for room in (*rooms, *crm, *beside) for method in room.METHODS]
    everything += messages.LISTING_METHODS if listing_chats else []
    everything += more
    lacking = [name.lower() for name in without]
    return [method for method in everything if not any(fnmatchcase(method.name.lower(), one) for one in lacking)]
