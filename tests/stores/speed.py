"""How fast the embedded store is: `python -m tests.stores.speed [RECORDS]`. Figures are CPU time, never wall time."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.stores.samples import EVERYTHING, GROUPS, NOON, TABLES, Time

from b24migrate.model.records import Job, Link, Settled, Staged, Status
from b24migrate.ports import Store
from b24migrate.stores import open_store

PAGE = 2_500
TEXT = '{"ID":"%d","TITLE":"' + "Сделка " * 30 + '","COMMENTS":"' + "lorem ipsum " * 64 + '"}'
SMALL, LARGE = 50_000, 1_000_000


def pages(first: int, count: int) -> Iterator[list[Staged]]:
    """Payloads of about 1.2 KB."""
    for start in range(first, first + count, PAGE):
        yield [
            Staged(
                str(number),
                (TEXT % number).encode(),
                f"{number:064x}",
                "2026-01-01T03:00:00+03:00",
                "2026-01-01T00:00:00Z",
                180,
            )
            for number in range(start, start + PAGE)
        ]


class Watch:
    def __init__(self) -> None:
        self.spent_s = 0.0

    def during(self, act: Callable[[], object]) -> None:
        begun = time.process_time()
        act()
        self.spent_s += time.process_time() - begun


def memory_mb() -> int:
    """The most there ever was."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def tell(what: str, count: int, watch: Watch) -> float:
    each = watch.spent_s / count * 1e6
    print(f"{what:48} {each:8.2f} µs each {count / watch.spent_s:12,.0f} a CPU second   memory {memory_mb()} MB")
    return each


def staging(store: Store, total: int) -> None:
    watch, before = Watch(), 0.0
    for done, page in enumerate(pages(1, total), 1):
        watch.during(partial(store.stage, GROUPS, page, run="r", pass_no=1))
        if done * PAGE == SMALL:
            tell(f"stage, the first {SMALL:,}", SMALL, watch)
        if done * PAGE == total - SMALL:
            before = watch.spent_s
    tell(f"stage, all {total:,}", total, watch)
    last = Watch()
    last.spent_s = watch.spent_s - before
    tell(f"stage, the last {SMALL:,}", SMALL, last)


def replaying(store: Store) -> None:
    again, second = Watch(), Watch()
    for page in pages(1, SMALL):
        again.during(partial(store.stage, GROUPS, page, run="r", pass_no=1))
        second.during(partial(store.stage, GROUPS, page, run="r", pass_no=2))
    tell("stage again, nothing new", SMALL, again)
    tell("stage in a second pass", SMALL, second)


def settling(store: Store) -> None:
    watch, reading = Watch(), Watch()
    for start in range(1, SMALL, 500):
        outcomes = [
            Settled(str(number), Status.IMPORT_OK, 1, link=Link(str(number), f"t{number}", "d" * 64))
            for number in range(start, start + 500)
        ]
        reading.during(lambda: store.pending(GROUPS, EVERYTHING, 500, now=NOON))
        watch.during(partial(store.settle, "groups", GROUPS, outcomes, now=NOON))
    tell("pending, 500 at once", SMALL, reading)
    tell("settle with a link, 500 at once", SMALL, watch)


def main(total: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        store, queue, _ = open_store("sqlite:///speed.db", TABLES, Time(), base=path)
        staging(store, total)
        replaying(store)
        settling(store)
        counting = Watch()
        counting.during(lambda: [store.counts(GROUPS) for _ in range(1000)])
        tell("counts", 1000, counting)
        choosing = Watch()
        choosing.during(lambda: store.sample(GROUPS, 10, seed=1, status=Status.IMPORT_OK))
        tell("sample of 10", 1, choosing)
        cutting = Watch()
        cutting.during(lambda: store.cuts(GROUPS, EVERYTHING, 2000, whole_parents=False, pending=True))
        tell("cuts", total, cutting)
        queue.put([Job("s", "k", {"n": number}) for number in range(100_000)])
        claiming = Watch()
        claiming.during(lambda: [queue.claim("h:1:1", now=NOON, lease_s=60) for _ in range(2000)])
        tell("claim, of 100,000 waiting", 2000, claiming)
        log = (path / "speed.db-wal").stat().st_size >> 20
        store.close()
        print(f"log {log} MB, database {(path / 'speed.db').stat().st_size / total:,.0f} bytes a record")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else LARGE)
