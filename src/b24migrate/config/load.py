"""Reads the file, the environment and the command line, in this order; the later one wins."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pydantic import ValidationError

from b24migrate.bitrix.hosts import split_address
from b24migrate.bitrix.webhook import is_loopback, parse_webhook
from b24migrate.config import messages
from b24migrate.config.environment import variables
from b24migrate.config.messages import closest, complain, reason, sentence, unknown
from b24migrate.config.model import NOWHERE, TOKEN_URL, ApplicationSettings, Settings, Table, TargetSettings
from b24migrate.config.origin import KeyPath, Places, harmless
from b24migrate.config.secrets import LIKE, Vault, file_of, is_address, resolve
from b24migrate.config.small_file import LARGEST_FILE, MOST_LEVELS, FileTooLarge, depth_of, read_small_file
from b24migrate.entities import catalog
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import Json

DEFAULT_FILE = "b24migrate.toml"
DOTENV = ".env"  # not read here: shells and Compose fill the environment from it
PLACE = re.compile(r"\(at .*\)$")


def load(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    portals: bool = True,
    **overrides: Mapping[str, Json],
) -> Settings:
    """`overrides` are tables by name: `run={"test_limit": 5}`. Raises BadConfiguration and nothing else. Without
    `portals` a webhook that cannot be had is not missed."""
    environ = os.environ if environ is None else environ
    places = Places()
    file = path or Path(DEFAULT_FILE)
    read = _file(file, places, needed=path is not None)
    for key, value, variable in variables(environ, read):
        places.of_variable(key, variable)
        _put(read, key, value)
    places.of_option(overrides)
    for table, values in overrides.items():
        for name, value in values.items():
            _put(read, (table, name), value)
    if not places.file and not read.get("source"):
        raise BadConfiguration(
            say("settings.no_file_here", file=DEFAULT_FILE),
            code="CONFIGURATION",
            hint=say("settings.no_file_here_fix"),
        )
    known = catalog()
    folder = file.absolute().parent
    lookup = partial(resolve, folder=folder, environ=environ)
    lookup = partial(lookup, vault=Vault(_key_vault(read, places, lookup)))
    if not portals:
        _leave_out_webhooks(read, lookup)
    kept_in = (file if places.file else None, *_secret_files(read, folder), folder / DOTENV)
    read = _resolved(read, places, lookup)
    messages.check(read, known, places)
    settings = _checked(_validated(read, places), places, folder)
    settings.note_files(path for path in kept_in if path is not None)
    return settings


def _secret_files(values: Json, folder: Path) -> Iterator[Path]:
    if isinstance(values, str):
        path = file_of(values, folder)
        if path is not None:
            yield path
    elif isinstance(values, (dict, list)):
        for one in values.values() if isinstance(values, dict) else values:
            yield from _secret_files(one, folder)


def _file(path: Path, places: Places, *, needed: bool) -> dict[str, Json]:
    try:
        text = read_small_file(path)
        values = tomllib.loads(text)
        if depth_of(values) > MOST_LEVELS:
            raise RecursionError
    except FileNotFoundError:
        if not needed:
            return {}
        raise BadConfiguration(
            say("settings.no_file", path=path),
            code="CONFIGURATION",
            hint=say("settings.no_file_fix"),
        ) from None
    except OSError as error:
        raise BadConfiguration(
            say("settings.unreadable", path=path, why=error.strerror),
            code="CONFIGURATION",
            hint=say("settings.unreadable_fix"),
        ) from None
    except FileTooLarge:
        raise BadConfiguration(
            say("settings.too_large", path=path, mb=LARGEST_FILE >> 20),
            code="CONFIGURATION",
            hint=say("settings.too_large_fix"),
        ) from None
    except RecursionError:
        raise BadConfiguration(
            say("settings.too_deep", file=path.name), code="CONFIGURATION", hint=say("settings.not_toml_fix")
        ) from None
    except UnicodeDecodeError:
        raise BadConfiguration(
            say("settings.not_utf8", path=path), code="CONFIGURATION", hint=say("settings.not_utf8_fix")
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(
            say("settings.not_toml", file=path.name, why=_words(error)),
            code="CONFIGURATION",
            hint=say("settings.not_toml_fix"),
        ) from None
    places.of_file(path, text)
    return values


def _words(error: tomllib.TOMLDecodeError) -> str:
    """The library's message, unless it repeats something that looks like a secret."""
    text = str(error)
    place = PLACE.search(text)
    if harmless(text):
        return f"{text[0].lower()}{text[1:]}"
    return say("settings.toml_mistake_at", place=place[0]) if place else say("settings.toml_mistake")


def _put(values: dict[str, Json], key: KeyPath, value: Json) -> None:
    for name in key[:-1]:
        inner = values.setdefault(name, {})
        if not isinstance(inner, dict):
            return  # the validator complains about it
        values = inner
    values[key[-1]] = value


def _key_vault(values: dict[str, Json], places: Places, lookup: Callable[[str], str]) -> str:
    """Resolved before the other settings, since it contains their values."""
    table = values.get("azure")
    text = table.get("key_vault") if isinstance(table, dict) else ""
    if not text or not isinstance(text, str):
        return ""  # the validator complains about anything but a text
    key = ("azure", "key_vault")
    try:
        address = lookup(text)
    except ValueError as error:
        raise complain(places, key, reason(error)) from None
    if not is_address(address):
        raise complain(places, key, say("settings.no_vault", like=LIKE))
    return address


def _resolved(
    values: dict[str, Json], places: Places, lookup: Callable[[str], str], above: KeyPath = ()
) -> dict[str, Json]:
    def one(value: Json, key: KeyPath) -> Json:
        if isinstance(value, dict):
            return _resolved(value, places, lookup, key)
        if isinstance(value, list):
            return [one(item, key) for item in value]
        if not isinstance(value, str):
            return value
        try:
            return lookup(value)
        except ValueError as error:
            raise complain(places, key, reason(error)) from None

    return {name: one(value, (*above, name)) for name, value in values.items()}


