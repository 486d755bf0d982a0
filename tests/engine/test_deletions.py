"""Records that are deleted at the source: believed only when asked for, counted, kept or removed on the target."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import Snapshot, look, place_of
from tests.engine.world import World, small, world

from b24migrate.engine.phases import read, removal
from b24migrate.engine.phases.stage import keep_page
from b24migrate.entities import catalog
from b24migrate.insight import certificate
from b24migrate.insight.status import figures
from b24migrate.model.errors import Halted
from b24migrate.report import Request, make_report
from b24migrate.stores.sqlite import SqliteStore
from b24migrate.targets.module import ImportTarget
from b24sim.company.changes import CHANGES
from b24sim.company.company import Company
from b24sim.company.requisites import key_of
from b24sim.dump import dump

Json = Any
STREAMS = catalog().streams
DELETE: dict[str, Json] = {"run": {"deletions": "delete"}}
GOES_ON: dict[str, Json] = {"run": {"deletions_limit": 100}}


def sums(made: World, name: str) -> dict[str, Json]:
    """As `status --json` tells them. They close, whatever was deleted, and what is imported is on the box."""
    counts = made.stream(name).to_json()
    open_ones = counts["new"] + counts["error_retry"]
    assert counts["retrieved"] == counts["import_ok"] + counts["import_err"] + counts["excluded"] + open_ones, counts
    if counts["reported"] is not None:
        assert counts["reported"] + counts["deleted"] == counts["retrieved"], counts
    linked = sum(row["linked"] for row in made.imported(name).values())
    assert open_ones or counts["import_ok"] == len(made.imported(name)) or linked, counts
    return counts


def marked(made: World, stream: str) -> set[str]:
    rows = made.table(STREAMS[stream].table.name, "RowKey", "DeletedUtc")
    return {row["RowKey"] for row in rows if row["DeletedUtc"]}


def run(made: World, *entities: str, **settings: Json) -> int:
    return made.run(*(entities or ("users", "groups")), **settings).exit_code


def someone(made: World) -> tuple[int, int]:
    """A group and one of its plain members."""
    company = made.cloud.portal.company
    groups = company.groups_by_id.values()
    found = ((group.id, user) for group in groups for user, role in group.roles.items() if role == "K" and user != 1)
    return next((group, user) for group, user in found if company.is_active(user))


def group_of(made: World) -> int:
    """One that no chat is bound to: on the box a chat keeps its group."""
    company = made.cloud.portal.company
    bound = {chat.entity_id for chat in company.chats.values()}
    return next(group for group in company.groups_by_id if str(group) not in bound)


# ---------------------------------------------------------------- what is believed


def test_a_deleted_record_is_marked_and_stays_on_the_target(talk: World) -> None:
    group, before = group_of(talk), sums(talk, "groups")
    talk.change("groups", "delete", id=group)
    assert run(talk) == 0
    after = sums(talk, "groups")
    assert after == before | {"reported": before["reported"] - 1, "deleted": 1}
    assert f"source:groups:{group}" in talk.imported("groups")
    assert talk.entity("groups").verified
    assert marked(talk, "groups") == {str(group)}
    assert any("groups: deleted in the source: 1" in note for note in talk.entity("groups").notes)
    assert run(talk) == 0  # once more, it is what it is
    assert sums(talk, "groups") == after


def test_what_is_found_when_asked_for_is_not_deleted(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list lacks it, and the portal knows it all the same."""
    hidden = str(group_of(talk))

    def without(context: Json, stream: Json, page: Json, pass_no: int) -> None:
        rows = [row for row in page.rows if (stream.name, row.source_id) != ("groups", hidden)]
        keep_page(context, stream, replace(page, rows=rows), pass_no)

    monkeypatch.setattr(read, "keep_page", without)
    assert run(talk) == 5
    assert (talk.stream("groups").deleted, marked(talk, "groups")) == (0, set())
    assert not talk.entity("groups").verified


def test_without_a_neighbour_nothing_is_believed(talk: World) -> None:
    """All four groups are gone: perhaps the right to see groups is."""
    for group in list(talk.cloud.portal.company.groups_by_id):
        talk.change("groups", "delete", id=group)
    assert run(talk) == 5
    assert (marked(talk, "groups"), marked(talk, "group_members")) == (set(), set())
    assert len(talk.imported("groups")) == 4
    assert any("not counted as deleted" in note for note in talk.entity("groups").notes)


