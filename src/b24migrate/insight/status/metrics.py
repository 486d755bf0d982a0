"""The metrics of a migration."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.status.facts import FactReader, Facts
from b24migrate.insight.status.model import EntityStatus

Metric = tuple[str, dict[str, str], float]  # name, labels, value


def figures(context: RunContext) -> list[Metric]:
    facts = FactReader(context).read()
    found = [one for entity in facts.snapshot.entities.values() for one in _entity(facts, entity)]
    found += [("limit_wait_seconds_total", {"method": method}, value) for method, value in facts.waited_s.items()]
    return [*found, ("dlq_messages", {}, context.queue.dead_count())]


def _entity(facts: Facts, entity: EntityStatus) -> Iterator[Metric]:
    counters = facts.counters
    for name, stream in entity.streams.items():
        label = {"entity": name}
        yield "records_extracted_total", label, stream.staged
        yield "records_import_ok_total", label, stream.imported
        yield "records_import_err_total", label, stream.failed
        yield "retry_attempts_total", label, counters.get(f"retries:{name}", 0)
        yield "verify_sample_mismatch_total", label, stream.findings
        yield "custom_fields_created_total", label, counters.get(f"custom_fields_created:{name}", 0)
        yield "attachments_download_fail_total", label, counters.get(f"download_failed:{name}", 0)
        yield "inventory_retrieved", label, stream.read
        yield "inventory_drift", label, stream.drift
        if stream.source is not None:
            yield "inventory_reported", label, stream.source
    for phase, state in entity.phases.items():
        if state.started:
            end = datetime.fromisoformat(state.finished) if state.finished else facts.at
            spent_s = (end - datetime.fromisoformat(state.started)).total_seconds()
            yield "duration_ms", {"entity": entity.name, "phase": phase}, spent_s * 1000
