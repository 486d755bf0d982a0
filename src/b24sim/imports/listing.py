"""Reads back what was imported: `import.<entity>.list` and `import.users.match`."""

import re
from collections.abc import Mapping
from itertools import islice

from b24sim.imports import arguments
from b24sim.imports.arguments import MOST_KEYS, malformed
from b24sim.imports.store import Link, Store
from b24sim.imports.stream import Stream


def list_records(store: Store, stream: Stream, body: Mapping[str, object]) -> dict[str, object]:
    if body.get("keys") is not None:
        links, cursor = _of_keys(store, stream, arguments.texts(body, "keys", MOST_KEYS)), None
    else:
        links, cursor = _page(store, stream, _after(body), _limit(body))
    there = (link for link in links if store.get(stream.name, link.target_id) is not None)
    items = [_item(store, link) for link in there]
    return {"items": items, "cursor": cursor, "count": store.count(stream.name)}


def match_users(store: Store, body: Mapping[str, object]) -> dict[str, object]:
    emails = arguments.texts(body, "emails", MOST_KEYS)
    found = ((email, store.find("users", ("EMAIL",), (email,))) for email in emails if email.strip())
    return {"items": [{"email": email, "id": target_id} for email, target_id in found if target_id is not None]}


def _of_keys(store: Store, stream: Stream, keys: list[str]) -> list[Link]:
    links = [link for key in dict.fromkeys(keys) if (link := store.link(key)) and link.stream == stream.name]
    return sorted(links, key=lambda link: (int(link.target_id), link.key))


def _page(store: Store, stream: Stream, after: tuple[int, str] | None, limit: int) -> tuple[list[Link], str | None]:
    """One link more than asked for tells whether this page is the last."""
    links = list(islice(store.links(stream.name, after), limit + 1))
    page = links[:limit]
    return page, f"{page[-1].target_id}:{page[-1].key}" if len(links) > limit else None


def _after(body: Mapping[str, object]) -> tuple[int, str] | None:
    """A cursor is the id and the key of the last link: several keys may be linked to one record."""
    after = body.get("after")
    if after is None or after == "":
        return None
    match = re.fullmatch(r"([0-9]{1,18}):(.*)", after, re.DOTALL) if isinstance(after, str) else None
    if match is None:
        raise malformed("after must be empty or the cursor of a previous call")
    return int(match[1]), match[2]


def _limit(body: Mapping[str, object]) -> int:
    limit = arguments.whole_number(body, "limit", MOST_KEYS)
    if not 1 <= limit <= MOST_KEYS:
        raise malformed(f"limit must be between 1 and {MOST_KEYS}")
    return limit


def _item(store: Store, link: Link) -> dict[str, object]:
    fields = dict(store.row(link.stream, link.target_id).fields)
    return {"key": link.key, "id": link.target_id, "digest": link.digest, "fields": fields}
