"""Ids inside texts: mentions, files, and links to the old portal's pages. IDs of records that the box does not have
stay unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from tests.chaos.oracle.ids import Ids
from tests.chaos.oracle.source import COMPANY, CONTACT, DEAL

Found = re.Match[str]
PAGES: tuple[tuple[str, Callable[[Ids, Found], tuple[str | None, ...]]], ...] = (
    (r"/company/personal/user/(\d+)/blog/(\d+)/", lambda ids, n: (ids.user(n[1]), ids.record("feed_posts", n[2]))),
    (
        r"/company/personal/user/(\d+)/tasks/task/view/(\d+)/",
        lambda ids, n: (ids.user(n[1]), ids.record("tasks", n[2])),
    ),
    (r"/company/personal/user/(\d+)/", lambda ids, n: (ids.user(n[1]),)),
    (
        r"/workgroups/group/(\d+)/blog/(\d+)/",
        lambda ids, n: (ids.record("groups", n[1]), ids.record("feed_posts", n[2])),
    ),
    (
        r"/workgroups/group/(\d+)/tasks/task/view/(\d+)/",
        lambda ids, n: (ids.record("groups", n[1]), ids.record("tasks", n[2])),
    ),
    (r"/workgroups/group/(\d+)/", lambda ids, n: (ids.record("groups", n[1]),)),
    (r"/crm/deal/details/(\d+)/", lambda ids, n: (ids.item(DEAL, n[1]),)),
    (r"/crm/contact/details/(\d+)/", lambda ids, n: (ids.item(CONTACT, n[1]),)),
    (r"/crm/company/details/(\d+)/", lambda ids, n: (ids.item(COMPANY, n[1]),)),
    (r"/crm/type/(\d+)/details/(\d+)/", lambda ids, n: (ids.type(n[1]), ids.item(int(n[1]), n[2]))),
)


def rewritten(ids: Ids, text: str | None, attachments: Mapping[str, str] | None = None) -> str | None:
    """`attachments`: the record's own, by number -> the key of the file behind each."""
    if not text:
        return text
    mine = attachments or {}
    tags: tuple[tuple[str, Callable[[str], str | None]], ...] = (
        (r"(\[USER=)(\d+)", ids.user),
        (r"(\[CHAT=(?:chat)?)(\d+)", lambda number: ids.key(f"source:chat:{number}")),
        (r"(\[DISK=)(\d+)", lambda number: ids.file(f"disk:{number}")),
        (r"(\[DISK FILE ID=n)(\d+)", lambda number: ids.file(f"disk:{number}")),
        (r"(\[DISK FILE ID=)(\d+)", lambda number: ids.file(mine.get(number, f"attached:{number}"))),
    )
    for pattern, there in tags:
        text = re.sub(pattern, partial(_tag, there), text, flags=re.IGNORECASE)
    # With the portal's host or from its root, but not as a part of another host's address.
    link = rf"({re.escape(ids.source.url)}|(?<![\w/.:%-]))(/[\w/]*)"
    return re.sub(link, lambda found: _page(ids, found), text)


def _tag(there: Callable[[str], str | None], found: Found) -> str:
    return found[1] + (there(found[2]) or found[2])


def _page(ids: Ids, link: Found) -> str:
    for pattern, there in PAGES:
        found = re.fullmatch(pattern, link[2])
        if found is None:
            continue
        known = there(ids, found)
        if None in known:
            return link[0]
        parts = re.split(r"\d+", link[2])
        portal = ids.box_url if link[1] else ""
        return portal + "".join(part + (known[at] or "" if at < len(known) else "") for at, part in enumerate(parts))
    return link[0]
