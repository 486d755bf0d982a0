from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

import pytest
from tests.engine.world import World, world
from tests.functions.host import Host, Open, TableMailbox

from b24migrate.app import App
from b24migrate.engine import doctor


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "DELAYS_S", (0.0, 0.0, 0.0))


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """Twelve users, four groups, eight chats that the administrator can read."""
    with world(tmp_path) as made:
        yield made


@contextmanager
def on_sqlite(made: World, **options: float) -> Iterator[Host]:
    with made.app() as own:
        mailbox = TableMailbox(own.context.queue, made.clock)
        with Host(opening(made), own.context.store, mailbox, made.clock, **options) as host:  # type: ignore[arg-type]
            yield host


def opening(made: World) -> Open:
    """One at a time, since each writes the configuration anew."""
    lock = Lock()

    @contextmanager
    def opens() -> Iterator[App]:
        with ExitStack() as stack:
            with lock:
                app = stack.enter_context(made.app())
            yield app

    return opens


@pytest.fixture
def host(small: World) -> Iterator[Host]:
    with on_sqlite(small) as made:
        yield made
