"""The state of the dashboard: the application, which is opened again when the configuration changes, the secrets that
no answer may show, and the starter of actions."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from b24migrate import __version__
from b24migrate.app import App, open_app
from b24migrate.app_cache import AppCache
from b24migrate.config import DEFAULT_FILE, Settings, environment_without_ours, load
from b24migrate.messages import LANGUAGES
from b24migrate.model.errors import BadConfiguration
from b24migrate.web.actions import ActionFiles, ProcessStarter, Starter
from b24migrate.web.auth import Hosts, Sessions
from b24migrate.web.responses import Problem

if TYPE_CHECKING:
    from b24migrate.bitrix.secrets import Redactor

SECRETS_REMEMBERED = 20  # configurations


@dataclass(frozen=True, slots=True)
class Session:
    """Version, store, portals and languages. `undecided`: conflicts that a user has to decide. `cannot_start`: why no
    action can start from here, if so."""

    version: str
    store: str
    source: str
    target: str
    config: str
    language: str
    languages: tuple[str, ...]
    undecided: int
    cannot_start: Problem | None


@dataclass(slots=True)
class Portals:
    """The result of the last opening."""

    source: str = ""
    target: str = ""
    cannot_start: Problem | None = None


@dataclass(eq=False)
class Context:
    config: Path | None = None
    environ: Mapping[str, str] | None = None  # None: the process's own
    hosts: Hosts = field(default_factory=Hosts)
    sessions: Sessions = field(default_factory=Sessions)
    starter: Starter | None = None  # None: processes of this program
    kept: AppCache | None = None  # the application of the host; None: our own

    def __post_init__(self) -> None:
        self._redactors: list[Redactor] = []
        self._stamp: object = None
        self._file: tuple[Path, object] | None = None  # that the store is in, and which one it was
        self._stamping = threading.Lock()
        self.portals = Portals()
        self._known: Settings | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self.keeper = self.kept or AppCache(self._opened)
        self.actions: Starter = self.starter or ProcessStarter(
            self.config,
            self._places,
            environ=None if self.environ is None else environment_without_ours(),
            redact=self.redact,
        )

    @contextmanager
    def app(self) -> Iterator[App]:
        """Raises BadConfiguration or Halted."""
        with self.keeper.app(fresh=self.kept is None and self._has_changed()) as app:
            self._meet(app.settings)
            yield app

    def redact(self, text: str) -> str:
        """Without any secret that was ever known here: a replaced one may still be valid elsewhere."""
        for redactor in self._redactors:
            text = redactor.redact(text)
        return text

    def session(self, language: str, undecided: int) -> Session:
        with self.app() as app:
            place = str(app.context.store.describe()["place"])
        portals = self.portals
        config = str((self.config or Path(DEFAULT_FILE)).absolute()) if self.kept is None else ""
        ends = portals.source, portals.target
        return Session(__version__, place, *ends, config, language, LANGUAGES, undecided, portals.cannot_start)

    def scratch(self) -> Path:
        """A private folder for large files, until `close`: next to the store, since /tmp may be in memory."""
        place = None if self.kept else self._places().log.parent
        with self._stamping:
            if self._scratch is None:
                self._scratch = tempfile.TemporaryDirectory(
                    prefix=".b24migrate-dashboard-", dir=place, ignore_cleanup_errors=True
                )
            return Path(self._scratch.name)

    def close(self) -> None:
        if self.kept is None:
            self.keeper.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    @contextmanager
    def _opened(self) -> Iterator[App]:
        settings = self._loaded()
        with open_app(settings) as app:
            place = Path(str(app.context.store.describe()["place"]))
            self._file = place, _which(place)
            yield app

    def _loaded(self) -> Settings:
        """Without a portal's secret the dashboard still shows the stored data."""
        cannot = None
        try:
            settings = load(self.config, environ=self.environ)
        except BadConfiguration as error:
            settings = load(self.config, environ=self.environ, portals=False)
            cannot = Problem(error.code, error.message, error.hint)
        self._meet(settings, cannot)
        return settings

    def _meet(self, settings: Settings, cannot: Problem | None = None) -> None:
        """Learns the secrets of an application before any of its data is shown."""
        if settings is self._known:
            return
        source = "" if "source" in settings.absent else settings.source.webhooks[0].origin
        target = "" if "target" in settings.absent else settings.target.parsed.origin
        self.portals = Portals(source, target, cannot)
        redactor = settings.redactor
        others = [one for one in self._redactors if not one.covers(redactor)]
        self._redactors = [redactor, *others][:SECRETS_REMEMBERED]
        self._known = settings

    def _places(self) -> ActionFiles:
        with self.app() as app:
            return ActionFiles.next_to(app.settings.store.log_file)

    def _has_changed(self) -> bool:
        """Whether the configuration changed since the last check, or the file of the store was removed or replaced."""
        stamp = _stamp(self.config or Path(DEFAULT_FILE))
        with self._stamping:
            before = self._stamp
            self._stamp = stamp or before  # an editor may remove the file for a moment
        if before is not None and stamp is not None and before != stamp:
            return True
        file = self._file
        return file is not None and _which(file[0]) != file[1]


def _stamp(path: Path) -> object:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def _which(path: Path) -> object:
    """None: a store that is in no file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino
