"""Users, groups and chats, moved by nothing but the functions' entry points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.engine.world import TALK, World, world
from tests.functions.conftest import on_sqlite
from tests.functions.host import Host

from b24sim import Plan

Json = Any


def assert_moved(status: Mapping[str, Json], entities: Sequence[str] = TALK) -> None:
    assert (status["state"], status["exit_code"]) == ("ended", 0), status["message"]
    for name in entities:
        entity = status["entities"][name]
        assert entity["verified"], (name, entity)
        for stream, counts in entity["streams"].items():
            assert counts["import_ok"] == counts["retrieved"] - counts["excluded"], (stream, counts)
            assert not any(counts[one] for one in ("new", "import_err", "error_retry", "mismatch")), (stream, counts)


def assert_once(made: World, entities: tuple[str, ...] = TALK) -> None:
    """The box has exactly what a run at the command line would have given it."""
    created = {key: number for key, (number, _) in made.effects().items()}
    assert created == dict.fromkeys(expected(made.cloud.portal.company.plan, entities), 1)


@cache
def expected(plan: Plan, entities: tuple[str, ...]) -> frozenset[str]:
    with TemporaryDirectory() as folder, world(Path(folder), plan) as other:
        other.run(*entities)
        assert {number for number, _ in other.effects().values()} == {1}
        return frozenset(other.effects())


def test_a_company_is_moved_and_verified(small: World, host: Host) -> None:
    code, answer = host.ask("start")
    assert code == 202
    assert answer["entities"] == list(TALK)
    status = host.run()
    assert status["run"] == answer["run"]
    assert_moved(status)
    assert_once(small)
    assert not host.bugs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_messages_that_come_twice_and_hosts_that_die_change_nothing(small: World, seed: int) -> None:
    with on_sqlite(small, dying=0.2, doubling=0.2) as host:
        host.chance.seed(seed)
        host.ask("start")
        assert_moved(host.run())
        assert host.deaths
    assert_once(small)
