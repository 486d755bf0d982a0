"""The only reader of files and environment: `load` gives every setting, checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from b24migrate.config.environment import PREFIX, debugging
from b24migrate.config.load import DEFAULT_FILE, load
from b24migrate.config.messages import reason
from b24migrate.config.model import EntitySettings, Settings
from b24migrate.config.secrets import Secret, Vault, resolve
from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration

__all__ = [
    "DEFAULT_FILE",
    "EntitySettings",
    "Secret",
    "Settings",
    "dashboard_names",
    "dashboard_token",
    "debug_wanted",
    "environment_without_ours",
    "load",
    "monitor_connection",
    "secret_at",
]


DASHBOARD_TOKEN = "B24MIGRATE_DASHBOARD_TOKEN"  # noqa: S105 (its name)


def debug_wanted() -> bool:
    """B24MIGRATE_DEBUG=1: show tracebacks."""
    return debugging(os.environ)


def dashboard_token() -> str:
    """The token of a dashboard that runs as a function: B24MIGRATE_DASHBOARD_TOKEN, a token or a reference to it; empty
    if not set. Raises BadConfiguration."""
    value = os.environ.get(DASHBOARD_TOKEN, "").strip()
    vault = Vault(os.environ.get("B24MIGRATE_KEY_VAULT", "").strip())
    try:
        return resolve(value, folder=Path.cwd(), environ=os.environ, vault=vault)
    except ValueError as error:
        raise BadConfiguration(
            say("settings.complaint", key=DASHBOARD_TOKEN, what=reason(error)), code="CONFIGURATION"
        ) from None


def dashboard_names() -> frozenset[str]:
    """The name that Azure gives to what it hosts."""
    name = os.environ.get("WEBSITE_HOSTNAME", "").strip().lower()
    return frozenset({name} if name else ())


def environment_without_ours() -> dict[str, str]:
    """For a process that shall go by its configuration alone."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


def monitor_connection() -> str:
    """The connection string of Application Insights, as Azure's libraries expect it; empty if there is none."""
    return os.environ.get("APPLICATIONINSIGHTS_CONNECTION_STRING", "").strip()


def secret_at(reference: str, *, folder: Path, environ: Mapping[str, str] | None) -> str:
    """The value of `env:NAME` or `file:PATH` on the command line. Raises BadConfiguration."""
    try:
        return resolve(reference, folder=folder, environ=os.environ if environ is None else environ)
    except ValueError as error:
        raise BadConfiguration(say("settings.option", error=reason(error)), code="USAGE") from None
