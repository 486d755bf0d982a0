"""Who is who on the other side: matched, doubled, nameless, missing, stood in for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import TALK, World, small, world

from b24migrate.model.errors import Halted
from b24sim.errors import RestError

LENIENT: dict[str, dict[str, Any]] = {"run": {"user_coverage": 0.5, "entities": list(TALK)}}


def rename(made: World, user: int, **fields: Any) -> None:
    made.change("users", id=user, fields=fields)


def email(made: World, user: int) -> str:
    return str(made.cloud.portal.company.users.row(user)["EMAIL"])


def admin_of_the_box(made: World) -> str:
    return str(made.box.portal.company.users.row(1)["EMAIL"])


def people(made: World) -> dict[str, tuple[str, str]]:
    return {key: (one["Status"], one["LastErrorCode"] or "") for key, one in made.records("Users").items()}


@pytest.fixture
def lenient(tmp_path: Path) -> Any:
    with world(tmp_path) as made:
        made.settings = dict(LENIENT)
        yield made


# ---------------------------------------------------------------- who cannot be imported


def test_of_two_users_with_one_email_the_later_is_a_duplicate(lenient: World) -> None:
    rename(lenient, 9, EMAIL=email(lenient, 3).upper())
    lenient.run("users")
    assert people(lenient)["3"] == ("IMPORT_OK", "")
    assert people(lenient)["9"] == ("IMPORT_ERR", "DUPLICATE_EMAIL")
    assert "source:users:9" not in lenient.imported("users")


def test_a_duplicate_stays_one_when_the_run_is_resumed(lenient: World) -> None:
    rename(lenient, 9, EMAIL=email(lenient, 3).upper())
    lenient.run("users", phases=("get",))
    lenient.strike_box(
        {"method": "import.users.batch", "kind": "502html", "at": range(5, 1000)},
        {"method": "import.info", "kind": "502html", "at": range(2, 1000)},
    )
    with pytest.raises(Halted):
        lenient.run(
            "users", phases=("set",), entities={"users": {"batch": 2}}, run={"outage_minutes": 1, **LENIENT["run"]}
        )
    lenient.strike_box()
    lenient.run("users")
    lenient.retry("users")
    assert people(lenient)["3"] == ("IMPORT_OK", "")
    assert people(lenient)["9"] == ("IMPORT_ERR", "DUPLICATE_EMAIL")
    assert {created for created, _ in lenient.effects().values()} == {1}


def test_an_address_that_passes_to_an_older_user_arrives_in_the_same_run(lenient: World) -> None:
    """The box still has it for the younger one, whose new address is sent after that."""
    lenient.run("users")
    address = email(lenient, 9)
    rename(lenient, 9, EMAIL="new.address@example.com")
    rename(lenient, 3, EMAIL=address)
    assert lenient.run("users").exit_code == 0
    assert set(people(lenient).values()) == {("IMPORT_OK", "")}
    imported = lenient.imported("users")
    assert imported["source:users:3"]["fields"]["EMAIL"] == address
    assert imported["source:users:9"]["fields"]["EMAIL"] == "new.address@example.com"


@pytest.mark.parametrize("field", ["EMAIL", "NAME"])
def test_a_user_without_email_or_name_is_an_error(lenient: World, field: str) -> None:
    rename(lenient, 9, **{field: ""})
    assert lenient.run("users").exit_code == 5
    assert people(lenient)["9"] == ("IMPORT_ERR", "VALIDATION")
    assert {one for key, one in people(lenient).items() if key != "9"} == {("IMPORT_OK", "")}


# ---------------------------------------------------------------- who is there already


def test_a_user_the_box_has_is_linked_and_not_sent(lenient: World) -> None:
    rename(lenient, 3, EMAIL=admin_of_the_box(lenient).upper())
    assert lenient.run().exit_code == 0
    assert lenient.records("Users")["3"]["TargetId"] == "1"
    assert "source:users:3" not in lenient.imported("users")
    assert lenient.stream("users").imported == 12
    assert lenient.entity("users").verified
    ((origin,),) = lenient.sql("SELECT Origin FROM IdMap WHERE RowKey = 'users:3'")
    assert origin == "matched"


def test_a_linked_user_keeps_the_values_of_the_box(lenient: World) -> None:
    rename(lenient, 3, EMAIL=admin_of_the_box(lenient))
    lenient.run("users")
    rename(lenient, 3, NAME="Переименован")
    lenient.box.portal.stats.reset()
    assert lenient.run("users").exit_code == 0
    assert "import.users.batch" not in lenient.box.portal.stats.methods
    row = lenient.records("Users")["3"]
    assert (row["Status"], row["Revision"], row["TargetId"]) == ("IMPORT_OK", 1, "1")
    assert lenient.entity("users").verified


def test_what_refers_to_a_linked_user_refers_to_the_boxs_own(lenient: World) -> None:
    group = lenient.cloud.portal.company.groups.ids[0]
    rename(lenient, 3, EMAIL=admin_of_the_box(lenient))
    lenient.change("groups", id=group, fields={"OWNER_ID": "3"})
    lenient.run()
    assert lenient.imported("groups")[f"source:groups:{group}"]["fields"]["OWNER_ID"] == "1"


def test_a_user_whose_answer_was_lost_is_not_taken_for_the_boxs_own(
    lenient: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new run finds the e-mails on the box, put there by the call that was never answered."""
    portal = lenient.box.portal
    swallow = portal._import

    def break_down(name: str, body: Any, *size: Any) -> Any:
        done = swallow(name, body, *size)
        if body.get("stream") == "users" and name.endswith(".batch"):
            lenient.strike_box({"kind": "502html"})
            raise RestError("INTERNAL_SERVER_ERROR", "Internal server error", 500)
        return done

    with monkeypatch.context() as broken:
        broken.setattr(portal, "_import", break_down)
        with pytest.raises(Halted):
            lenient.run("users", run={"outage_minutes": 1, **LENIENT["run"]})
    assert len(lenient.imported("users")) == 12
    lenient.strike_box()
    assert lenient.run("users", phases=("set", "verify")).exit_code == 0
    assert {origin for (origin,) in lenient.sql("SELECT Origin FROM IdMap WHERE RowKey LIKE 'users:%'")} == {"import"}
    assert {created for created, _ in lenient.effects().values()} == {1}
    assert lenient.entity("users").verified


