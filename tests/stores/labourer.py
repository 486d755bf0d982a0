"""A process that works on a store until the queue is empty: `python -m tests.stores.labourer URL NAME`.

Each job stages a page (half of it shared with the next job's), adds to a counter, raises a number in a register by
compare-and-swap, and finishes. A line on stdout follows each addition, so that whoever started it can do the sums.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime

from tests.stores.shelf import GROUPS, TABLES

from b24migrate.model.records import Job, Settled, Staged, Status
from b24migrate.ports import RUNS, RegisterRow, Store
from b24migrate.stores import open_store

SCOPE, PAGE = "groups-get", 40


class SystemTime:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def page(number: int) -> list[Staged]:
    return [Staged(str(key), b'{"x": "%d"}' % key) for key in range(number * PAGE // 2, number * PAGE // 2 + PAGE)]


def raise_number(store: Store) -> None:
    while True:
        row = store.read(RUNS, "number") or RegisterRow("number", {"ExitCode": 0})
        if store.swap(RUNS, row._replace(values={"ExitCode": row.values["ExitCode"] + 1})):
            return


def labour(url: str, name: str) -> None:
    clock = SystemTime()
    store, queue, files = open_store(url, TABLES, clock)
    while lease := queue.claim(f"{name}:{os.getpid()}:0", now=clock.now(), lease_s=3600):
        number = int(lease.job.args["n"])
        records = page(number)
        store.stage(GROUPS, records, run=name, pass_no=1)
        store.settle("groups", GROUPS, [Settled(records[0].row_key, Status.IMPORT_OK, 1)], now=clock.now())
        with files.writer(f"disk:{number}") as out:
            out.write(b"%d" % number)
        store.add({"work": 1})
        raise_number(store)
        print(number, flush=True)
        follow = [Job(SCOPE, "read", {"n": number + 1})] if number % 2 == 0 else []
        queue.finish(lease, follow)
    store.close()


if __name__ == "__main__":
    labour(*sys.argv[1:])
