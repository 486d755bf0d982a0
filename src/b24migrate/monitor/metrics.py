"""Prometheus metrics, computed from the store at every scrape, so they survive a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

# name, labels, value
Figure: TypeAlias = tuple[str, Mapping[str, str], float]
Read: TypeAlias = Callable[[], Iterable[Figure]]


class Kind(NamedTuple):
    about: str
    labels: tuple[str, ...] = ("entity",)


KINDS: Mapping[str, Kind] = {
    "records_extracted_total": Kind("Records read from the source and staged."),
    "records_import_ok_total": Kind("Records the target has taken."),
    "records_import_err_total": Kind("Records that failed for good."),
    "records_deleted_total": Kind("Records that were read before and are deleted at the source."),
    "records_conflicts_total": Kind("Records that changed on both sides since they were sent."),
    "retry_attempts_total": Kind("Attempts after the first."),
    "verify_sample_mismatch_total": Kind("Findings of verify other than a match."),
    "custom_fields_created_total": Kind("Custom fields created on the target."),
    "attachments_download_fail_total": Kind("Files that could not be fetched."),
    "duration_ms": Kind("How long a phase of an entity took.", ("entity", "phase")),
    "inventory_reported": Kind("Records the source says it has."),
    "inventory_retrieved": Kind("Records the last full read has seen, and those deleted since they were read."),
    "inventory_drift": Kind("Reported and deleted minus retrieved."),
    "limit_wait_seconds_total": Kind("Seconds spent waiting for a limit of a portal.", ("method",)),
    "dlq_messages": Kind("Dead letters.", ()),
}


class FromStore:
    """Reads the metrics at every scrape."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        families = {name: _family(name, kind) for name, kind in KINDS.items()}
        for name, labels, value in self._read():
            families[name].add_metric([labels[label] for label in KINDS[name].labels], value)
        yield from families.values()

    def describe(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Without this, registering would read the store."""
        yield from (_family(name, kind) for name, kind in KINDS.items())


def _family(name: str, kind: Kind) -> CounterMetricFamily | GaugeMetricFamily:
    make = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
    return make(name, kind.about, labels=kind.labels)


def text(read: Read) -> str:
    """The text format, as `b24migrate metrics` prints it."""
    return str(generate_latest(_registry(read)), "utf-8")


def serve(read: Read, port: int, *, host: str = "127.0.0.1") -> Callable[[], None]:
    """Serves `/metrics` until the returned function is called."""
    server, thread = start_http_server(port, addr=host, registry=_registry(read))

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


def _registry(read: Read) -> CollectorRegistry:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(FromStore(read))
    return registry
