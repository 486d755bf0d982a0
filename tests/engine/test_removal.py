"""The parts of finding and removing what the source deleted, each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, small, world

from b24migrate.engine.phases import deferred, deletions, removal, stale_links
from b24migrate.engine.phases.conflicts import count_open, count_waiting
from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.deletions import Family, Slice, is_parent_shown
from b24migrate.engine.phases.stage import mark_for_second_pass
from b24migrate.entities import catalog
from b24migrate.model.records import Span, Status, order_key
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import CONFLICTS, DELETIONS, RegisterRow
from b24migrate.targets.module import ImportTarget
from b24sim.company.crm_ids import DEAL
from b24sim.imports.store import Store

Json = Any
STREAMS = catalog().streams


def mark(context: RunContext, stream: Stream, keys: Sequence[str]) -> None:
    context.store.mark_deleted(stream.table, keys, there=keys, now=context.clock.now())


def test_a_conflict_of_a_removed_record_is_over(talk: World) -> None:
    with talk.app() as app:
        context = app.context
        groups = context.streams["groups"]
        one, other, left = list(talk.records("Groups"))[:3]
        said = {"Stream": "groups", "Decision": "source", "Fields": [], "Open": 1, "Waiting": 1}
        context.store.write(CONFLICTS, [RegisterRow(f"groups:{key}", said) for key in (one, other, left)])
        removal.forget(context, groups, [one, other])
        rows = {row.key: row.values for row in context.store.rows(CONFLICTS, "groups:")}
        for key in (one, other):
            told = rows[f"groups:{key}"]
            assert (told["Decision"], told["Open"], told["Waiting"]) == ("none", 0, 0)
        assert rows[f"groups:{left}"]["Decision"] == "source"
        assert count_open(context, groups) == 1


def test_records_without_a_conflict_wait_for_nobody(small: World) -> None:
    assert small.run("users", phases=("get",)).exit_code == 0
    with small.app() as app:
        users = app.context.streams["users"]
        assert app.context.store.counts(users.table)[Status.NEW] == 12
        assert count_waiting(app.context, users) == 0


def test_no_more_are_looked_for_at_a_time_than_may_be_in_memory(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "WALKED_AT_ONCE", 1)
    monkeypatch.setattr(removal, "REMOVABLE_AT_ONCE", 2)
    with talk.app() as app:
        keys = list(talk.records("Users"))[-3:]
        mark(app.context, app.context.streams["users"], keys)
        first, following = removal.find_removable(app.context, "")
        assert first == {("users", key) for key in keys[:2]}
        assert following.startswith("users ")
        assert removal.find_removable(app.context, following) == ({("users", keys[2])}, "")


def test_what_an_earlier_run_held_back_is_looked_at_anew(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImportTarget, "sees_dependants", False)
    with talk.app() as app:
        context = app.context.with_options(deletions="delete")
        assert removal.seed_protection(context, "scope") == []
        group = next(iter(talk.records("Groups")))
        mark(context, context.streams["groups"], [group])
        context.store.write(DELETIONS, [RegisterRow(f"{removal.NEEDED}:tasks:999", {})])
        (job,) = removal.seed_protection(context, "scope")
        assert removal.protect(context, job) == []
        needed = [row.key for row in context.store.rows(DELETIONS, f"{removal.NEEDED}:")]
        assert f"{removal.NEEDED}:tasks:999" not in needed
        assert f"{removal.NEEDED}:groups:{group}" in needed  # its members name it


@pytest.mark.parametrize(
    ("payload", "gone", "names"),
    [
        ({"companyId": 5, "contactIds": [7]}, {"5"}, True),
        ({"companyId": 7, "contactIds": [5]}, {"5"}, False),  # a contact of the same number
        ({"companyId": 5}, {"6"}, False),
        ({"companyId": {"odd": 1}}, {"5"}, False),
    ],
)
def test_only_links_to_what_is_gone_are_read_again(payload: Json, gone: set[str], names: bool) -> None:
    deal = SourceRecord("1", payload, {})
    assert stale_links.names_any(STREAMS["crm_deals"], STREAMS["crm_companies"], deal, gone) is names


def test_a_child_is_asked_about_only_where_its_parent_is_shown(talk: World) -> None:
    with talk.app() as app:
        members, groups = app.context.streams["group_members"], app.context.streams["groups"]
        record = app.context.store.get(members.table, [next(iter(talk.records("GroupMembers")))]).popitem()[1]
        parent = app.context.store.get(groups.table, [record.row_key.partition(":")[0]]).popitem()[1]
        assert is_parent_shown(app.context, members, Family(record, parent))
        assert not is_parent_shown(app.context, members, Family(record, None))
        assert not is_parent_shown(app.context, members, Family(record, parent._replace(deleted_utc="2026-01-01")))
        assert is_parent_shown(app.context, groups, Family(parent, None))  # it has none


def test_where_nobody_can_be_asked_nothing_is_believed(talk: World) -> None:
    with talk.app() as app:
        groups = app.context.streams["groups"]
        first, *others = app.context.store.get(groups.table, list(talk.records("Groups"))).values()
        deleted = first._replace(row_key="999")
        assert not list(deletions.ask(app.context, replace(groups, fetch=None), [Slice([deleted], others)]))
        assert deletions.count_absent(app.context, groups) == 0
        assert not list(deletions.ask(app.context, groups, [Slice([deleted], others)]))
        assert deletions.count_absent(app.context, groups) == 1


def test_stretches_of_the_second_pass_hold_each_record_once(talk: World) -> None:
    with talk.app() as app:
        messages = app.context.streams["chat_messages"]
        ends = [order_key(key) for key in list(talk.records("ChatMessages"))[:20]]
        mark_for_second_pass(app.context, messages, ends)
        jobs = deferred.seed_marked(app.context, "chats/late", messages)
        spans = [Span(*ends) for job in jobs for ends in job.args["spans"]]
        found = [one.row_key for span in spans for one in app.context.store.records(messages.table, span, 500)]
        assert sorted(map(order_key, found)) == sorted(ends)


def test_codes_lose_the_links_to_what_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source keeps the code of a deleted deal in a task that does not change. A box may not count codes as uses."""
    plan = small(chats=0, messages=0, companies=3, contacts=3, deals=6, tasks=6, smart_types=0)
    entities = ["users", "groups", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "tasks"]
    with world(tmp_path, plan) as made:
        made.settings = {"run": {"entities": entities, "user_coverage": 0.5}, "mapping": {"placeholder_user": "1"}}
        made.settings["mapping"]["policy"] = {"tasks.groupId": "drop"}
        gone, left = made.cloud.portal.company.crm.items[DEAL].ids[:2]
        (task,) = made.change("tasks", "add", fields={"TITLE": "Задача", "UF_CRM_TASK": [f"D_{gone}", f"D_{left}"]})
        made.run()
        key = f"source:tasks:{task}"
        assert len(made.imported("tasks")[key]["fields"]["ufCrmTask"]) == 2
        made.change("crm_deals", "delete", id=gone)
        referrers = Store.referrers
        others = lambda store, address: {one for one in referrers(store, address) if one[0] != "tasks"}  # noqa: E731
        monkeypatch.setattr(Store, "referrers", others)
        made.run(run={"deletions": "delete", "deletions_limit": 50})
        assert f"source:crm_deals:{gone}" not in made.imported("crm_deals")
        (target,) = (row["TargetId"] for number, row in made.records("CrmDeals").items() if number == str(left))
        assert made.imported("tasks")[key]["fields"]["ufCrmTask"] == [f"D_{target}"]
