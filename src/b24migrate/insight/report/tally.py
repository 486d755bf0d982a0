"""What is kept of a list that goes by: how long it was, how it begins, and what was in it, in groups. However long the
list and its texts are, this stays small."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

FIRST = 200  # rows
EXAMPLES = 3  # of each group
MOST_GROUPS = 300
EXCERPT = 300  # characters
LONGEST_PART = 500  # of a group
OTHERS = ("…",)

Cell = str | int | float | None
Group = tuple[str, ...]


class Excerpt(NamedTuple):
    """The beginning of a text that is too long to be shown."""

    text: str
    length: int


@dataclass(slots=True)
class Tally:
    count: int = 0
    first: list[list[Cell | Excerpt]] = field(default_factory=list)
    groups: Counter[Group] = field(default_factory=Counter)
    examples: dict[Group, list[str]] = field(default_factory=dict)

    def add(self, cells: Sequence[Cell], group: Group, example: str = "") -> None:
        self.count += 1
        group = tuple(part[:LONGEST_PART] for part in group)
        if len(self.first) < FIRST:
            self.first.append([excerpt(one) if isinstance(one, str) else one for one in cells])
        if group not in self.groups and len(self.groups) >= MOST_GROUPS:
            group = OTHERS
        self.groups[group] += 1
        known = self.examples.setdefault(group, [])
        if example and len(known) < EXAMPLES:
            known.append(example[:EXCERPT])

    def count_group(self, *group: str) -> int:
        """How many are in the groups that begin so."""
        return sum(count for one, count in self.groups.items() if one[: len(group)] == group)

    def most(self) -> list[tuple[Group, int]]:
        """The largest first; among equals by name, so that the same list always gives the same."""
        return sorted(self.groups.items(), key=lambda one: (-one[1], one[0]))


def excerpt(text: str) -> str | Excerpt:
    return text if len(text) <= EXCERPT else Excerpt(text[:EXCERPT], len(text))
