"""The tables, their columns, and the groups in which the page counts their rows. The names of
files and columns are a promise to scripts, in every language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from b24migrate.engine.phases.context import RunContext
from b24migrate.insight.conflicts import COLUMNS, walk_fields
from b24migrate.insight.losses import LOSSES
from b24migrate.insight.report import Facts, rows
from b24migrate.insight.report.model import Cell, FileFacts, GroupKey
from b24migrate.messages import render
from b24migrate.messages.pages import page_of

NAMED = re.compile(r"[^\s(),;]*\d[^\s(),;]*")  # reasons that differ only in an id are one


class Line(NamedTuple):
    cells: Sequence[Cell]
    group: GroupKey
    example: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the rows."""

    context: RunContext
    folder: Path  # for what does not fit into memory
    facts: Facts
    files: FileFacts
    language: str

    def fix(self, code: str) -> str:
        return render(page_of(code).fix, self.language)


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[str, ...]
    lines: Callable[[Sources], Iterator[Line]]

    @property
    def file(self) -> str:
        return f"{self.name}.csv"


# ---------------------------------------------------------------- each of them


def streams(making: Sources) -> Iterator[Line]:
    for one in making.facts.streams:
        about: Sequence[Cell] = (one.entity, one.name, one.source, one.read, one.imported, one.verified, one.failed)
        rest: Sequence[Cell] = (one.waiting, one.retrying, one.excluded, one.deleted, one.impossible)
        rest = (*rest, one.drift, one.findings)
        lost = [one.losses.get(name, 0) for name in LOSSES]
        yield Line((*about, *rest, one.places, *lost), (one.entity,))


def failed(making: Sources) -> Iterator[Line]:
    for one in rows.failed(making.context):
        yield Line((*one, making.fix(one.code)), (one.code, one.stream), one.source_id)


def set_aside(making: Sources) -> Iterator[Line]:
    for one in rows.set_aside(making.context, making.folder):
        alike = NAMED.sub("…", render(one.reason, making.language)[:500])
        yield Line(one, (one.why, one.stream, alike), one.name or one.source_id)


def deleted(making: Sources) -> Iterator[Line]:
    for one in rows.deleted(making.context):
        fate = ("there" if one.target_id else "removed") if not one.reason else "kept"
        yield Line(one, (one.stream, fate, render(one.reason, making.language)[:500]), one.source_id)


def findings(making: Sources) -> Iterator[Line]:
    for one in rows.findings(making.context, making.folder):
        yield Line(one, (one.fate, one.stream), one.source_id)


def conflicts(making: Sources) -> Iterator[Line]:
    for one in walk_fields(making.context):
        stream, source_id, *_, decision, _at = one
        yield Line(one, (stream, decision or "undecided"), source_id)


def foreseen(making: Sources) -> Iterator[Line]:
    for one in rows.foreseen(making.context, making.folder):
        yield Line(one, (one.fate, one.stream, one.field), one.source_id)


def fidelity(making: Sources) -> Iterator[Line]:
    for one in making.facts.fidelity.lines if making.facts.fidelity else ():
        cells = (one.entity, one.stream, one.field, one.keeping, one.reason, one.records, one.basis.value)
        yield Line((*cells, "yes" if one.accepted else "no"), (one.keeping,))


def unresolved(making: Sources) -> Iterator[Line]:
    for one in rows.unresolved(making.context, making.folder):
        yield Line(one, (one.kind, one.stream), one.source_id)


def activities(making: Sources) -> Iterator[Line]:
    for one in rows.activities(making.context):
        yield Line(one, (one.state, one.activity), one.source_id)


def drift(making: Sources) -> Iterator[Line]:
    for one in rows.inventories(making.context):
        flags = ("yes" if flag else "no" for flag in (one.latest, one.limited))
        yield Line((*one[:-2], *flags), (one.stream,))


def timing(making: Sources) -> Iterator[Line]:
    facts = making.facts
    forecasts = {(one.entity, one.phase): one.foretold_s for one in facts.compared}
    for one in facts.phases:
        if one.started:
            seconds, expected = _seconds(one.seconds), _seconds(forecasts.get((one.entity, one.phase)))
            yield Line(
                ("phase", one.entity, one.phase, one.state, one.started, one.finished, seconds, expected), ("phase",)
            )
    for method, waited in facts.waits:
        yield Line(("wait", method, "", "", "", "", _seconds(waited), None), ("wait",))
    for run in facts.runs:
        yield Line(("run", run.id, "", run.state, run.started, run.finished, None, None), ("run",))


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def links(making: Sources) -> Iterator[Line]:
    for one in rows.links(making.context, making.folder):
        yield Line(one, (one.stream, one.origin))


def files_failed(making: Sources) -> Iterator[Line]:
    for one in rows.failed_files(making.context, making.files):
        yield Line((*one, making.fix(one.code)), (one.code,), one.key)


def custom_fields(making: Sources) -> Iterator[Line]:
    for one in rows.custom_fields(making.context):
        yield Line(one, (one.fate, one.entity), one.code)


COUNTS = (
    "source",
    "read",
    "imported",
    "verified",
    "failed",
    "waiting",
    "retrying",
    "excluded",
    "deleted",
    "impossible",
)
TIMES = ("state", "started_utc", "finished_utc", "seconds", "foretold_seconds")
PASSES = ("snapshot_utc", "reported", "retrieved", "drift", "pages", "method", "latest", "limited")
TABLES = (
    Table("streams", ("entity", "stream", *COUNTS, "drift", "findings", "unresolved_places", *LOSSES), streams),
    Table("failed", ("stream", "source_id", "title", "code", "message", "attempts", "fix"), failed),
    Table("set_aside", ("why", "stream", "source_id", "name", "reason"), set_aside),
    Table("deleted", ("stream", "source_id", "title", "deleted_utc", "target_id", "reason"), deleted),
    Table("findings", ("stream", "source_id", "fate", "field", "expected", "actual", "note"), findings),
    Table("conflicts", COLUMNS, conflicts),
    Table("fidelity", ("entity", "stream", "field", "keeping", "reason", "records", "basis", "accepted"), fidelity),
    Table("foreseen", ("stream", "source_id", "fate", "field", "expected", "actual", "note"), foreseen),
    Table("unresolved", ("kind", "stream", "source_id", "place", "what"), unresolved),
    Table("activities", ("stream", "source_id", "title", "state", "place", "activity", "code"), activities),
    Table("drift", ("stream", *PASSES), drift),
    Table("timing", ("kind", "name", "phase", *TIMES), timing),
    Table("links", ("stream", "source_id", "target_id", "origin"), links),
    Table("files_failed", ("entity", "stream", "file", "name", "size", "code", "message", "fix"), files_failed),
    Table("custom_fields", ("entity", "code", "type", "label", "fate", "target_field", "note"), custom_fields),
)
