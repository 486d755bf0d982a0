"""A process that works on a store until the queue is empty: `python -m tests.stores.queue_worker URL NAME`. It opens
the store, prints that, and starts again with each line on stdin, until there are no more.

Each job stages a page (half of it shared with the next job's), adds to a counter, raises a number in a register by
compare-and-swap, and finishes. A line on stdout follows each addition, so that the starting process can compare the
sums.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime

from tests.stores.samples import GROUPS, TABLES

from b24migrate.model.records import Job, Settled, Staged, Status
from b24migrate.ports import RUNS, RegisterRow, Store
from b24migrate.stores import Opened, open_store

SCOPE, PAGE = "groups-get", 40
OPEN, REST = "open", "rest"


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


def work(opened: Opened, name: str) -> None:
    clock = SystemTime()
    store, queue, files = opened
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


def main(url: str, name: str) -> None:
    opened = open_store(url, TABLES, SystemTime())
    print(OPEN, flush=True)
    for _ in sys.stdin:
        work(opened, name)
        print(REST, flush=True)
    opened.store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
