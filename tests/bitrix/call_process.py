"""A process that calls a portal until its limit is reached: `python -m tests.bitrix.call_process CONFIG TIMES`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from b24migrate.app import source_portal
from b24migrate.clock import SystemClock
from b24migrate.config import load
from b24migrate.model.errors import Limited
from b24migrate.stores import open_store


def call(config: Path, times: int) -> None:
    settings, clock = load(config), SystemClock()
    store = open_store(settings.store.url, (), clock, base=config.parent).store
    portal = source_portal(settings, clock, (), store)
    with suppress(Limited):
        for _ in range(times):
            portal.call("server.time", {})
    store.close()


if __name__ == "__main__":
    call(Path(sys.argv[1]), int(sys.argv[2]))
