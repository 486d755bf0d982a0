"""A record that the source did not show at first arrives later: the records that were sent without it get it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.engine.world import World, small, world

from b24migrate.engine import undo
from b24migrate.engine.phases import missed as missed_records
from b24migrate.engine.phases.pull_through import pull_new_records
from b24migrate.model.errors import Transient
from b24migrate.model.records import Row
from b24migrate.model.source_records import Known, SourceRecord
from b24migrate.ports import DELETIONS, Source
from b24sim.company.crm_ids import COMPANY, DEAL
from b24sim.table import Table

Json = Any
PLAN = small(companies=3, contacts=3, deals=4, chats=3, messages=20, templates=0, posts=0, smart_types=0)
ENTITIES = ("users", "chats", "crm_structure", "crm_companies", "crm_contacts", "crm_deals")
SETTINGS: dict[str, Any] = {
    "run": {"entities": list(ENTITIES), "user_coverage": 0.5},
    "mapping": {"placeholder_user": "1"},
}


@contextmanager
def hidden(table: Table, number: int) -> Iterator[None]:
    """The owner of the webhook does not see it."""
    row = dict(table.row(number))
    table.remove(number)
    yield
    table.put(number, row)


def missed(made: World, stream: str) -> list[str]:
    return [key for (key,) in made.sql("SELECT RowKey FROM Deletions WHERE RowKey LIKE ?", f"missed:{stream}:%")]


def authors(made: World) -> dict[str, str]:
    return {key: row["fields"]["author_id"] for key, row in made.imported("chat_messages").items()}


def test_messages_get_their_author(tmp_path: Path) -> None:
    with world(tmp_path, PLAN) as made:
        made.settings = SETTINGS
        users = made.cloud.portal.company.users
        victim = users.ids[1]
        with hidden(users, victim):
            made.run()
        before = authors(made)
        assert made.run().exit_code == 0
        ((target,),) = made.sql("SELECT TargetId FROM Users WHERE RowKey = ?", str(victim))
        now = authors(made)
        changed = [key for key in now if now[key] != before[key]]
        assert changed
        assert {now[key] for key in changed} == {target}
        assert missed(made, "users") == []


def test_messages_get_their_author_in_a_store_of_an_earlier_version(tmp_path: Path) -> None:
    """It noted who was missing, but not that their arrival is noticed."""
    with world(tmp_path, PLAN) as made:
        made.settings = SETTINGS
        users = made.cloud.portal.company.users
        with hidden(users, users.ids[1]):
            made.run()
        with made.app() as app:
            app.context.store.discard(DELETIONS, [missed_records.SOUGHT])
        before = authors(made)
        made.run()
        made.run()
        assert authors(made) != before
        assert missed(made, "users") == []


def test_a_deal_gets_its_company(tmp_path: Path) -> None:
    with world(tmp_path, PLAN) as made:
        made.settings = SETTINGS
        crm = made.cloud.portal.company.crm
        victim, deal = crm.items[COMPANY].ids[0], crm.items[DEAL].ids[0]
        made.change("crm_deals", id=deal, fields={"companyId": victim})
        with hidden(crm.items[COMPANY], victim):
            assert made.run().exit_code == 0
        assert made.imported("crm_deals")[f"source:crm_deals:{deal}"]["fields"]["companyId"] is None
        assert made.run("users", "crm_structure", "crm_companies").exit_code == 0
        assert missed(made, "crm_companies")  # a later run has the deals
        assert made.run().exit_code == 0
        ((target,),) = made.sql("SELECT TargetId FROM CrmCompanies WHERE RowKey = ?", str(victim))
        assert made.imported("crm_deals")[f"source:crm_deals:{deal}"]["fields"]["companyId"] == target
        assert f"missed:crm_companies:{victim}" not in missed(made, "crm_companies")
        sent = made.imported("crm_deals")[f"source:crm_deals:{deal}"]["updated_count"]
        assert made.run().exit_code == 0
        assert made.imported("crm_deals")[f"source:crm_deals:{deal}"]["updated_count"] == sent


def test_what_could_not_be_noted_is_noted_by_the_next_attempt(tmp_path: Path) -> None:
    def refuse(*_: Any) -> None:
        raise Transient("the store does not answer")

    with world(tmp_path, PLAN) as made, made.app() as app:
        named = [("users", "7")]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app.context.store, "write", refuse)
            with pytest.raises(Transient):
                missed_records.note_missed(app.context, named)
        assert missed(made, "users") == []
        missed_records.note_missed(app.context, named)
        assert missed(made, "users") == ["missed:users:7"]


def test_a_new_run_in_the_same_process_remembers_no_record_of_the_last(talk: World) -> None:
    """Hosts of Functions live longer than a run, and an undo may come in between."""
    with talk.app() as app:
        memory = app.context.memory
        memory.start_job("first", 0)
        memory.missed.add([("users", "1")])
        memory.gone.add("users", ["2"])
        assert memory.links.target_ids("groups", talk.records("Groups"))
        with talk.app() as other:
            scope = undo.find_scope(other.context, ())
            dry_run = undo.DryRun(other.context, scope)
            assert list(dry_run.walk()) == []  # nothing is kept
            undo.Undo(other.context, scope, dry_run).take()
        memory.start_job("first", 0)
        assert memory.missed.find_new([("users", "1")]) == []
        assert memory.gone.knows("users", "2")
        memory.start_job("second", 0)
        assert memory.missed.find_new([("users", "1")]) == [("users", "1")]
        assert not memory.gone.knows("users", "2")
        assert memory.links.target_ids("groups", talk.records("Groups")) == {}


def test_lanes_that_miss_the_same_record_ask_for_it_once(talk: World) -> None:
    asked: list[list[str]] = []
    begun, answered = Event(), Event()

    def fetch(_: Source, wanted: Sequence[SourceRecord], __: Known) -> dict[str, Row]:
        asked.append([one.id for one in wanted])
        begun.set()
        assert answered.wait(60)
        return {}

    with talk.app() as app, ThreadPoolExecutor(2) as pool:
        chats = replace(app.context.streams["chats"], fetch=fetch)
        context = replace(app.context, streams={**app.context.streams, "chats": chats})
        first = pool.submit(pull_new_records, context, [("chats", "1000001")])
        assert begun.wait(60)
        second = pool.submit(pull_new_records, context, [("chats", "1000001"), ("chats", "1000002")])
        answered.set()
        first.result(60)
        second.result(60)
    assert asked == [["1000001"], ["1000002"]]


def failed(made: World, table: str) -> set[str]:
    return {key for key, row in made.records(table).items() if row["Status"] == "IMPORT_ERR"}


PEOPLE: dict[str, Json] = SETTINGS | {"run": {"entities": ["users", "groups"], "user_coverage": 0.5}}


def plain_member(made: World) -> tuple[int, int]:
    """A group, and an active member of it."""
    company = made.cloud.portal.company
    group = next(iter(company.groups_by_id.values()))
    return group.id, next(user for user, role in group.roles.items() if role == "K" and company.is_active(user))


@pytest.mark.parametrize("again", [("groups",), ("users", "groups")], ids=["in-another-run", "in-the-same-run"])
def test_a_member_who_came_while_the_users_were_read_is_imported_with_the_user(
    tmp_path: Path, again: tuple[str, ...]
) -> None:
    """Membership fails without the user, who is in the next pass."""
    with world(tmp_path, small(chats=0, messages=0)) as made:
        made.settings = PEOPLE
        group, victim = plain_member(made)
        with hidden(made.cloud.portal.company.users, victim):
            assert made.run("users").exit_code == 0
        assert made.run("groups").exit_code == 5
        assert f"{group}:{victim}" in failed(made, "GroupMembers")
        assert made.run("users").exit_code == 0
        assert made.run(*again).exit_code == 0
        assert failed(made, "GroupMembers") == set()
        assert f"source:group_members:{group}:{victim}" in made.imported("group_members")
        assert made.sql("SELECT RowKey FROM Deletions WHERE RowKey LIKE 'awaited:%'") == []


def test_what_still_lacks_a_link_is_not_tried_again(tmp_path: Path) -> None:
    with world(tmp_path, small(chats=0, messages=0)) as made:
        made.settings = PEOPLE
        _, victim = plain_member(made)
        with hidden(made.cloud.portal.company.users, victim):
            made.run("users")
            made.run("groups")
            before = made.records("GroupMembers")
            assert made.run("groups").exit_code == 5
            assert made.records("GroupMembers") == before
