"""Every setting with its default. The keys are a promise to scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from b24migrate.bitrix.hosts import host_of
from b24migrate.bitrix.secrets import Redactor
from b24migrate.bitrix.webhook import Webhook, parse_webhook
from b24migrate.config.secrets import Secret
from b24migrate.messages import say
from b24migrate.model.fields import Policy
from b24migrate.model.streams import Stream
from b24migrate.private_files import is_exposed


def not_a_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(say("settings.flag"))
    return value


def id_text(value: object) -> object:
    text = str(value).strip() if isinstance(value, (int, str)) and not isinstance(value, bool) else "?"
    if text and not (text.isascii() and text.isdecimal()):
        raise ValueError(say("settings.no_user"))
    return text


def hidden(value: object) -> object:
    return Secret(value) if isinstance(value, str) else value


def host_names(value: object) -> object:
    """Names as they are compared; an address is taken for the name in it."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        return value
    names = [host_of(one.strip()) for one in value]
    for name in names:
        if not HOST_NAME.fullmatch(name):
            raise ValueError(say("settings.no_host"))
    return tuple(names)


Hidden = Annotated[Secret, BeforeValidator(hidden)]
Count = Annotated[int, BeforeValidator(not_a_flag), Field(ge=0)]
AtLeastOne = Annotated[int, BeforeValidator(not_a_flag), Field(ge=1)]
Amount = Annotated[float, BeforeValidator(not_a_flag), Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, BeforeValidator(not_a_flag), Field(ge=0, le=1)]
HostNames = Annotated[tuple[str, ...], BeforeValidator(host_names)]
UserId = Annotated[str, BeforeValidator(id_text)]
TOKEN_URL = "https://oauth.bitrix.info/oauth/token/"  # noqa: S105 (an address)
HOST_NAME = re.compile(r"\.?[\w-]+(\.[\w-]+)*|[0-9a-f:]+")
NOWHERE = "{}.invalid"  # the host of a portal whose webhook cannot be had


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)


class SourceSettings(Table):
    webhook: Hidden
    more_webhooks: tuple[Hidden, ...] = ()
    timezone: str = "Europe/Moscow"
    requests_per_second: Amount = 2.0
    bucket: Count = 50
    operating_seconds: Amount = 480.0
    allow_http: bool = False
    redirect_hosts: HostNames = ()
    file_hosts: HostNames = ()

    @property
    def webhooks(self) -> tuple[Webhook, ...]:
        """Parsed; the first one is the administrator's."""
        return tuple(
            parse_webhook(one.reveal(), allow_http=self.allow_http) for one in (self.webhook, *self.more_webhooks)
        )

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)


class ApplicationSettings(Table):
    """A local application of the box: it may do what no webhook may."""

    client_id: str
    client_secret: Hidden
    refresh_token: Hidden
    access_token: Hidden = Secret("")
    token_url: str = TOKEN_URL

    @property
    def secrets(self) -> tuple[str, ...]:
        known = (self.client_secret, self.refresh_token, self.access_token)
        return tuple(one.reveal() for one in known if one.reveal())


class TargetSettings(Table):
    kind: Literal["import", "rest"] = "import"
    webhook: Hidden
    portal_url: str = ""
    allow_http: bool = False
    redirect_hosts: HostNames = ()
    close_dates: bool = True  # of closed CRM records; without it their last change (user and time) is kept
    application: ApplicationSettings | None = None

    @property
    def parsed(self) -> Webhook:
        return parse_webhook(self.webhook.reveal(), allow_http=self.allow_http)

    @property
    def origin(self) -> str:
        """The portal address of links inside texts after the migration."""
        return self.portal_url.rstrip("/") or self.parsed.origin


class StoreSettings(Table):
    url: str = "sqlite:///b24migrate.db"

    @property
    def log_file(self) -> Path:
        """Next to an embedded store; in the working directory if the store is elsewhere."""
        kind, _, path = self.url.partition(":///")
        return Path(path).with_suffix(".log") if kind == "sqlite" else Path("b24migrate.log")


class RunSettings(Table):
    workers: Annotated[int, BeforeValidator(not_a_flag), Field(ge=1, le=64)] = 4
    verify_sample: Count = 10
    test_limit: Count = 0
    user_coverage: Share = 0.98
    outage_minutes: Amount = 30.0
    largest_file_mb: Amount = 0.0
    entities: tuple[str, ...] = ()
    allow_activities: tuple[str, ...] = ()
    deletions: Literal["keep", "delete"] = "keep"
    conflicts: Literal["", "source", "target", "ask"] = ""  # empty: the source wins
    deletions_limit: Annotated[float, BeforeValidator(not_a_flag), Field(ge=0, le=100)] = 5.0
    full_pass_days: Amount = 14.0  # after so many a delta pass reads everything
    language: Literal["", "en", "ru"] = ""  # of the command line; empty: by the locale


class MappingSettings(Table):
    placeholder_user: UserId = ""
    existing_users: Literal["link", "error"] = "link"
    policy: Mapping[str, Policy] = Field(default_factory=dict)


class EntitySettings(Table):
    """`batch` and the options that are named after a stream of the entity, such as `batch_messages`."""

    enabled: bool = True
    batches: Mapping[str, AtLeastOne] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def gather(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        batches = {name: value for name, value in values.items() if name.startswith("batch")}
        return {name: value for name, value in values.items() if name not in batches} | {"batches": batches}


class AzureSettings(Table):
    key_vault: str = ""


class Settings(Table):
    source: SourceSettings
    target: TargetSettings
    store: StoreSettings = StoreSettings()
    run: RunSettings = RunSettings()
    mapping: MappingSettings = MappingSettings()
    azure: AzureSettings = AzureSettings()
    entities: Mapping[str, EntitySettings] = Field(default_factory=dict)
    _files: tuple[Path, ...] = PrivateAttr(default=())

    def note_files(self, files: Iterable[Path]) -> None:
        """Those that the settings and their secrets were read from."""
        self._files = tuple(dict.fromkeys(files))

    @property
    def exposed_files(self) -> tuple[Path, ...]:
        """Files with settings or secrets that other users of this machine can read or change."""
        return tuple(path for path in self._files if is_exposed(path))

    @property
    def redactor(self) -> Redactor:
        application = self.target.application
        return Redactor((*self.source.webhooks, self.target.parsed), application.secrets if application else ())

    @property
    def absent(self) -> frozenset[str]:
        """The portals whose webhook is missing and not needed."""
        hosts = {"source": self.source.webhooks[0].host, "target": self.target.parsed.host}
        return frozenset(name for name, host in hosts.items() if host == NOWHERE.format(name))

    def enabled(self, entity: str) -> bool:
        """Asked for, and not switched off."""
        return (not self.run.entities or entity in self.run.entities) and not self.is_switched_off(entity)

    def is_switched_off(self, entity: str) -> bool:
        options = self.entities.get(entity)
        return options is not None and not options.enabled

    def batch_size(self, entity: str, stream: Stream) -> int:
        options = self.entities.get(entity)
        return options.batches.get(stream.batch_option, stream.batch) if options else stream.batch
