"""What records went without, in words: nothing is lost silently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from b24migrate.streams import Entity

# of one, and of several
WORDS = {
    "left_behind": (
        "1 record stays behind, as the target had announced",
        "{} records stay behind, as the target had announced",
    ),
    "placeholders": ("the placeholder stands for a person once", "the placeholder stands for a person {} times"),
    "references_dropped": (
        "1 reference to what the target does not have was dropped",
        "{} references to what the target does not have were dropped",
    ),
    "texts_unresolved": ("1 id in a text stays as it was", "{} ids in texts stay as they were"),
    "files_dropped": ("1 file was left out", "{} files were left out"),
    "custom_values_left": ("1 value of a custom field stays behind", "{} values of custom fields stay behind"),
    "custom_values_excluded": (
        "1 value of a custom field is excluded by the field map",
        "{} values of custom fields are excluded by the field map",
    ),
}
PLACES = (
    "1 place keeps an id of the source (`b24migrate places`)",
    "{} places keep ids of the source (`b24migrate places`)",
)


def losses(counters: Mapping[str, float], stream: str) -> dict[str, int]:
    """Loss -> how many, those that there are."""
    counted = {name: int(counters.get(f"{name}:{stream}", 0)) for name in WORDS}
    return {name: count for name, count in counted.items() if count}


def sentences(entity: Entity, counters: Mapping[str, float], places: Mapping[str, int]) -> Iterator[str]:
    """One for each stream that lost anything; `places` of each keep ids of the source."""
    for stream in entity.streams:
        said = [_said(WORDS[name], count) for name, count in losses(counters, stream.name).items()]
        if kept := places.get(stream.name):
            said.append(_said(PLACES, kept))
        if said:
            whose = "" if stream.name == entity.name else f"{stream.name}: "
            yield f"{whose}{'; '.join(said)}"


def _said(words: tuple[str, str], count: int) -> str:
    one, several = words
    return one if count == 1 else several.format(f"{count:,}")
