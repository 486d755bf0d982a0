"""Runs in processes of their own, on the portals and the store of a world."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.chaos.kills import Migration
from tests.chaos.store_reader import SqlitePeek
from tests.cli.command import Hold
from tests.engine.world import World


def migration(made: World) -> Migration:
    with made.app():  # writes the configuration and makes the store
        pass
    return Migration(made.folder, made.folder / "b24migrate.toml", 1.0, SqlitePeek(made.folder / "b24migrate.db"))


def owners(made: World) -> set[str]:
    """The processes that hold a job at this moment."""
    return {owner.rpartition(":")[0] for (owner,) in made.sql("SELECT Owner FROM Jobs WHERE Owner IS NOT NULL")}


@contextmanager
def held(made: World, on: Callable[[], bool]) -> Iterator[None]:
    """Neither portal answers a call as long as `on`."""
    hold = Hold()
    hold.on = on
    for running in (made.cloud, made.box):
        running.portal.clock, running.portal.latency_s = hold, 1.0
    try:
        yield
    finally:
        hold.let_go()


def until_a_job_is_held(made: World, runner: subprocess.Popen[bytes]) -> None:
    while not owners(made):
        assert runner.poll() is None
        time.sleep(0.02)
