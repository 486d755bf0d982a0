"""The same store gives the same bytes, and a large one takes no more memory than a small one."""

from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World
from tests.report.conftest import Troubled
from tests.report.report_reader import report

from b24migrate.app import App, copy_store
from b24migrate.engine import plan
from b24migrate.engine.phases.comparison import write_findings
from b24migrate.engine.phases.stage import write_set_aside
from b24migrate.model.records import Fate, Finding, Link, SetAside, Settled, Staged, Status
from b24migrate.ports import UNRESOLVED, RegisterRow
from b24migrate.report import Request, make_report

BATCH = 500  # records
LEAST_BYTES = 140  # of one object for each record
NOW = datetime(2026, 3, 1, 2, 14, tzinfo=UTC)


class Standstill:
    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None: ...


def still(made: World, name: str, **settings: Any) -> dict[str, bytes]:
    return report(replace(made, clock=Standstill()), name, **settings).bytes()  # type: ignore[arg-type]


def test_the_same_store_gives_the_same_bytes(troubled: Troubled, monkeypatch: pytest.MonkeyPatch) -> None:
    first = still(troubled.world, "first")
    monkeypatch.setattr("b24migrate.insight.certificate.facts.AT_ONCE", 7)  # much is laid aside and merged
    assert still(troubled.world, "second") == first
    assert "2026-03-01 02:14:00 UTC" in first["report.html"].decode()
    assert "2026-03-01 05:14:00 Europe/Moscow" in first["report.html"].decode()


@pytest.mark.slow
def test_a_store_on_azure_gives_the_same_rows(clean: World, azure_store: str) -> None:
    here = still(clean, "here")
    assert copy_store(f"sqlite:///{clean.folder}/b24migrate.db", azure_store).equal
    there = still(clean, "there", store={"url": azure_store})
    assert {name: there[name] for name in there if name.endswith(".csv")} == {
        name: here[name] for name in here if name.endswith(".csv")
    }


def test_memory_stays_flat_however_much_there_is(fresh: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("b24migrate.insight.certificate.facts.AT_ONCE", BATCH)
    with fresh.app() as app:
        plan.begin(app.context.store, app.context.clock, plan.Plan(("users",)))
        fill(app, 0, BATCH)
        make_here(app, fresh.folder / "warm")
        fill(app, BATCH, 2 * BATCH)
        little = peak(app, fresh.folder / "little")
        fill(app, 2 * BATCH, 8 * BATCH)
        much = peak(app, fresh.folder / "much")
    assert (fresh.folder / "much" / "links.csv").read_bytes().count(b"\n") == 2 * 8 * BATCH + 1
    assert much < little + 6 * BATCH * LEAST_BYTES, (little, much)


def fill(app: App, first: int, last: int) -> None:
    """Failed people, links, files, findings, what was set aside, and places: one of each for every number."""
    store, clock = app.context.store, app.context.clock
    people, groups, files = (app.context.streams[name] for name in ("users", "groups", "files"))
    for start in range(first, last, BATCH):
        ids = [str(number) for number in range(start + 1, start + BATCH + 1)]
        payload = b'{"NAME": "' + b"Name " * 20 + b'", "EMAIL": "a@b.example"}'
        store.stage(people.table, [Staged(one, payload) for one in ids], run="r", pass_no=1)
        failed = [Settled(one, Status.IMPORT_ERR, 3, "VALIDATION", "NAME is too long " * 5) for one in ids]
        store.settle(people.name, people.table, failed, now=clock.now())
        store.link(groups.name, [Link(one, f"9{one}", "d" * 64) for one in ids], now=clock.now())
        held = [
            Staged(
                f"disk:{one}",
                f'{{"kind":"disk","id":"{one}","entity":"users","stream":"users","size":{one},"name":"n"}}'.encode(),
            )
            for one in ids
        ]
        store.stage(files.table, held, run="r", pass_no=0)
        gone = [Settled(one.row_key, Status.IMPORT_ERR, 3, "TOO_LARGE", "too large") for one in held]
        store.settle(files.name, files.table, gone, now=clock.now())
        store.link(files.name, [Link(one.row_key, "1") for one in held], now=clock.now())
        write_findings(app.context, [Finding("users", Fate.DIFFERS, one, "NAME", "x" * 100, "y" * 100) for one in ids])
        write_set_aside(
            app.context, [SetAside("chats", one, "impossible", f"nobody reads {one}", "Somebody") for one in ids]
        )
        places = {"Stream": "users", "Place": "a/b/c", "What": "users 1"}
        store.write(UNRESOLVED, [RegisterRow(f"users:{one}:1", {**places, "SourceId": one}) for one in ids])


def peak(app: App, out: Path) -> int:
    """With the collector at its usual pace: here it seldom collects, and garbage would be measured."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(700)
    tracemalloc.start()
    try:
        make_here(app, out)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.set_threshold(*before)


def make_here(app: App, out: Path) -> None:
    written = make_report(app, Request(out, "en", app.settings.redactor.redact))
    assert len({written.rows[f"{name}.csv"] for name in ("failed", "findings", "set_aside", "unresolved")}) == 1
