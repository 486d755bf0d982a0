"""With what it was done: versions and settings, without secrets."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from b24migrate import __version__

if TYPE_CHECKING:
    from b24migrate.wiring import App


def told(app: App) -> list[tuple[str, str]]:
    """Named as in the configuration."""
    settings = app.settings
    source, target, run, mapping = settings.source, settings.target, settings.run, settings.mapping
    about = app.work.store.describe()
    found: list[tuple[str, object]] = [
        ("b24migrate", __version__),
        ("Python", platform.python_version()),
        ("source", source.webhooks[0].host),
        ("source.webhook, source.more_webhooks", len(source.webhooks)),
        ("source.timezone", source.timezone),
        ("source.requests_per_second", source.requests_per_second),
        ("source.bucket", source.bucket),
        ("source.operating_seconds", source.operating_seconds),
        ("target", target.parsed.host),
        ("target.portal_url", target.portal_url),
        ("store", f"{about['kind']} {about['place']}"),
        *((f"run.{name}", value) for name, value in run),
        ("mapping.placeholder_user", mapping.placeholder_user),
        ("mapping.existing_users", mapping.existing_users),
        *((f"mapping.policy.{name}", policy.value) for name, policy in mapping.policy.items()),
        *((f"entities.{name}.enabled", one.enabled) for name, one in settings.entities.items()),
        *((f"entities.{name}.{key}", n) for name, one in settings.entities.items() for key, n in one.batches.items()),
    ]
    return [(name, _value(value)) for name, value in found]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
