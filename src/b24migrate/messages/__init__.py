"""Messages for users: a message is a key and its values, rendered in the user's language.

`en/*.toml` and `ru/*.toml` have the same keys: `ru/report.toml` has the Russian `report.title`. A text is a template:
`left = "{time} left"`. Values are filled in as they are; the caller escapes the result as a whole.

- `say(key, **values)` makes a `Message`: a `str` that reads as the English sentence and keeps its key and values.
- `render(text, language)` is for the edge (terminal, dashboard, report): a message in the language of the reader. Any
  other text, such as a portal's own words, stays as it is.
- `pack` and `unpack` are for stores, which keep key and values beside the English text.

A counted message has a table of forms in place of a text (`one`, `few`, `many`), chosen by its value `count`. In a
template `{count:,}` groups digits, `{entity:entity}` and `{stream:stream}` insert names for users.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from string import Formatter
from typing import Any

LANGUAGES = ("en", "ru")
DEFAULT = "en"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
FORMS = ("one", "few", "many")
NAMES = ("entity", "stream", "phase", "portal")  # format specifications that ask for a name
LONGEST_PACKED = 10_000  # characters: no sentence needs more
_JOIN = "join"  # the key of several messages in a row
_PARTS, _BETWEEN = "parts", "between"


class Message(str):
    """An English sentence that remembers its key and values. Values may be messages, or lists of them."""

    __slots__ = ("key", "values")
    key: str
    values: Mapping[str, Any]

    @classmethod
    def of(cls, text: str, key: str, values: Mapping[str, Any]) -> Message:
        made = cls(text)
        made.key, made.values = key, values
        return made

    def __deepcopy__(self, memo: object) -> Message:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Message.of, (str(self), self.key, self.values)


class Words(Formatter):
    """The texts of one language. A key that does not exist is a bug, and raises KeyError."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __call__(self, key: str, /, **values: object) -> str:
        return self.fill(key, values)

    def fill(self, key: str, values: Mapping[str, Any]) -> str:
        known = templates(self.language, key.partition(".")[0])
        template = known[key] if key in known else known[f"{key}.{self._form(values)}"]
        return self.vformat(template, (), values) if values else template

    def named(self, kind: str, name: str) -> str:
        """The name of an entity, a stream, a phase or a state for users; its own name if it has no other."""
        return templates(self.language, "names").get(f"names.{kind}.{name}", name)

    def __contains__(self, key: str) -> bool:
        return key in templates(self.language, key.partition(".")[0])

    def topic(self, name: str) -> dict[str, str]:
        """All messages of one topic, without its name, for the scripts of a page."""
        known = templates(self.language, name.partition(".")[0])
        return {key.removeprefix(f"{name}."): text for key, text in known.items() if key.startswith(f"{name}.")}

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        """Plain names only: no attributes, no indexes."""
        return self.get_value(field_name, args, kwargs), field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec in NAMES:
            return self.named(format_spec, str(value))
        if format_spec == "," and isinstance(value, int | float):
            grouped = f"{value:,}"
            return grouped if self.language == DEFAULT else grouped.replace(",", NARROW_SPACE)
        if isinstance(value, list | tuple):
            return ", ".join(self.format_field(one, "") for one in value)
        if isinstance(value, str):
            return render(value, self.language)
        return format(value, format_spec)

    def _form(self, values: Mapping[str, Any]) -> str:
        """The plural form for the number: Russian has three, English two."""
        count = abs(int(values.get("count", 0)))
        if self.language != "ru":
            return "one" if count == 1 else "many"
        if count % 10 == 1 and count % 100 != 11:
            return "one"
        return "few" if count % 10 in (2, 3, 4) and count % 100 not in (12, 13, 14) else "many"


def words(language: str) -> Words:
    """Of a known language, else of the default one."""
    return _WORDS.get(language, _WORDS[DEFAULT])


_WORDS = {language: Words(language) for language in LANGUAGES}


@lru_cache
def templates(language: str, topic: str) -> Mapping[str, str]:
    """One file, read when it is first needed, so that short commands start sooner. Empty if the file does not exist."""
    file = files(__package__) / language / f"{topic}.toml"
    if not topic.isidentifier() or not file.is_file():
        return {}
    found = dict(_flat(tomllib.loads(file.read_text(encoding="utf-8")), f"{topic}."))
    for load in _LABELS if topic == "names" else ():
        found.update({f"names.{key}": text for key, text in load(language).items()})
    return found


_LABELS: list[Callable[[str], Mapping[str, str]]] = []


