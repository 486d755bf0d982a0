"""A process that takes turns on a store: `python -m tests.bitrix.quota_process URL TURNS`."""

from __future__ import annotations

import sys

from b24migrate.bitrix.limits import Governor, SharedLedger
from b24migrate.clock import SystemClock
from b24migrate.stores import open_store

HOST = "portal.example"
ENDLESS = 1e9  # no turn has to wait
SLOWEST = 1e-9  # and none is forgotten


def take(url: str, turns: int) -> None:
    clock = SystemClock()
    store = open_store(url, (), clock).store
    governor = Governor(clock, per_second=SLOWEST, bucket=ENDLESS, ledger=SharedLedger(store, HOST, clock))
    for _ in range(turns):
        governor.acquire("a", ("user.get",))
    store.close()


if __name__ == "__main__":
    take(sys.argv[1], int(sys.argv[2]))
