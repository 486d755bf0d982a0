"""c, first half: chats-get against the fewest requests that can do it."""

from __future__ import annotations

from bench import bounds
from bench.figures import Figure, at_least
from bench.processes import Portal, box, ours, portal

BAR = 0.9
SPEED = 4
RECENT = 200  # chats in a page of im.recent.list


def measured(quick: bool) -> list[Figure]:
    chats, messages = (600, 30_000) if quick else (2_000, 100_000)
    company = {"users": 400, "groups": 0, "chats": chats, "messages": messages, "files": 0, "bad_users": 0}
    with (
        box() as target,
        portal(foreign_chats=0, speed=SPEED, **company) as source,
    ):
        # People come first, which is no part of the figure; then the bucket is given the time to drain.
        done = ours(source, target, ("users", "get"), ("users", "set"), ("chats", "get"), speed=SPEED, rest_s=30)[2]
        needed = fewest(source)
    ideal_s = bounds.requests_alone(needed)
    share = ideal_s / done["phase_s"]
    read = done["records"]
    shown = (
        f"{share:.3f}: {done['phase_s']:.1f} s for {read['chats']:,} chats with {read['chat_messages']:,} messages,"
        f" {ideal_s:.1f} s are possible ({sum(done['source_calls'].values())} requests, {needed} are needed)"
    )
    return [at_least("c", "chats-get", share, BAR, shown)]


def fewest(source: Portal) -> int:
    """Requests of fifty commands for the list of chats, then for what is said about each chat (its participants
    besides, unless it is private), then for its messages: pages of fifty, down to one that is not full. At ten
    milliseconds a command their execution time is far from used up."""
    chats = source.dump("chats", visible_to=1)
    fields = [chat["fields"] for chat in chats]
    details = sum(1 if one["message_type"] == "P" else 2 for one in fields)
    # a chat that belongs to a task travels with the task
    pages = sum(one["message_count"] // bounds.PAGE + 1 for one in fields if one["message_type"] != "X")
    return sum(bounds.full(commands) for commands in (-(-len(chats) // RECENT), details, pages))
