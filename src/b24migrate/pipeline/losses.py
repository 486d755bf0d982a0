"""What records went without, in words: nothing is lost silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from b24migrate.streams import Entity

WORDS = {
    "placeholders": "the placeholder stands for a person {} times",
    "references_dropped": "{} references to what the target does not have were dropped",
    "texts_unresolved": "{} ids in texts stay as they were",
    "files_dropped": "{} files were left out",
    "custom_values_left": "{} values of custom fields stay behind",
    "custom_values_excluded": "{} values of custom fields are excluded by the field map",
}
PLACES = "{} places keep ids of the source (`b24migrate places`)"


def losses(counters: Mapping[str, float], stream: str) -> dict[str, int]:
    """Loss -> how many, those that there are."""
    counted = {name: int(counters.get(f"{name}:{stream}", 0)) for name in WORDS}
    return {name: count for name, count in counted.items() if count}


def sentences(entity: Entity, counters: Mapping[str, float], places: Mapping[str, int]) -> Iterator[str]:
    """One for each stream that lost anything; `places` of each keep ids of the source."""
    for stream in entity.streams:
        said = [WORDS[name].format(f"{count:,}") for name, count in losses(counters, stream.name).items()]
        if kept := places.get(stream.name):
            said.append(PLACES.format(f"{kept:,}"))
        if said:
            whose = "" if stream.name == entity.name else f"{stream.name}: "
            yield f"{whose}{'; '.join(said)}"
