"""The same metrics through OpenTelemetry to Azure Monitor, where the extra `monitor` is installed. Never in the way:
whatever fails here is one line, and the run goes on."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from b24migrate.monitor.metrics import KINDS, Figure, Read

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricExporter, MetricReader

VARIABLE = "APPLICATIONINSIGHTS_CONNECTION_STRING"
NOT_INSTALLED = (
    f"{VARIABLE} is set, and the libraries that send metrics are not installed; "
    'install them with `pip install "b24migrate[monitor]"`.'
)
NOT_USABLE = f"{VARIABLE} is no connection string, so no metrics are sent; copy it from Application Insights."
NOT_ARRIVING = f"Metrics do not reach Azure Monitor; check {VARIABLE} and the network. The work goes on without them."
EVERY_S = 60.0
FLUSH_S = 5.0
# The exporter would send statistics about itself to its vendor. Only the environment can switch that off.
KEPT_TO_ITSELF = {
    "APPLICATIONINSIGHTS_STATSBEAT_DISABLED_ALL": "true",
    "APPLICATIONINSIGHTS_SDKSTATS_DISABLED": "true",
    "APPLICATIONINSIGHTS_CONTROLPLANE_DISABLED": "true",
}


@contextmanager
def send_metrics(
    read: Read, connection: str, say: Callable[[str], None], *, flush_s: float = FLUSH_S
) -> Iterator[None]:
    """Sends the figures every minute and at the end of the block, from a thread of its own. `say` gets at most one line
    for the user. The end waits `flush_s` at most."""
    try:
        started = make_provider(read, _periodic(connection, say))
    except ImportError:
        started = None
        say(NOT_INSTALLED)
    except ValueError:
        started = None
        say(NOT_USABLE)
    try:
        yield
    finally:
        if started:
            started.shutdown(timeout_millis=flush_s * 1000)


def make_provider(read: Read, reader: MetricReader) -> MeterProvider:
    """A gauge for each metric, since the store has totals: with counters every process would add them again."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource

    made = MeterProvider([reader], Resource({"service.name": "b24migrate"}), shutdown_on_exit=False)
    meter = made.get_meter("b24migrate")
    figures = Figures(read)
    for name, kind in KINDS.items():
        meter.create_observable_gauge(name, [figures.observer(name)], description=kind.about)
    return made


class Figures:
    """Reads the store once for all the gauges of a collection."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._waiting: dict[str, list[Figure]] = {}

    def observer(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        from opentelemetry.metrics import Observation

        def observe(_: CallbackOptions) -> list[Observation]:
            return [Observation(value, dict(labels)) for _, labels, value in self._take(name)]

        return observe

    def _take(self, name: str) -> list[Figure]:
        if name not in self._waiting:
            self._waiting = {other: [] for other in KINDS if other != name}  # for when the store cannot be read
            found = list(self._read())
            self._waiting = {known: [figure for figure in found if figure[0] == known] for known in KINDS}
        return self._waiting.pop(name)


def _periodic(connection: str, say: Callable[[str], None]) -> MetricReader:
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    # Without a handler the libraries' own account of each failure would go to stderr, time and again.
    for library in ("azure", "opentelemetry"):
        logging.getLogger(library).addHandler(logging.NullHandler())
    return PeriodicExportingMetricReader(_exporter(connection, say), export_interval_millis=EVERY_S * 1000)


def _exporter(connection: str, say: Callable[[str], None]) -> MetricExporter:
    for name, value in KEPT_TO_ITSELF.items():
        os.environ.setdefault(name, value)
    from azure.monitor.opentelemetry.exporter import AzureMonitorMetricExporter
    from opentelemetry.sdk.metrics.export import MetricExportResult

    class ReportedExport(AzureMonitorMetricExporter):
        """Logs once that nothing could be sent."""

        silent = True

        def export(self, *arguments: Any, **options: Any) -> MetricExportResult:
            result = super().export(*arguments, **options)
            if result is not MetricExportResult.SUCCESS and self.silent:
                self.silent = False
                say(NOT_ARRIVING)
            return result

    # The store has every total, so lost figures need not be sent again.
    return ReportedExport(connection_string=connection, disable_offline_storage=True, timeout=FLUSH_S, retry_total=0)