def add_labels(load: Callable[[str], Mapping[str, str]]) -> None:
    """Names that a package above this one adds: `load("ru")` returns `{"entity.users": "Сотрудники"}`."""
    _LABELS.append(load)
    templates.cache_clear()


def topics() -> list[str]:
    return sorted(file.name.removesuffix(".toml") for file in (files(__package__) / DEFAULT).iterdir())


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


# ---------------------------------------------------------------- messages


def say(key: str, /, **values: Any) -> Message:
    """The message with this key. An unknown key or a missing value raises KeyError: a bug."""
    text = words(DEFAULT).fill(key, values)
    if not values and "{" in text:
        raise KeyError(key)
    return Message.of(text, key, values)


def join(parts: Iterable[str], between: str = "; ") -> str:
    """Several messages as one. Empty ones are omitted; a single one is not changed."""
    several = [part for part in parts if part]
    if len(several) == 1:
        return several[0]
    return Message.of(between.join(several), _JOIN, {_PARTS: several, _BETWEEN: between})


def render(text: str, language: str) -> str:
    """A message in the language of the reader; any other text as it is. So is a message that is not known here: another
    version of the program kept it."""
    if not isinstance(text, Message) or language == DEFAULT:
        return text
    if text.key == _JOIN:
        return str(text.values[_BETWEEN]).join(render(one, language) for one in text.values[_PARTS])
    try:
        return words(language).fill(text.key, text.values)
    except (KeyError, ValueError, TypeError):
        return text


def revise(text: str, change: Callable[[str], str]) -> str:
    """The text changed by the function; a message in all of its values too, such as one that takes secrets out."""
    if not isinstance(text, Message):
        return change(text)
    return Message.of(change(str(text)), text.key, {name: _revised(one, change) for name, one in text.values.items()})


def _revised(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return revise(value, change)
    return [_revised(one, change) for one in value] if isinstance(value, list | tuple) else value


# ---------------------------------------------------------------- in a store


def plain(value: object) -> str:
    """For encoders that know only `str`: the English text."""
    if isinstance(value, Message):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be encoded")


def pack(value: Any) -> str | None:
    """The keys and values of every message in a JSON value, as a text that a store keeps beside it. None if there are
    none, or if they are longer than a column should be."""
    found = _found(value)
    text = json.dumps(found, default=str) if found else ""
    return text if 0 < len(text) <= LONGEST_PACKED else None


def unpack(value: Any, packed: str | None) -> Any:
    """The value with its messages again. A damaged text hides nothing: what it does not fit stays as it is."""
    try:
        return _restored(value, json.loads(packed)) if packed else value
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return value


_NO_MESSAGE = frozenset({str, int, float, bool, type(None)})


def _found(value: Any) -> dict[str, Any]:
    """`{"key": …, "values": …, "inside": …}` of a message, `{"inside": {name or place: …}}` of what has some in it."""
    if isinstance(value, Message):
        return {"key": value.key, "values": value.values, **_inside(value.values)}
    if isinstance(value, dict | Mapping):  # a check for a mapping takes long, for a dict it does not
        return _inside(value)
    return _inside(dict(enumerate(value))) if isinstance(value, list | tuple) else {}


def _inside(values: Mapping[Any, Any]) -> dict[str, Any]:
    found = {
        str(name): inner
        for name, one in values.items()
        if type(one) not in _NO_MESSAGE and (inner := _found(one))  # nearly all are plain: no call for these
    }
    return {"inside": found} if found else {}


def _restored(value: Any, packed: Mapping[str, Any]) -> Any:
    if "key" in packed:
        values = _restored(packed["values"], {"inside": packed.get("inside", {})})
        return Message.of(str(value), str(packed["key"]), dict(values)) if isinstance(value, str) else value
    inside: Mapping[str, Any] = packed["inside"]
    if isinstance(value, Mapping):
        return {**value, **{name: _restored(value[name], one) for name, one in inside.items() if name in value}}
    if isinstance(value, list | tuple):
        restored = list(value)
        for place, one in inside.items():
            if int(place) < len(restored):
                restored[int(place)] = _restored(restored[int(place)], one)
        return restored
    return value


# ---------------------------------------------------------------- the reader


def preferred(accepted: str) -> str:
    """The language for a browser that sends `Accept-Language: ru-RU,ru;q=0.9,en;q=0.8`."""
    best, found = 0.0, DEFAULT
    for part in accepted.split(","):
        name, _, quality = part.partition(";q=")
        language = name.strip().lower().partition("-")[0]
        try:
            weight = float(quality or 1)
        except ValueError:
            weight = 0.0
        if language in LANGUAGES and weight > best:
            best, found = weight, language
    return found