def test_existing_users_can_be_an_error(lenient: World) -> None:
    rename(lenient, 3, EMAIL=admin_of_the_box(lenient))
    assert lenient.run("users", mapping={"existing_users": "error"}).exit_code == 5
    assert people(lenient)["3"] == ("IMPORT_ERR", "DUPLICATE_EMAIL")


# ---------------------------------------------------------------- who is missing


def of_a_bot(made: World) -> list[dict[str, Any]]:
    """Imported messages that a bot wrote, whom `user.get` never shows."""
    bots = set(made.cloud.portal.company.bots)
    keys = {
        f"source:chat:msg:{row['id']}"
        for chat in made.cloud.portal.company.chats.values()
        for row in (made.cloud.portal.company.correspondence.row(chat, place) for place in range(len(chat)))
        if row["author_id"] in bots
    }
    assert keys
    imported = made.imported("chat_messages")
    return [imported[key] for key in keys if key in imported]


@pytest.mark.parametrize(
    ("mapping", "authors", "exit_code"),
    [
        ({}, [], 5),
        ({"placeholder_user": "1"}, ["1"], 0),
        ({"policy": {"chat_messages.author_id": "require"}, "placeholder_user": "1"}, [], 5),
    ],
)
def test_a_missing_author_is_decided_by_policy(
    tmp_path: Path, mapping: dict[str, Any], authors: list[str | None], exit_code: int
) -> None:
    with world(tmp_path, small(bots=1, messages=400)) as made:
        assert made.run(mapping=mapping).exit_code == exit_code
        assert sorted({row["fields"].get("author_id") for row in of_a_bot(made)}, key=str) == authors
        failed = {one["LastErrorCode"] for one in made.records("ChatMessages").values() if one["Status"] != "IMPORT_OK"}
        assert failed == (set() if authors else {"REFERENCE_MISSING"})


def test_what_went_without_a_reference_is_counted(tmp_path: Path) -> None:
    with world(tmp_path, small(bots=1, messages=400)) as made:
        made.run(mapping={"placeholder_user": "1"})
        counters: dict[str, float] = dict(made.sql("SELECT Name, Value FROM Counters"))
        assert counters["placeholders:chat_messages"] == len(of_a_bot(made))


