"""c, second half: groups-set and chats-set against a box that takes its time over every call.

The box answers each call after a fixed while. With so many workers as many calls are under way, so nothing can be done
sooner than the calls that are needed, times that while, divided by the workers; nor sooner than the calls of the
longest chat, since its messages arrive in order.
"""

from __future__ import annotations

from typing import Any

from bench.figures import Figure, at_least
from bench.processes import box, ours, portal
from bench.side_by_side import UNLIMITED

BAR = 0.9
WORKERS = 4
SERVICE_S = 0.2
BATCH = {"groups": 20, "group_members": 50, "chats": 20, "chat_messages": 100}


def measured(quick: bool) -> list[Figure]:
    groups, chats, messages = (150, 200, 8_000) if quick else (600, 800, 40_000)
    company = {"users": 300, "groups": groups, "chats": chats, "messages": messages, "files": 0, "bad_users": 0}
    steps = [
        ("users", "get"),
        ("users", "set"),
        ("groups", "get"),
        ("groups", "set"),
        ("chats", "get"),
        ("chats", "set"),
    ]
    with (
        box(latency=SERVICE_S) as target,
        portal(foreign_chats=0, limits="off", **company) as source,
    ):
        done = dict(zip(steps, ours(source, target, *steps, workers=WORKERS, **UNLIMITED), strict=True))
        chats_seen = [chat["fields"] for chat in source.dump("chats", visible_to=1)]
    longest = max(chat["message_count"] for chat in chats_seen if chat["message_type"] != "X")
    return [_figure("groups", done["groups", "set"], 0), _figure("chats", done["chats", "set"], longest)]


def _figure(entity: str, done: dict[str, Any], longest: int) -> Figure:
    """`longest`: records of one parent, which arrive in order and so one call after another."""
    records = done["records"]
    calls = {stream: -(-count // BATCH[stream]) for stream, count in records.items()}
    needed = sum(calls.values())
    made = done["target_calls"][f"import.{entity}.batch"]
    *before, last = calls
    chain = -(-longest // BATCH[last])
    ideal_s = (sum(calls[stream] for stream in before) / WORKERS + max(calls[last] / WORKERS, chain)) * SERVICE_S
    share = ideal_s / done["phase_s"]
    items = ", ".join(f"{count:,} {stream}" for stream, count in records.items())
    shown = (
        f"{share:.3f}: {done['phase_s']:.1f} s for {items}; {ideal_s:.1f} s are possible"
        f" ({made} calls, {needed / made:.0%} full)"
    )
    return at_least("c", f"{entity}-set", share, BAR, shown)