def test_when_many_are_gone_the_get_stops_and_goes_on_where_that_is_intended(talk: World) -> None:
    gone = [user for user in talk.cloud.portal.company.users.ids if user != 1][-6:]
    for user in gone:
        talk.change("users", "delete", id=user)
    result = talk.run("users", "groups")
    assert result.exit_code == 4
    assert [(code, kind) for _, kind, code, _ in talk.letters()] == [("TOO_MANY_DELETED", "mark")]
    (message,) = [one.message for one in talk.entity("users").phases.values() if one.message]
    assert "6 of" in message
    assert "run.deletions_limit" in message
    assert marked(talk, "users") == set()
    talk.run("users", "groups", **GOES_ON)
    assert marked(talk, "users") == set(map(str, gone))


def test_a_webhook_that_sees_nothing_any_more_stops_the_get(tmp_path: Path) -> None:
    with world(tmp_path, small(groups=7, chats=0, messages=0, files=0)) as made:
        assert run(made) == 0
        made.cloud.portal.company.groups_by_id.clear()
        for group in list(made.cloud.portal.company.groups.ids):
            made.cloud.portal.company.groups.remove(group)
        assert run(made) == 4
        assert (marked(made, "groups"), len(made.imported("groups"))) == (set(), 7)


def test_a_record_that_comes_back_loses_its_mark(talk: World) -> None:
    group = group_of(talk)
    talk.change("groups", "delete", id=group)
    assert run(talk, **DELETE) == 0
    assert f"source:groups:{group}" not in talk.imported("groups")
    assert sums(talk, "groups")["excluded"] == 1
    talk.change("groups", "add", id=group, fields={"NAME": "Снова здесь", "OWNER_ID": 1})
    assert run(talk, **DELETE) == 0
    assert marked(talk, "groups") == set()
    assert talk.imported("groups")[f"source:groups:{group}"]["fields"]["NAME"] == "Снова здесь"
    assert (sums(talk, "groups")["deleted"], sums(talk, "groups")["excluded"]) == (0, 0)


def test_what_was_never_imported_and_is_deleted_is_not_imported(talk: World) -> None:
    (group,) = talk.change("groups", "add", fields={"NAME": "Недолго", "OWNER_ID": 1})
    talk.run("users", "groups", phases=("get",))
    assert sums(talk, "groups")["new"] == 1
    talk.change("groups", "delete", id=group)
    assert run(talk) == 0
    counts = sums(talk, "groups")
    assert (counts["deleted"], counts["excluded"], counts["new"]) == (1, 1, 0)
    assert f"source:groups:{group}" not in talk.imported("groups")
    assert talk.entity("groups").verified


def test_what_arrived_without_anybody_knowing_and_is_deleted_is_known_again(talk: World) -> None:
    """An answer got lost: the box has the record, and the store has no link."""
    group = group_of(talk)
    with talk.app() as app:
        app.context.store.take_back("groups", STREAMS["groups"].table, [str(group)])
        app.context.store.unlink("groups", [str(group)])
    talk.change("groups", "delete", id=group)
    assert run(talk) == 0
    counts = sums(talk, "groups")
    assert (counts["deleted"], counts["excluded"], counts["import_ok"]) == (1, 0, 4)
    assert talk.sql("SELECT 1 FROM Deletions WHERE RowKey LIKE 'unsure:%'") == []


# ---------------------------------------------------------------- on the target


def test_access_ends_whatever_is_configured(talk: World) -> None:
    group, user = someone(talk)
    talk.change("group_members", "delete", group=group, user=user)
    assert run(talk) == 0
    assert f"source:group_members:{group}:{user}" not in talk.imported("group_members")
    counts = sums(talk, "group_members")
    assert (counts["deleted"], counts["excluded"]) == (1, 1)
    assert talk.entity("groups").verified
    talk.change("group_members", "add", group=group, user=user)
    assert run(talk) == 0
    assert f"source:group_members:{group}:{user}" in talk.imported("group_members")
    assert sums(talk, "group_members")["deleted"] == 0


