"""`test_limit`: the first N of each kind, and whatever they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import everything
from tests.engine.world import TALK, World, small, world

from b24migrate.engine.plan import Plan
from b24migrate.engine.stages import set_stages
from b24migrate.engine.state import DONE, RUNNING
from b24migrate.model.events import PhaseChanged

FEW: dict[str, dict[str, Any]] = {"run": {"test_limit": 3, "entities": list(TALK)}}


PLAN = small(users=30, departments=8, groups=12, chats=14, messages=400)


@pytest.fixture
def few(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, PLAN) as made:
        made.settings = dict(FEW)
        yield made


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The same, migrated."""
    with world(tmp_path_factory.mktemp("limited"), PLAN) as made:
        made.settings = dict(FEW)
        assert made.run().exit_code == 0
        yield made


def pulled(made: World, table: str) -> set[str]:
    return {key for key, one in made.records(table).items() if one["PulledThrough"]}


def test_the_first_by_id_are_read_and_what_they_refer_to_is_pulled_through(limited: World) -> None:
    company = limited.cloud.portal.company
    first = {str(number) for number in company.users.ids[:3]}
    assert limited.records("Users").keys() - pulled(limited, "Users") == first
    assert pulled(limited, "Users")
    assert limited.records("Groups").keys() >= {str(number) for number in company.groups.ids[:3]}
    owners = {str(company.groups.row(number)["OWNER_ID"]) for number in company.groups.ids[:3]}
    members = {key.partition(":")[2] for key in limited.records("GroupMembers")}
    assert owners | members <= limited.records("Users").keys()


def test_what_was_pulled_through_is_imported_and_counted(limited: World) -> None:
    users = limited.stream("users")
    assert users.read == users.imported == len(limited.records("Users")) == len(limited.imported("users"))
    assert limited.stream("departments").imported == len(limited.imported("departments"))
    assert {one["Status"] for one in limited.records("Users").values()} == {"IMPORT_OK"}


def test_what_was_not_pulled_through_waits_for_the_turn_of_its_own_entity(few: World) -> None:
    assert few.run("users", phases=("get",)).exit_code == 0
    with few.app() as app:
        run = app.runner.begin(Plan(("groups",), test_limit=app.context.options.test_limit))
        context = app.runner.join(run)
        planned = set_stages(context, app.catalog.owner["groups"])
        jobs = [job for stage in planned if stage.name == "send users" for job in stage.seed(context, "groups-set")]
    assert jobs
    assert all(job.args.get("pulled") for job in jobs)


def test_a_limited_run_is_clean_and_has_no_drift(limited: World) -> None:
    for name in ("users", "groups", "chats"):
        about = limited.entity(name)
        assert about.verified, about
        assert {one.drift for one in about.streams.values()} == {0}


def test_each_chat_gives_one_page_of_messages(limited: World) -> None:
    per_chat: dict[str, int] = {}
    for key in limited.records("ChatMessages"):
        chat = key.partition(":")[0]
        per_chat[chat] = per_chat.get(chat, 0) + 1
    assert max(per_chat.values()) <= 50
    assert len(limited.records("Chats")) <= 3 + len(pulled(limited, "Chats"))


@pytest.mark.parametrize("listing", [False, True])
def test_the_first_chats_of_all_webhooks_together_are_read(tmp_path: Path, listing: bool) -> None:
    """Each webhook sees some that the other does not; the lowest ids count, whoever sees them."""
    plan = small(users=30, chats=20, messages=200, foreign_chats=0.4)
    with world(tmp_path, plan, webhooks=(1, 2), listing_chats=listing) as made:
        company = made.cloud.portal.company
        for chat in company.chats.values():
            others = [user for user in chat.members if user not in (1, 2)] or [5]
            members = [*others, 1 if chat.place % 2 else 2] if chat.kind != "P" else chat.members
            made.change("chats", id=chat.id, fields={"users": members})
        made.settings = dict(FEW)
        assert made.run().exit_code == 0
        readable = [chat for chat in company.chats.values() if any(company.readable(chat, user) for user in (1, 2))]
        mine = readable if listing else [chat for chat in readable if {1, 2} & set(chat.members)]
        lowest = sorted(chat.id for chat in mine)[:3]
        assert made.records("Chats").keys() - pulled(made, "Chats") == {str(number) for number in lowest}
        assert {1 in company.chats[number].members for number in lowest} == {True, False}


def test_a_full_run_after_a_limited_one_completes_it(few: World) -> None:
    few.run()
    before = few.effects()
    few.settings = {"run": {"entities": list(TALK)}}
    assert few.run().exit_code == 0
    assert pulled(few, "Users") == set()
    assert few.stream("users").source == few.stream("users").read == 30
    assert few.effects().keys() > before.keys()
    assert {created for created, _ in few.effects().values()} == {1}


def test_a_limited_run_twice_changes_nothing(few: World) -> None:
    few.run()
    before = few.effects()
    assert few.run().exit_code == 0
    assert few.effects() == before


def test_pictures_of_pulled_through_users_arrive_with_them(limited: World) -> None:
    company = limited.cloud.portal.company
    with_photo = {key for key in pulled(limited, "Users") if company.users.row(int(key)).get("PERSONAL_PHOTO")}
    assert with_photo
    imported = limited.imported("users")
    assert all(imported[f"source:users:{key}"]["fields"]["PERSONAL_PHOTO"] for key in with_photo)


def test_a_pulled_through_user_that_the_box_has_is_linked(few: World) -> None:
    company = few.cloud.portal.company
    owner = next(int(company.groups.row(n)["OWNER_ID"]) for n in company.groups.ids if company.groups.row(n))
    owner = owner if owner > 3 else company.users.ids[10]
    few.change("groups", id=company.groups.ids[0], fields={"OWNER_ID": str(owner)})
    few.change("users", id=owner, fields={"EMAIL": few.box.portal.company.users.row(1)["EMAIL"]})
    assert few.run().exit_code == 0
    assert str(owner) in pulled(few, "Users")
    assert few.records("Users")[str(owner)]["TargetId"] == "1"


def test_entities_go_one_after_the_other_so_that_none_sends_half_of_what_another_pulls_along(tmp_path: Path) -> None:
    """A deal that one entity pulls along names a contact that it pulls along too: whoever else sends pulled deals at
    that moment, and has been through with contacts, would miss it."""
    with everything(tmp_path) as made:
        assert made.run(run={**made.settings["run"], "test_limit": 2, "workers": 8}).exit_code == 0
        begun: list[str] = []
        done: list[str] = []
        for event in made.events:
            if isinstance(event, PhaseChanged) and (event.phase, event.state) == ("get", RUNNING):
                assert done == begun
                begun.append(event.entity)
            elif isinstance(event, PhaseChanged) and (event.phase, event.state) == ("set", DONE):
                done.append(event.entity)
        assert len(done) == len(begun) > 5
