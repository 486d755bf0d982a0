"""Sentences about values that records lost in the import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from b24migrate.messages import join, say
from b24migrate.model.streams import Entity

# counters of losses; each has a message `loss.<name>`
LOSSES = (
    "left_behind",
    "placeholders",
    "references_dropped",
    "texts_unresolved",
    "files_dropped",
    "custom_values_left",
    "custom_values_excluded",
)


def losses(counters: Mapping[str, float], stream: str) -> dict[str, int]:
    """Loss -> how many, those that there are."""
    counted = {name: int(counters.get(f"{name}:{stream}", 0)) for name in LOSSES}
    return {name: count for name, count in counted.items() if count}


def sentences(entity: Entity, counters: Mapping[str, float], places: Mapping[str, int]) -> Iterator[str]:
    """One for each stream that lost anything; `places` of each keep IDs of the source."""
    for stream in entity.streams:
        parts = [say(f"loss.{name}", count=count) for name, count in losses(counters, stream.name).items()]
        if kept := places.get(stream.name):
            parts.append(say("loss.places", count=kept))
        if parts:
            what = join(parts)
            yield what if stream.name == entity.name else say("loss.of_stream", stream=stream.name, what=what)
