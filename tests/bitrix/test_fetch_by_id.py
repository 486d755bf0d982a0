"""Records asked for by ID, many in one command: how many commands it takes when some of them are gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.bitrix.support import Kit

from b24migrate.bitrix.source import BitrixSource
from b24migrate.entities.readers import fetch_together
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import Known, SourceRecord
from b24sim.clock import ManualClock
from b24sim.company import tasks_changes
from b24sim.company.company import Company
from b24sim.company.plan import Plan
from b24sim.portal import Portal
from b24sim.serve import serve

METHOD = "tasks.task.list"
COMMON = {"select": ["ID"], "order": {"ID": "asc"}, "start": -1}


@pytest.fixture
def portal() -> Iterator[tuple[Portal, BitrixSource]]:
    made = Portal(Company(Plan(tasks=60)), clock=ManualClock())
    with serve(made) as running:
        yield made, BitrixSource(Kit([running.webhook()]).portal)


def understood(ids: Json) -> Args:
    return {"filter": {"ID": ids}, **COMMON}


def only_the_first(ids: Json) -> Args:
    """As a portal that takes a list for its first member."""
    return understood(ids[0] if isinstance(ids, list) else ids)


def ignored(ids: Json) -> Args:
    """As a portal that does not filter by a list at all."""
    return {"filter": {}, **COMMON} if isinstance(ids, list) else understood(ids)


@pytest.mark.parametrize(
    ("params", "commands"),
    [(understood, 1), (only_the_first, 1 + 19), (ignored, 1 + 3)],
    ids=["understood", "only the first", "ignored"],
)
def test_absent_ids_are_asked_for_alone_only_where_a_list_is_not_understood(
    portal: tuple[Portal, BitrixSource], params: Callable[[Json], Args], commands: int
) -> None:
    made, source = portal
    wanted = [int(one) for one in made.company.tasks.table.ids[:20]]
    gone = wanted[3:6]
    for number in gone:
        tasks_changes.delete_task(made.company, made.clock.now(), {"id": number, "children": False})
    fetch = fetch_together(METHOD, params, items=("tasks",), id_field="id")
    found = fetch(source, [SourceRecord(str(one), {}, {}) for one in wanted], Known(lambda _stream, _ids: {}, list))
    assert {int(one) for one in found} == set(wanted) - set(gone)
    assert made.stats.inner[METHOD] + made.stats.methods[METHOD] == commands