def test_access_ends_also_where_somebody_changed_it(talk: World) -> None:
    group, user = someone(talk)
    talk.change("group_members", "delete", group=group, user=user)
    member = talk.records("GroupMembers")[f"{group}:{user}"]["TargetId"]
    talk.box.portal.imports.edit("group_members", member, {"ROLE": "E"})
    assert run(talk) == 0
    assert f"source:group_members:{group}:{user}" not in talk.imported("group_members")


def test_what_somebody_changed_stays_and_is_listed(talk: World) -> None:
    first, second = list(talk.cloud.portal.company.groups_by_id)[:2]
    for group in (first, second):
        talk.change("groups", "delete", id=group)
    talk.box.portal.imports.edit("groups", talk.records("Groups")[str(first)]["TargetId"], {"NAME": "Ours now"})
    assert run(talk, **DELETE) == 0
    there = talk.imported("groups")
    assert (f"source:groups:{first}" in there, f"source:groups:{second}" in there) == (True, False)
    kept = talk.sql("SELECT RowKey, Reason FROM Deletions WHERE RowKey LIKE 'kept:%'")
    assert [key for key, _ in kept] == [f"kept:groups:{first}"]
    assert "changed after its import" in kept[0][1]
    counts = sums(talk, "groups")
    assert (counts["deleted"], counts["excluded"]) == (2, 1)
    assert any("but still on the target: 1" in note for note in talk.entity("groups").notes)


