"""The state of one command: its configuration, and the secrets that it must not print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from b24migrate.messages import terminal
from b24migrate.model.records import Json

if TYPE_CHECKING:
    from b24migrate.config import Settings


class Session:
    def __init__(self) -> None:
        self.config: Path | None = None
        self.environ: Mapping[str, str] | None = None  # None: the process's own
        self._redact: Callable[[str], str] = str

    def choose_language(self, name: str) -> None:
        """Nothing changes without a name. Raises BadConfiguration for an unknown one."""
        from b24migrate.entities.names import language_name

        if name:
            terminal.choose(language_name(name))

    def redact(self, text: str) -> str:
        """Without the secrets that are known by now."""
        return self._redact(text)

    def settings(self, *, portals: bool = True, **overrides: Mapping[str, Json]) -> Settings:
        """Raises BadConfiguration. From here on the secrets are known, so no output shows them. Without `portals`
        missing webhooks are no error."""
        from b24migrate.config import load

        settings = load(self.config, environ=self.environ, portals=portals, **overrides)
        self._redact = settings.redactor.redact
        terminal.suggest(settings.run.language)
        return settings


def local_user() -> str:
    """The user of this machine, and its name."""
    import getpass
    import platform

    try:
        return f"{getpass.getuser()}@{platform.node()}"
    except (KeyError, OSError):  # a container's user may have no name
        return platform.node()
