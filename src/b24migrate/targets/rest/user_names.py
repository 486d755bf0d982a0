"""What people are called on the box."""

from __future__ import annotations

from collections.abc import Iterable

from b24migrate.targets.rest.box import Box, in_chunks, rows_at

REMEMBERED_S = 600.0


def user_names(box: Box, user_ids: Iterable[str]) -> dict[str, str]:
    known: dict[str, str] = box.kept("names of people", dict, REMEMBERED_S)
    wanted = list(dict.fromkeys(map(str, user_ids)))
    for some in in_chunks(one for one in wanted if one not in known):
        rows = rows_at(box.question("user.get", {"FILTER": {"ID": some}, "ADMIN_MODE": True}))
        told = {str(row["ID"]): f"{row.get('NAME') or ''} {row.get('LAST_NAME') or ''}".strip() for row in rows}
        # Whom the box does not show is not asked for again at every message. In one go with the others: whoever looks
        # meanwhile must not take somebody for nameless.
        known |= {**dict.fromkeys(some, ""), **told}
    return {one: known[one] for one in wanted if known.get(one)}