def _leave_out_webhooks(values: dict[str, Json], lookup: Callable[[str], str]) -> None:
    """Puts an address that leads nowhere in the place of each that cannot be had."""
    for name in ("source", "target"):
        table = values.get(name)
        if not isinstance(table, dict) or not isinstance(table.get("webhook"), str):
            continue
        try:
            lookup(table["webhook"])
            for one in (*table.get("more_webhooks", []), *_of_application(table)):
                lookup(str(one))
        except ValueError:
            rest = {key: value for key, value in table.items() if key not in ("more_webhooks", "application")}
            values[name] = {**rest, "webhook": f"https://{NOWHERE.format(name)}/rest/1/absent/"}


def _of_application(table: Mapping[str, Json]) -> Iterable[Json]:
    inner = table.get("application")
    return inner.values() if isinstance(inner, dict) else ()


def _validated(values: dict[str, Json], places: Places) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        found = error.errors(include_url=False)
    first = min(found, key=lambda one: one["type"] != "extra_forbidden")
    key = tuple(str(part) for part in first["loc"] if not isinstance(part, int) and part not in ("batches", "[key]"))
    if first["type"] == "extra_forbidden":
        raise unknown(places, key, _fields(key[:-1]))
    raise complain(places, key, sentence(first, key))


def _fields(table: KeyPath) -> list[str]:
    model: type[Table] = Settings
    for name in table:
        annotation = model.model_fields[name].annotation
        # an optional table is `Table | None`
        model = next(
            one for one in (get_args(annotation) or (annotation,)) if isinstance(one, type) and issubclass(one, Table)
        )
    return list(model.model_fields)


def _checked(settings: Settings, places: Places, folder: Path) -> Settings:
    """Checks that need more than one field."""
    _time_zone(settings.source.timezone, places)
    _webhooks(settings, places)
    _portal_url(settings.target.portal_url, places)
    check(settings.target, places)
    store = settings.store.model_copy(update={"url": _store_url(settings.store.url, places, folder)})
    return settings.model_copy(update={"store": store})


def _time_zone(name: str, places: Places) -> None:
    try:
        ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        fix = closest(name, available_timezones()) or say("settings.zone_like")
        raise complain(places, ("source", "timezone"), say("settings.no_zone", fix=fix)) from None


def _webhooks(settings: Settings, places: Places) -> None:
    source, target = settings.source, settings.target
    first = _webhook(source.webhook.reveal(), ("source", "webhook"), places, allow_http=source.allow_http)
    for one in source.more_webhooks:
        key = ("source", "more_webhooks")
        other = _webhook(one.reveal(), key, places, allow_http=source.allow_http)
        if other != first:
            raise complain(places, key, say("settings.other_portal"))
    _webhook(target.webhook.reveal(), ("target", "webhook"), places, allow_http=target.allow_http)
    if source.webhook == target.webhook:
        raise complain(places, ("target", "webhook"), say("settings.same_webhook"))


def _webhook(text: str, key: KeyPath, places: Places, *, allow_http: bool) -> str:
    place = places.find(key)
    name = ".".join(key)
    return parse_webhook(
        text, key=say("settings.at", place=place, what=name) if place else name, allow_http=allow_http
    ).origin


def _portal_url(url: str, places: Places) -> None:
    parts = split_address(url)
    if url and (parts is None or parts.scheme not in ("http", "https")):
        raise complain(places, ("target", "portal_url"), say("settings.no_url"))


def _store_url(url: str, places: Places, folder: Path) -> str:
    scheme, mark, path = url.partition(":///")
    if mark and scheme == "sqlite" and path and "\x00" not in path:
        return f"sqlite:///{folder / Path(path).expanduser()}"
    if url.startswith("azure://"):
        return url
    raise complain(places, ("store", "url"), say("settings.no_store"))


TABLE: KeyPath = ("target", "application")
CLIENT_ID = re.compile(r"[A-Za-z0-9._-]+")
SECRET = re.compile(r"[^\s/?&=#]+")  # an address or a whole answer is not a secret
WANTED = {
    "client_secret": say("settings.no_client_secret"),
    "refresh_token": say("settings.no_refresh_token"),
    "access_token": say("settings.no_access_token"),
}


def check(target: TargetSettings, places: Places) -> None:
    """Raises BadConfiguration."""
    application = target.application
    if application is None:
        return
    if target.kind != "rest":
        raise complain(places, TABLE, say("settings.only_rest"))
    if not CLIENT_ID.fullmatch(application.client_id):
        like = "local.65f1c0de5a1e42.12345678"
        what = say("settings.no_client_id", like=like)
        raise complain(places, (*TABLE, "client_id"), what)
    for name, value in _secrets(application).items():
        if not SECRET.fullmatch(value):
            raise complain(places, (*TABLE, name), WANTED[name])
    if not _may_be_asked(application.token_url, allow_http=target.allow_http):
        raise complain(places, (*TABLE, "token_url"), say("settings.no_token_url", like=TOKEN_URL))


def _secrets(application: ApplicationSettings) -> dict[str, str]:
    access = {"access_token": application.access_token.reveal()} if application.access_token.reveal() else {}
    return {
        "client_secret": application.client_secret.reveal(),
        "refresh_token": application.refresh_token.reveal(),
        **access,
    }


def _may_be_asked(url: str, *, allow_http: bool) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    plain = parts.scheme == "http" and (allow_http or is_loopback(host))
    return bool(host) and not parts.query and (parts.scheme == "https" or plain)
