"""Settings from the environment: `B24MIGRATE_SOURCE__WEBHOOK` is `webhook` in the table `source`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from b24migrate.config.model import Settings, Table
from b24migrate.config.origin import KeyPath
from b24migrate.config.small_file import MOST_LEVELS, depth_of
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Json

PREFIX = "B24MIGRATE_"
DEBUG = "B24MIGRATE_DEBUG"
SHORT = {"B24MIGRATE_KEY_VAULT": ("azure", "key_vault")}
LISTS = (
    ("source", "more_webhooks"),
    ("source", "redirect_hosts"),
    ("source", "file_hosts"),
    ("target", "redirect_hosts"),
    ("run", "entities"),
    ("run", "allow_activities"),
)
REFERENCE = re.compile(r"env:(\w+)")


def variables(environ: Mapping[str, str], settings: Mapping[str, Json]) -> Iterator[tuple[KeyPath, Json, str]]:
    """Key, value and name of every variable that sets something. A variable that resembles a setting is an error,
    unless the file refers to it by `env:`."""
    referred = set(REFERENCE.findall(json.dumps(settings, default=str)))
    flat = {"_".join(key).upper(): key for key in known_keys()}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in referred:
            continue
        rest = name.removeprefix(PREFIX)
        if name in SHORT:
            yield SHORT[name], environ[name], name
        elif "__" in rest:
            key = tuple(part.lower() for part in rest.split("__"))
            yield key, value_of(environ[name], key), name
        elif rest in flat:
            right = PREFIX + "__".join(flat[rest]).upper()
            raise BadConfiguration(say("settings.sets_nothing", name=name, right=right), code="CONFIGURATION")


def known_keys() -> Iterator[KeyPath]:
    for table, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Table):
            for name in field.annotation.model_fields:
                yield table, name


def value_of(text: str, key: KeyPath) -> Json:
    """A list or a table is JSON, a list also its members with commas between; the validator reads any other text."""
    if text.lstrip().startswith(("[", "{")):
        try:
            value: Json = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return text if depth_of(value) > MOST_LEVELS else value
    if key in LISTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def debugging(environ: Mapping[str, str]) -> bool:
    return environ.get(DEBUG, "") not in ("", "0")