@pytest.mark.parametrize("owner", [SqliteStore, ImportTarget])
@pytest.mark.parametrize("late", [False, True])
def test_killed_in_the_middle_it_goes_on(talk: World, owner: type, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before or after the first mark is written, or the first record deleted on the box."""
    group = group_of(talk)
    talk.change("groups", "delete", id=group)
    name = "mark_deleted" if owner is SqliteStore else "delete"
    call: Callable[..., Json] = getattr(owner, name)

    def deadly(self: Json, *args: Json, **more: Json) -> Json:
        if late:
            call(self, *args, **more)
        raise Halted("killed")

    monkeypatch.setattr(owner, name, deadly)
    with pytest.raises(Halted):
        run(talk, **DELETE)
    monkeypatch.undo()
    assert run(talk, **DELETE) == 0
    assert f"source:groups:{group}" not in talk.imported("groups")
    assert marked(talk, "groups") == {str(group)}
    counts = sums(talk, "groups")
    assert (counts["deleted"], counts["excluded"]) == (1, 1)
    assert sums(talk, "group_members")["deleted"] == len(marked(talk, "group_members")) > 0


def test_texts_lose_the_links_to_what_was_removed(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source keeps the link in a text that does not change. It is sent as the source has it."""
    gone = group_of(talk)
    groups = talk.cloud.portal.company.groups_by_id
    named, other = [one for one in groups if one != gone][:2]
    chat = next(one.id for one in talk.cloud.portal.company.chats.values() if one.kind != "P")
    link = f"{talk.cloud.portal.company.portal_url}/workgroups/group/{gone}/"
    talk.change("groups", id=named, fields={"DESCRIPTION": f"after {link}"})
    talk.change("groups", id=other, fields={"DESCRIPTION": f"number {gone}"})
    (message,) = talk.change("chat_messages", "add", chat=chat, fields={"text": f"see {link}"})

    def texts() -> list[Json]:
        rows = {**talk.imported("groups"), **talk.imported("chat_messages")}
        keys = [f"source:groups:{named}", f"source:groups:{other}", f"source:chat:msg:{message}"]
        fields = [rows[key]["fields"] for key in keys]
        return [one.get("DESCRIPTION") or one.get("text") for one in fields]

    talk.run()
    there = f"{talk.box.portal.company.portal_url}/workgroups/group/{talk.records('Groups')[str(gone)]['TargetId']}/"
    assert texts() == [f"after {there}", f"number {gone}", f"see {there}"]
    updates = talk.imported("groups")[f"source:groups:{other}"]["updated_count"]
    talk.change("groups", "delete", id=gone)
    monkeypatch.setattr(removal, "REMOVABLE_AT_ONCE", 1)
    assert talk.run(**DELETE).exit_code == 0
    assert f"source:groups:{gone}" not in talk.imported("groups")
    assert texts() == [f"after {link}", f"number {gone}", f"see {link}"]
    assert talk.imported("groups")[f"source:groups:{other}"]["updated_count"] == updates
    assert talk.sql("SELECT * FROM Deletions WHERE RowKey LIKE 'removed:%'") == []


# ---------------------------------------------------------------- every stream


def remove_stage(company: Company, key: str) -> None:
    company.crm.statuses[:] = [row for row in company.crm.statuses if f"{row['ENTITY_ID']}:{row['STATUS_ID']}" != key]


def remove_pipeline(company: Company, key: str) -> None:
    left = [one for one in company.crm.categories if f"{one.entity_type_id}:{one.id}" != key]
    company.crm.categories[:] = left


BY_HAND = {"crm_stages": remove_stage, "crm_categories": remove_pipeline}


def with_owners(made: World) -> dict[str, set[str]]:
    """By stream the ids of what goes with its owner."""
    tables = made.cloud.portal.company.requisites.tables
    details = {name: {key_of(name, table.row(number)) for number in table} for name, table in tables.items()}
    timeline = ("crm_activities", "crm_comments", "crm_notes", "crm_logs")
    return details | {name: {row["id"] for row in dump(made.cloud.portal, name)} for name in timeline}


def test_a_record_of_every_stream_is_found_deleted(whole: World) -> None:
    """Those that have a parent by its list, the children of a deleted one with it. Chats cannot be proven, and a deleted
    message leaves its place."""
    before, chosen = look(whole), dict[str, str]()
    for name, stream in STREAMS.items():
        keys = [key for key in before.staged[name] if name != "task_comments" or ":f" in key]
        if name in with_owners(whole):
            keys = [key for key in keys if key in with_owners(whole)[name]]
        if name in BY_HAND:
            chosen[name] = keys[-1]
            BY_HAND[name](whole.cloud.portal.company, keys[-1])
        elif (name, "delete") in CHANGES and name not in ("chats", "chat_messages"):
            chosen[name] = keys[0] if stream.parent else keys[-1]
            place = place_of(stream, before, chosen[name]) | ({"where": "forum"} if name == "task_comments" else {})
            whole.change(name, "delete", **place)
    assert len(chosen) >= 15
    whole.run(run={"deletions_limit": 100})  # what belongs to a client goes with it
    assert whole.letters() == []
    for name, key in chosen.items():
        assert key in marked(whole, name), name
        if name in with_owners(whole):
            assert set(marked(whole, name)) == before.staged[name].keys() - with_owners(whole)[name], name
            continue
        parents = {chosen["tasks"], chosen["feed_posts"], chosen["groups"]}
        others = {one for one in marked(whole, name) if one != key and one.partition(":")[0] not in parents}
        assert others == (prices_of(before, chosen["crm_products"]) - {key} if name == "crm_prices" else set()), name


def prices_of(before: Snapshot, product: str) -> set[str]:
    """They go with their product."""
    rows = before.staged["crm_prices"].items()
    number = int(product.rpartition(":")[2])
    return {key for key, row in rows if json.loads(row["Payload"])["productId"] == number}


# ---------------------------------------------------------------- what is told


def test_metrics_report_and_certificate_count_them(talk: World, tmp_path: Path) -> None:
    group, other = list(talk.cloud.portal.company.groups_by_id)[:2]
    talk.change("groups", "delete", id=group)
    talk.box.portal.imports.edit("groups", talk.records("Groups")[str(group)]["TargetId"], {"NAME": "Ours now"})
    talk.change("groups", "delete", id=other)
    assert talk.run(**DELETE).exit_code == 0
    with talk.app() as app:
        metrics = {(name, labels.get("entity")): value for name, labels, value in figures(app.context)}
        made = certificate.make(app.context, tmp_path / "certificate")
        make_report(app, Request(tmp_path / "report", "ru", str, False))
    table = (tmp_path / "report" / "deleted.csv").read_text("utf-8-sig").splitlines()[1:]
    assert [line.split(",")[:2] for line in table[:2]] == [["groups", str(group)], ["groups", str(other)]]
    assert table[0].endswith("changed after its import")
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "table-deleted" in page
    assert "остаётся в коробке" in page
    assert metrics["records_deleted_total", "groups"] == 2
    assert certificate.check(tmp_path / "certificate") == made
    (groups,) = [one for one in made.head.streams if one.stream == "groups"]
    assert (groups.deleted, groups.excluded) == (2, 1)
    assert groups.reported is not None
    assert groups.reported + groups.deleted == groups.retrieved == groups.verified + groups.migrated + groups.excluded
