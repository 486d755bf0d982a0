from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Scene, box, cloud

from b24migrate import app, cli
from b24migrate.clock import FastClock
from b24migrate.engine import doctor


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(app, "SystemClock", lambda: FastClock(20))
    monkeypatch.setattr(doctor, "DELAYS_S", (0.0, 0.0, 0.0))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Scene:
    """A configuration in an empty folder; the test sets its portals."""
    return Scene(tmp_path, capsys)


@pytest.fixture
def company(scene: Scene) -> Iterator[Scene]:
    """A small company in the cloud and an empty box."""
    with cloud() as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        yield scene


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """That company after its migration."""
    folder = tmp_path_factory.mktemp("migrated")
    with cloud() as source, box() as target, pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "SystemClock", lambda: FastClock(20))
        scene = Scene(folder, source=source.webhook(), target=target.webhook())
        scene.write()
        assert cli.execute(["--config", str(scene.config), "run"]) == 0
        yield scene


@pytest.fixture
def moved(scene: Scene, migrated: Scene) -> Scene:
    """A folder of its own after a migration, to look at; the portals are those of others as well."""
    shutil.copytree(migrated.folder, scene.folder, dirs_exist_ok=True)
    scene.source, scene.target = migrated.source, migrated.target
    return scene
