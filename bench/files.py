"""g: files of chats, from the portal to the file store and on to the box, in pieces; memory stays flat."""

from __future__ import annotations

from typing import Any

from bench.figures import Figure, at_most
from bench.processes import Portal, box, ours, portal
from bench.side_by_side import UNLIMITED

MEMORY_BAR, MEMORY_LIMIT_MB = 1.2, 200.0
MEGABYTE = 1 << 20
FEW, MANY, MANY_QUICK = 500, 10_000, 1_500
LARGE, LARGE_MB = 200, 12  # several pieces each: the box takes four megabytes at a time
CHATS, MESSAGES = 100, 22_000  # however many files there are
STEPS = [("users", "get"), ("users", "set"), ("chats", "get"), ("chats", "set")]


def measured(quick: bool) -> list[Figure]:
    many = MANY_QUICK if quick else MANY
    few_mb = peak_mb(moved(FEW, MEGABYTE))
    done = moved(many, MEGABYTE)
    many_mb = peak_mb(done)
    growth = many_mb / few_mb
    grown = f"{growth:.2f} ×: {many_mb:.0f} against {few_mb:.0f} MB"
    large_mb = peak_mb(moved(LARGE, LARGE_MB * MEGABYTE))
    return [
        *(speed(name, many, done[phase]) for name, phase in (("fetched", "get"), ("uploaded", "set"))),
        at_most("g", f"memory of files of 1 MB, {many:,} against {FEW:,}", growth, MEMORY_BAR, grown),
        at_most("g", f"memory of {many:,} files of 1 MB", many_mb, MEMORY_LIMIT_MB, f"{many_mb:.0f} MB"),
        at_most("g", f"memory of {LARGE} files of {LARGE_MB} MB", large_mb, MEMORY_LIMIT_MB, f"{large_mb:.0f} MB"),
    ]


def speed(name: str, files: int, done: dict[str, Any]) -> Figure:
    rate = files / done["phase_s"]
    shown = f"{rate:,.0f} a second: {done['phase_s']:.0f} s, {done['cpu_s']:.0f} s of CPU time"
    return Figure("g", f"{files:,} files of 1 MB {name}", shown)


def peak_mb(done: dict[str, dict[str, Any]]) -> float:
    """Of the whole program, so at the end of the last phase."""
    return float(done["set"]["peak_mb"])


def moved(files: int, size: int) -> dict[str, dict[str, Any]]:
    """The figures of chats-get, which fetches, and of chats-set, which uploads; of so many files, or a few more."""
    sent = files + files // 14  # some are in chats that belong to tasks, and travel with those
    company = {"users": 50, "groups": 0, "chats": CHATS, "messages": MESSAGES, "files": sent}
    with (
        box() as target,
        portal(foreign_chats=0, bad_users=0, limits="off", file_bytes=size, **company) as source,
    ):
        *_, fetched, uploaded = ours(source, target, *STEPS, **UNLIMITED)
        wanted, arrived = of_chats(source), len(target.dump("files", visible_to=1))
    if not files <= wanted == arrived:
        raise RuntimeError(f"{arrived} of {wanted} files arrived")
    return {"get": fetched, "set": uploaded}


def of_chats(source: Portal) -> int:
    chats = source.dump("chats", visible_to=1)
    of_tasks = {int(chat["id"]) for chat in chats if chat["fields"]["message_type"] == "X"}
    return sum(file["fields"]["chatId"] not in of_tasks for file in source.dump("files", visible_to=1))
