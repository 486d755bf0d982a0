"""Reads configuration and secrets, which are small: a device such as /dev/zero has no end, and a nested value may be
deeper than any function can follow."""

from __future__ import annotations

from pathlib import Path

from b24migrate.model.records import Json

LARGEST_FILE = 1 << 20  # bytes
MOST_LEVELS = 20  # of tables and lists inside each other: no setting has more than four


class FileTooLarge(ValueError):
    """No configuration and no secret is as large as this file."""


def read_small_file(path: Path) -> str:
    """Its text. Raises OSError, UnicodeDecodeError, or FileTooLarge."""
    with path.open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise FileTooLarge
    return content.decode("utf-8-sig")


def depth_of(value: Json) -> int:
    """How many tables and lists are inside each other. Without recursion: the file may have thousands."""
    deepest, left = 0, [(value, 1)]
    while left:
        one, level = left.pop()
        if isinstance(one, (dict, list)):
            deepest = max(deepest, level)
            left += [(inner, level + 1) for inner in (one.values() if isinstance(one, dict) else one)]
    return deepest
