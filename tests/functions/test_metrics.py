"""The timer tells the metrics to Azure Monitor."""

from __future__ import annotations

import pytest
from tests.cli.ingestion import open_ingestion
from tests.engine.world import World
from tests.functions.host import Host

from b24migrate.functions import queue
from b24migrate.monitor.telemetry import VARIABLE


def test_the_timer_tells_what_the_store_knows_until_a_while_after_the_end(
    small: World, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_ingestion() as ingestion:
        monkeypatch.setenv(VARIABLE, ingestion.connection)
        host.one.tick()
        assert not ingestion.arrived  # nothing has begun
        host.ask("start", {"entities": ["users"]})
        host.run()
        ingestion.arrived.clear()
        host.one.tick()
        assert ("records_import_ok_total", {"entity": "users"}, 12.0) in ingestion.arrived
        ingestion.arrived.clear()
        small.clock.sleep(queue.AFTERWARDS_S)
        host.one.tick()
        assert not ingestion.arrived
