"""What records went without, in words: nothing is lost silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from b24migrate.phases.work import Work
from b24migrate.ports import UNRESOLVED
from b24migrate.streams import Entity

WORDS = {
    "placeholders": "{} times the placeholder stands for a person whom the target does not have",
    "references_dropped": "{} references to records that are not on the target were dropped",
    "texts_unresolved": "{} ids in texts could not be resolved and stay as they were",
    "files_dropped": "{} times a file that could not be had was left out",
    "custom_values_left": "{} values of custom fields stay behind",
    "custom_values_excluded": "{} values of custom fields were excluded by the field map",
}
PLACES = "{} places in them keep ids of the source: `b24migrate places` lists them"


def losses(counters: Mapping[str, float], stream: str) -> dict[str, int]:
    """Loss -> how many, those that there are."""
    counted = {name: int(counters.get(f"{name}:{stream}", 0)) for name in WORDS}
    return {name: count for name, count in counted.items() if count}


def sentences(work: Work, entity: Entity) -> Iterator[str]:
    counters = work.store.counters()
    for stream in entity.streams:
        for name, count in losses(counters, stream.name).items():
            yield f"{stream.name}: {WORDS[name].format(f'{count:,}')}"
        if places := work.store.count(UNRESOLVED, f"{stream.name}:"):
            yield f"{stream.name}: {PLACES.format(f'{places:,}')}"
