"""The expected content of the box, derived from the source's dumps only, without any code of b24migrate."""

from __future__ import annotations

from tests.chaos.oracle import (
    catalog,
    crm,
    feed,
    files,
    people,
    recurring,
    requisites,
    structure,
    tasks,
    timeline,
    workflows,
)
from tests.chaos.oracle.fate import failures
from tests.chaos.oracle.ids import Ids
from tests.chaos.oracle.source import Fields, Json, Source, source_of

__all__ = ["Fields", "Ids", "Json", "Source", "expected", "failures", "source_of"]


def expected(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    """stream -> key -> fields: every record that must be there, without those that fail by a stated rule."""
    bad = failures(source)
    made = {
        **people.streams(source, ids),
        **structure.streams(source, ids),
        **crm.streams(source, ids),
        **tasks.streams(source, ids),
        **feed.streams(source, ids),
        **workflows.streams(source, ids),
        **requisites.streams(source, ids),
        **recurring.streams(source, ids),
        **timeline.streams(source, ids),
        **catalog.streams(source, ids),
    }
    kept = {
        stream: {key(stream, one): row for one, row in rows.items() if one not in bad[stream]}
        for stream, rows in made.items()
    }
    return {**kept, "files": dict(files.wanted(source))}


def key(stream: str, number: str) -> str:
    """Chats and messages have the two irregular keys; records of the catalog are identified by their own ID."""
    if stream == "chats":
        return f"source:chat:{number}"
    if stream == "chat_messages":
        return f"source:chat:msg:{number.rpartition(':')[2]}"
    if stream in ("crm_catalog_sections", "crm_products"):
        return f"source:{stream}:{number.rpartition(':')[2]}"
    return f"source:{stream}:{number}"
