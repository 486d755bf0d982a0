"""Metrics to Azure Monitor: the same names and figures as /metrics, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from opentelemetry.sdk.metrics.export import Gauge, InMemoryMetricReader
from tests.cli.command import Scene
from tests.cli.ingestion import KEY, open_ingestion

from b24migrate.monitor import telemetry
from b24migrate.monitor.metrics import KINDS, Figure

FIGURES: list[Figure] = [
    (name, {label: f"a {label}" for label in kind.labels}, float(number))
    for number, (name, kind) in enumerate(KINDS.items())
]
NOWHERE = f"InstrumentationKey={KEY};IngestionEndpoint=http://127.0.0.1:1/"


def gathered(reader: InMemoryMetricReader) -> list[Figure]:
    data = reader.get_metrics_data()
    found: list[Figure] = []
    for metric in data.resource_metrics[0].scope_metrics[0].metrics if data else ():
        assert isinstance(metric.data, Gauge)
        for point in metric.data.data_points:
            labels = {name: str(value) for name, value in (point.attributes or {}).items()}
            found.append((metric.name, labels, point.value))
    return found


def test_names_labels_and_values_are_those_of_prometheus() -> None:
    reader = InMemoryMetricReader()
    made = telemetry.make_provider(lambda: FIGURES, reader)
    assert gathered(reader) == FIGURES
    made.shutdown()


def test_the_store_is_read_once_a_collection_and_anew_each_time() -> None:
    totals: list[float] = []

    def read() -> list[Figure]:
        totals.append(len(totals) + 1.0)
        if totals[-1] == 2:
            raise OSError("the store is out of reach")
        return [("dlq_messages", {}, totals[-1]), ("inventory_drift", {"entity": "users"}, totals[-1])]

    reader = InMemoryMetricReader()
    made = telemetry.make_provider(read, reader)
    assert [value for _, _, value in gathered(reader)] == [1, 1]
    assert gathered(reader) == []
    assert [value for _, _, value in gathered(reader)] == [3, 3]
    made.shutdown()


def test_everything_arrives_at_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    with open_ingestion() as ingestion:
        with telemetry.send_metrics(lambda: FIGURES, ingestion.connection, lines.append):
            assert ingestion.arrived == []
        assert ingestion.arrived == FIGURES
    assert lines == []
    assert capfd.readouterr() == ("", "")


def test_an_unreachable_endpoint_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    with telemetry.send_metrics(lambda: FIGURES, NOWHERE, lines.append):
        pass
    assert lines == [telemetry.NOT_ARRIVING]
    assert KEY not in lines[0]
    assert capfd.readouterr() == ("", "")


def test_an_endpoint_that_never_answers_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telemetry, "FLUSH_S", 100_000.0)  # who sends would wait for its answer for ever
    with open_ingestion() as ingestion:
        ingestion.mute = True
        with telemetry.send_metrics(lambda: FIGURES, ingestion.connection, print, flush_s=0.2):
            pass


def test_a_connection_string_that_is_none_is_one_line() -> None:
    lines: list[str] = []
    with telemetry.send_metrics(lambda: FIGURES, "gibberish", lines.append):
        pass
    assert lines == [telemetry.NOT_USABLE]


@pytest.mark.parametrize("missing", ["azure.monitor.opentelemetry.exporter", "opentelemetry.sdk.metrics.export"])
def test_without_the_extra_the_command_that_installs_it_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    lines: list[str] = []
    with telemetry.send_metrics(lambda: FIGURES, NOWHERE, lines.append):
        pass
    assert lines == [telemetry.NOT_INSTALLED]


WATCHED = """
import sys, threading
from b24migrate.monitor import telemetry
with telemetry.send_metrics(list, sys.argv[1], print):
    print(*(thread.name for thread in threading.enumerate()))
"""


def test_the_exporter_does_nothing_besides() -> None:
    """Left to itself it starts threads that report on it to its maker, and ask there what to do."""
    environ = {name: value for name, value in os.environ.items() if name not in telemetry.KEPT_TO_ITSELF}
    with open_ingestion() as ingestion:
        command = [sys.executable, "-c", WATCHED, ingestion.connection]
        output = subprocess.check_output(command, env=environ, text=True)
    assert output.split() == ["MainThread", "OtelPeriodicExportingMetricReader"]


def test_a_run_sends_what_metrics_shows(company: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_ingestion() as ingestion:
        monkeypatch.setenv(telemetry.VARIABLE, ingestion.connection)
        company.run("run")
    shown = {one["name"]: one for one in company.run("metrics", "--json").json["metrics"]}
    assert {name for name, _, _ in ingestion.arrived} == shown.keys()
    assert ("records_import_ok_total", {"entity": "groups"}, 4.0) in ingestion.arrived


def test_a_run_without_its_endpoint_says_so_and_goes_on(company: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    clean = company.run("run", "--test-limit", "2")
    monkeypatch.setenv(telemetry.VARIABLE, NOWHERE)
    result = company.run("run", "--test-limit", "2")
    assert result.code == clean.code
    assert result.all.count(telemetry.NOT_ARRIVING) == 1
