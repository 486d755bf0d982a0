"""What befalls the calls of both portals: by seeded chance, about every seventh of them."""

from __future__ import annotations

import random
from typing import Any

from tests.chaos.portals import Portal

Rule = dict[str, Any]

# Whole requests, whatever they ask for.
WEATHER: dict[str, float] = {
    "500": 0.02,
    "502html": 0.02,
    "reset": 0.025,
    "timeout": 0.01,
    "truncated": 0.02,
    "query_limit": 0.015,
    "html200": 0.005,
    "lost": 0.03,
}
GROWING = ("user.get", "sonet_group.get", "im.dialog.messages.get")


def over_the_cloud() -> list[Rule]:
    """Bad weather, a command now and then that fails inside a batch, and rows that appear while pages are read."""
    weather = [{"kind": kind, "probability": chance, "inner": False} for kind, chance in WEATHER.items()]
    inside = [{"kind": "500", "method": "im.*", "probability": 0.003}]
    growth = [{"kind": "insert", "method": method, "probability": 0.05, "count": 6} for method in GROWING]
    return [*weather, *inside, *growth]


def over_the_box() -> list[Rule]:
    """Bad weather, and items that are refused for the moment."""
    weather = [{"kind": kind, "probability": chance} for kind, chance in WEATHER.items() if kind != "html200"]
    lost = [{"kind": "lost", "method": "import.*.batch", "probability": 0.08}]
    items = [{"method": "import.*.batch", "probability": 0.004, "item": {"code": "LOCKED", "retry": True}}]
    return [*weather, *lost, *items]


def people_keep_working(cloud: Portal, chance: random.Random) -> str:
    """Somebody edits, deletes or writes a message while the migration runs; says what."""
    messages = cloud.dump("chat_messages", visible_to="1")
    chosen = chance.choice(messages)
    chat, _, number = chosen["id"].partition(":")
    # The file of a message that is deleted after its upload stays on the box, so messages with files are only edited.
    op = chance.choice(
        ("update", "add") if "FILE_ID" in (chosen["fields"]["params"] or {}) else ("update", "delete", "add")
    )
    text = {"text": f"Исправлено {chance.randrange(10_000)}: [USER=1]Шеф[/USER]"}
    where = {"chat": int(chat)} if op == "add" else {"chat": int(chat), "id": int(number)}
    cloud.mutate(stream="chat_messages", op=op, **where, **({} if op == "delete" else {"fields": text}))
    return op