def test_participants_that_were_not_imported_are_dropped(lenient: World) -> None:
    chat = next(one for one in lenient.cloud.portal.company.chats.values() if len(one.members) > 3 and one.kind != "P")
    gone = next(user for user in chat.members if user not in (1, chat.owner))
    rename(lenient, gone, EMAIL="")
    lenient.run()
    there = lenient.imported("chats")[f"source:chat:{chat.id}"]["fields"]["users"]
    assert len(there) == len(chat.members) - 1
    findings = lenient.sql("SELECT SourceId, Fate, Field, Expected FROM Findings WHERE Stream = 'chats'")
    assert (str(chat.id), "dangling", "users", str(gone)) in findings


@pytest.mark.parametrize(("policy", "status"), [("require", "IMPORT_ERR"), ("drop", "IMPORT_OK")])
def test_a_department_that_failed_is_decided_by_policy(lenient: World, policy: str, status: str) -> None:
    company = lenient.cloud.portal.company
    department = company.departments.ids[-1]
    rename(lenient, 9, UF_DEPARTMENT=[department])
    lenient.strike_box({"method": "import.users.batch", "item": {"key": f"source:departments:{department}"}})
    lenient.run("users", mapping={"policy": {"users.UF_DEPARTMENT": policy}})
    assert people(lenient)["9"][0] == status
    if status == "IMPORT_OK":
        assert lenient.imported("users")["source:users:9"]["fields"]["UF_DEPARTMENT"] == []


# ---------------------------------------------------------------- the second pass


def test_heads_of_departments_are_written_in_a_second_pass(talk: World) -> None:
    headed = 0
    for number in talk.cloud.portal.company.departments.ids:
        row = talk.cloud.portal.company.departments.row(number)
        there = talk.imported("departments")[f"source:departments:{number}"]
        if row.get("UF_HEAD"):
            headed += 1
            assert there["fields"]["UF_HEAD"] == talk.imported("users")[f"source:users:{row['UF_HEAD']}"]["id"]
            assert (there["created_count"], there["updated_count"]) == (1, 1)
    assert headed


def test_custom_fields_that_name_a_user_are_written_in_a_second_pass(talk: World) -> None:
    mentor = "UF_USR_1724228142171"
    named = [row["fields"][mentor] for row in talk.imported("users").values() if mentor in row["fields"]]
    assert set(named) == {talk.imported("users")["source:users:1"]["id"]}


def test_what_the_second_pass_drops_is_counted_once(lenient: World) -> None:
    """Also when the record is sent a third time, for another reason: its photo has come."""
    company = lenient.cloud.portal.company
    shown = next(user for user in company.users.ids if "PERSONAL_PHOTO" in company.users.row(user))
    rename(lenient, 9, EMAIL="")
    lenient.change("departments", id=company.departments.ids[-1], fields={"UF_HEAD": "9"})
    rename(lenient, shown, UF_USR_1724228142171="9", UF_DEPARTMENT=[1, 99])  # a department that nobody has

    def dropped() -> dict[str, float]:
        return dict(lenient.sql("SELECT Name, Value FROM Counters WHERE Name LIKE 'references_dropped:%'"))

    counted = {"references_dropped:departments": 1, "references_dropped:users": 2}
    lenient.strike_cloud({"method": "download", "kind": "html200"})
    assert lenient.run("users").exit_code == 5
    assert dropped() == counted
    lenient.strike_cloud()
    lenient.retry("users")
    assert lenient.imported("users")[f"source:users:{shown}"]["fields"]["PERSONAL_PHOTO"]
    assert dropped() == counted


def test_a_late_reference_that_is_refused_for_the_moment_is_sent_again(small: World) -> None:
    """Twice on the way: the creation passes, the second pass is refused."""
    company = small.cloud.portal.company
    number = next(n for n in company.departments.ids[1:] if company.departments.row(n).get("UF_HEAD"))
    item = {"key": f"source:departments:{number}", "code": "LOCKED", "retry": True}
    small.strike_box({"method": "import.users.batch", "at": [2, 3], "item": item})
    assert small.run("users").exit_code == 0
    assert small.box.portal.stats.faults["item"] == 2
    assert small.imported("departments")[f"source:departments:{number}"]["fields"]["UF_HEAD"]
