"""A migration in which something of everything went wrong, done once for all tests that only look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engine.every_stream import everything
from tests.engine.migrated import TakeUp, migrated
from tests.engine.test_certificate import edit
from tests.engine.test_verify import verify_everything
from tests.engine.world import World, world
from tests.report.report_reader import Report, report

DRIFT = 3


@dataclass
class Troubled:
    """Failed records and files, findings, drift, and what the API does not give."""

    world: World
    closed: Report  # before there was drift
    english: Report
    russian: Report


@pytest.fixture(scope="session")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Troubled]:
    with everything(tmp_path_factory.mktemp("troubled")) as made:
        people, groups = made.cloud.portal.company.users.ids, made.cloud.portal.company.groups.ids
        made.change("users", id=people[-1], fields={"NAME": ""})
        made.strike_cloud({"method": "download", "kind": "html200", "at": [2, 3, 4, 5, 6, 7]})
        assert made.run().exit_code == 5
        made.strike_cloud()
        made.change("groups", id=groups[0], fields={"NAME": "Renamed"})
        assert verify_everything(made).exit_code == 5
        closed = report(made, "closed")
        wrong = "UPDATE SourceInventory SET ReportedTotal = RetrievedTotal + ? WHERE RowKey LIKE 'crm_deals:%'"
        edit(made, wrong, DRIFT)
        yield Troubled(made, closed, report(made, "english"), report(made, "russian", language="ru"))


@pytest.fixture(scope="session")
def clean_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("clean")) as taken_up:
        yield taken_up


@pytest.fixture
def clean(clean_once: TakeUp, tmp_path: Path) -> World:
    """Migrated, and nothing went wrong."""
    return clean_once(tmp_path)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[World]:
    """Nothing was done yet."""
    with world(tmp_path) as made:
        yield made
