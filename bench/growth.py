"""d and e: chats-get of a million messages beside fifty thousand. Memory stays flat, and each record costs the same."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.figures import Figure, at_most
from bench.processes import box, ours, portal
from bench.side_by_side import UNLIMITED

FEW, MANY, MANY_QUICK = 50_000, 1_000_000, 200_000
MESSAGES_IN_A_CHAT = 250
MEMORY_BAR, MEMORY_LIMIT_MB, TIME_BAR = 1.2, 200.0, 1.15


def measured(quick: bool) -> list[Figure]:
    many = MANY_QUICK if quick else MANY
    before = [read(FEW) for _ in range(2)]
    large = read(many)
    small = [*before, read(FEW)]  # around the large one, so that a machine that slows down slows both
    few_mb, many_mb = median(one["peak_mb"] for one in small), large["peak_mb"]
    growth = many_mb / few_mb
    figures = [
        at_most(
            "d",
            f"memory of chats-get, {many:,} against {FEW:,}",
            growth,
            MEMORY_BAR,
            f"{growth:.2f} ×: {many_mb:.0f} against {few_mb:.0f} MB",
        ),
        at_most("d", f"memory of chats-get, {many:,}", many_mb, MEMORY_LIMIT_MB, f"{many_mb:.0f} MB"),
    ]
    for name, unit in (("cpu_s", "CPU"), ("phase_s", "wall")):
        few_us, many_us = median(each_us(one, name) for one in small), each_us(large, name)
        ratio = many_us / few_us
        shown = f"{ratio:.2f} ×: {many_us:.1f} against {few_us:.1f} µs of {unit} time"
        figures.append(at_most("e", f"a record of chats-get, {many:,} against {FEW:,}, {unit}", ratio, TIME_BAR, shown))
    return figures


def read(messages: int) -> dict[str, Any]:
    chats = messages // MESSAGES_IN_A_CHAT
    company = {"users": 300, "groups": 0, "chats": chats, "messages": messages, "files": 0, "bad_users": 0}
    with box() as target, portal(foreign_chats=0, limits="off", **company) as source:
        return ours(source, target, ("users", "get"), ("users", "set"), ("chats", "get"), **UNLIMITED)[2]


def each_us(done: dict[str, Any], name: str) -> float:
    return float(done[name]) / int(done["records"]["chat_messages"]) * 1_000_000
