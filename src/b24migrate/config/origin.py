"""The origin of a setting: file and line, or environment variable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from b24migrate.messages import say
from b24migrate.model.records import Json

KeyPath = tuple[str, ...]
HEADER = re.compile(r"\s*\[\[?\s*(?P<name>[^\]]+?)\s*\]\]?\s*(#.*)?$")
PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
ASSIGNMENT = re.compile(rf"\s*(?P<name>(?:{PART.pattern})(?:\s*\.\s*(?:{PART.pattern}))*)\s*=")

# Parts of a webhook's address, and what is long and has letters and digits as a secret has.
_SECRETIVE = re.compile(
    r"://|/rest/|(?<![A-Za-z0-9])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{12,}(?![A-Za-z0-9])"
)


def harmless(text: str) -> bool:
    """Whether a name may be repeated in a message: it may be a secret in the wrong place."""
    return _SECRETIVE.search(text) is None


class Places:
    """The origin of each key: the last one wins."""

    def __init__(self) -> None:
        self._places: dict[KeyPath, str] = {}
        self.file = ""

    def of_file(self, path: Path, text: str) -> None:
        self.file = path.name
        table: KeyPath = ()
        for number, line in enumerate(text.splitlines(), 1):
            if header := HEADER.match(line):
                table = parts(header["name"])
                self._places.setdefault(table, say("settings.line", file=path.name, number=number))
            elif assignment := ASSIGNMENT.match(line):
                self._places[table + parts(assignment["name"])] = say("settings.line", file=path.name, number=number)

    def of_variable(self, key: KeyPath, name: str) -> None:
        self._places[key] = say("settings.at_variable", name=name)

    def of_option(self, values: Mapping[str, Json], above: KeyPath = ()) -> None:
        for name, value in values.items():
            if isinstance(value, Mapping):
                self.of_option(value, (*above, name))
            else:
                self._places[(*above, name)] = say("settings.at_option")

    def find(self, key: KeyPath) -> str:
        """The place of the key, or of the nearest table around it."""
        for end in range(len(key), 0, -1):
            if key[:end] in self._places:
                return self._places[key[:end]]
        return self.file


def parts(name: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in PART.findall(name))
