"""What a kernel refuses or bends without a word, and what becomes of it: one test for each rule."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.targets.everything import Move, moving

from b24migrate.model.errors import Transient
from b24migrate.model.records import Item, Outcome
from b24migrate.targets.rest.target import RestTarget
from b24sim import Portal
from b24sim.native.box_habits import FORMATS, BoxHabits

PERSON = {
    "NAME": "Oleg",
    "LAST_NAME": "Ivanov",
    "EMAIL": "oleg@firm.example",
    "ACTIVE": True,
    "UF_DEPARTMENT": ["1"],
    "WORK_POSITION": "Clerk",
    "UF_EMPLOYMENT_DATE": "2020-03-04",
}
TASK = {"title": "Call", "responsibleId": "1", "createdBy": "1", "status": "2"}
DEAL = {"title": "Big", "stageId": "WON", "categoryId": None, "closedate": "2023-04-05", "opportunity": 5.0}
DEAL |= {"createdTime": "2023-01-02T03:04:05Z", "updatedTime": "2023-04-05T06:07:08Z"}
CRM = ("crm_structure", "crm_companies", "crm_contacts", "crm_deals")
PIPELINE = {"entityTypeId": "2", "name": "Rent", "sort": 200, "isDefault": False}


def stock(**habits: Any) -> Portal:
    return Portal(role="box", box_habits=BoxHabits(**habits))


def send(move: Move, entity: str, *items: Item) -> list[Outcome]:
    kind = items[0].key.split(":")[1]
    return move.send(entity, {"chat": "chats", "msg": "chat_messages"}.get(kind, kind), *items)


def rules(move: Move, stream: str, field: str, draft: dict[str, Any]) -> list[str]:
    """The reasons of those that concern a record."""
    with move.app() as app:
        known = app.context.target.fidelity()
        return [one.reason for one in known if (one.stream, one.field) == (stream, field) and one.judge()(draft)]


# ---------------------------------------------------------------- people


@pytest.mark.parametrize("form", sorted(FORMATS))
@pytest.mark.parametrize("day", ["2020-03-04", "2020-05-05", "2020-12-31"])
def test_a_day_of_employment_is_sent_in_the_format_of_the_box(tmp_path: Path, form: str, day: str) -> None:
    with moving(tmp_path, "users", box=stock(date_format=form)) as move:
        people = [Item.make(f"source:users:{n}", PERSON | {"EMAIL": f"{n}@firm.example"}) for n in (7, 8)]
        first = Item.make("source:users:6", PERSON | {"UF_EMPLOYMENT_DATE": day})
        assert [one.status for one in send(move, "users", first, *people)] == ["created"] * 3
        with move.app() as app:
            records = app.context.target.read("users", "users", [first.key, *(one.key for one in people)])
            days = [one.fields["UF_EMPLOYMENT_DATE"] for one in records.values()]
            assert days == [day, "2020-03-04", "2020-03-04"]
            assert {one.fields["WORK_POSITION"] for one in records.values()} == {"Clerk"}


def test_somebody_who_is_refused_after_he_was_made_is_completed(tmp_path: Path) -> None:
    """The box registers him, and dies over the rest of him: whoever finds him must not take him for whole."""
    with moving(tmp_path, "users", box=stock()) as move:
        item = Item.make("source:users:7", PERSON)
        move.world.strike_box({"method": "user.add", "kind": "lost", "count": 1})
        (outcome,) = send(move, "users", item)
        assert outcome.status == "created"
        users = move.world.box.portal.company.users
        (number,) = move.world.box.portal.native.alive("users")
        assert (users.row(number)["WORK_POSITION"], users.row(number)["UF_EMPLOYMENT_DATE"][:10]) == (
            "Clerk",
            "2020-03-04",
        )


def test_dismissed_people_get_no_invitation_and_keep_their_address(tmp_path: Path) -> None:
    with moving(tmp_path, "users", box=stock()) as move:
        gone = Item.make("source:users:7", PERSON | {"ACTIVE": False})
        outsider = Item.make("source:users:8", PERSON | {"EMAIL": "out@else.example", "UF_DEPARTMENT": []})
        here = Item.make("source:users:9", PERSON | {"EMAIL": "here@firm.example"})
        move.world.strike_box({"method": "user.add", "kind": "lost", "every": 2})
        assert {one.status for one in send(move, "users", gone, outsider, here)} == {"created"}
        portal = move.world.box.portal
        rows = [portal.company.users.row(number) for number in sorted(portal.native.alive("users"))]
        assert sorted((row["EMAIL"], row["ACTIVE"]) for row in rows) == [
            ("here@firm.example", True),
            ("oleg@firm.example", False),
            ("out@else.example", False),
        ]
        invited = {one.to for one in portal.native.outbox if one.kind == "invitation"}
        assert {one for one in invited if not one.endswith("b24migrate.invalid")} == {"here@firm.example"}


def test_people_without_a_valid_email_are_counted_before(tmp_path: Path) -> None:
    with moving(tmp_path, "users", box=stock()) as move:
        assert rules(move, "users", "EMAIL", PERSON | {"EMAIL": "oleg@firm"}) != []
        assert rules(move, "users", "EMAIL", PERSON) == []


# ---------------------------------------------------------------- groups


def test_a_second_group_of_one_name_gets_a_number_and_keeps_it(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", box=stock()) as move:
        groups = move.world.box.portal.company.groups
        items = [
            Item.make(f"source:groups:{n}", {"NAME": name, "OWNER_ID": "1"}) for n, name in ((1, "Sales"), (2, "SALES"))
        ]
        assert [one.status for one in send(move, "groups", *items)] == ["created"] * 2
        assert sorted(groups.row(number)["NAME"] for number in groups) == ["SALES (2)", "Sales"]
        changed = Item.make("source:groups:2", {"NAME": "SALES", "OWNER_ID": "1", "DESCRIPTION": "new"})
        assert [one.status for one in send(move, "groups", changed)] == ["updated"]
        assert sorted(groups.row(number)["NAME"] for number in groups) == ["SALES (2)", "Sales"]
        with move.app() as app:
            (rule,) = [one for one in app.context.target.fidelity() if (one.stream, one.field) == ("groups", "NAME")]
            judge = rule.judge()
            assert [judge({"NAME": name}) for name in ("Sales", "sales", "Other")] == [False, True, False]


# ---------------------------------------------------------------- tasks


def test_equal_neighbours_are_both_said_and_nobody_is_let_in_for_it(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks", box=stock()) as move:
        send(move, "tasks", Item.make("source:tasks:5", TASK))
        (task,) = move.world.box.portal.native.alive("tasks")
        fields = {"task_id": str(task), "author_id": "1", "date": "2024-05-06T07:08:09Z", "files": []}
        items = [
            Item.make(f"source:task_comments:5:f{n}", fields | {"text": text})
            for n, text in enumerate(["+1"] * 3 + ["😀"] * 2)
        ]
        assert [one.status for one in send(move, "tasks", *items)] == ["created"] * 5
        with move.app() as app:
            records = app.context.target.read("tasks", "task_comments", [one.key for one in items])
            assert [records[one.key].fields["text"] for one in items] == ["+1"] * 3 + ["😀"] * 2
        assert move.world.box.portal.company.tasks.table.row(task)["AUDITORS"] == []


def test_a_lost_answer_to_an_equal_neighbour_doubles_nothing(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks", box=stock()) as move:
        send(move, "tasks", Item.make("source:tasks:5", TASK))
        (task,) = move.world.box.portal.native.alive("tasks")
        move.world.strike_box({"method": "task.commentitem.add", "kind": "lost", "every": 2})
        fields = {"task_id": str(task), "author_id": "1", "text": "+1", "files": []}
        dates = ["2024-05-06T07:08:09Z", "2024-05-06T07:08:10Z", "2024-05-06T07:08:11Z"]
        items = [Item.make(f"source:task_comments:5:f{n}", fields | {"date": date}) for n, date in enumerate(dates)]
        assert {one.status for one in send(move, "tasks", *items)} == {"created"}
        own = move.world.box.portal.company.tasks.own_comments[task]
        assert Counter(row["POST_MESSAGE"].strip("\u200b") for row in own)["+1"] == 3


def test_updates_of_tasks_notify_nobody_and_start_no_robots(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks", box=stock()) as move:
        send(move, "users", Item.make("source:users:7", PERSON))
        (person,) = move.world.box.portal.native.alive("users")
        send(move, "tasks", Item.make("source:tasks:5", TASK | {"responsibleId": str(person)}))
        ledger = move.world.box.portal.native
        before = ledger.noise()
        assert "automation" not in before
        send(move, "tasks", Item.make("source:tasks:5", TASK | {"responsibleId": str(person), "title": "Again"}))
        assert ledger.noise() == before


def test_who_commented_with_files_hears_once_of_a_folder(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "tasks", box=stock()) as move:
        people = [Item.make(f"source:users:{n}", PERSON | {"EMAIL": f"{n}@firm.example"}) for n in (7, 8)]
        first, second = (str(one.target_id) for one in send(move, "users", *people))
        (task,) = send(move, "tasks", Item.make("source:tasks:5", TASK))
        with move.app() as app:
            files = [
                app.context.target.put_file(
                    f"source:file:disk:{n}", f"{n}.txt", 1, hashlib.sha256(b"x").hexdigest(), io.BytesIO(b"x")
                )
                for n in range(3)
            ]
        fields = {"task_id": str(task.target_id), "date": "2024-05-06T07:08:09Z"}
        by_whom = [(first, files[0]), (first, files[1]), (second, files[2]), (second, files[0])]
        items = [
            Item.make(f"source:task_comments:5:f{n}", fields | {"author_id": who, "text": str(n), "files": [file]})
            for n, (who, file) in enumerate(by_whom)
        ]
        assert {one.status for one in send(move, "tasks", *items)} == {"created"}
        bells = [one for one in move.world.box.portal.native.outbox if one.about.startswith("folder")]
        # one for each of them, and one for each of the folder with the file that both have
        assert Counter(one.to for one in bells) == {first: 2, second: 2}
        drive = move.world.box.portal.company.drive
        names = {number: drive.folders[one.folder].name for number, one in drive.files.items()}
        assert [names[int(str(one))] for one in files] == [
            f"readers-{first}-{second}",
            f"readers-{first}",
            f"readers-{second}",
        ]


# ---------------------------------------------------------------- CRM


@pytest.mark.parametrize("closes", [True, False])
def test_a_won_deal_keeps_its_close_date(tmp_path: Path, closes: bool) -> None:
    with moving(tmp_path, "users", "crm_deals", box=stock(closes_today=closes)) as move:
        items = [Item.make(f"source:crm_deals:{n}", DEAL) for n in (1, 2, 3)]
        assert {one.status for one in send(move, "crm", *items)} == {"created"}
        with move.app() as app:
            records = app.context.target.read("crm", "crm_deals", [one.key for one in items])
            assert {one.fields["closedate"] for one in records.values()} == {"2023-04-05"}
            changed = {one.fields["updatedTime"] for one in records.values()}
        assert (changed == {"2023-04-05T06:07:08Z"}) is not closes


def test_a_deal_that_is_won_in_a_later_run_keeps_its_close_date(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_deals", box=stock()) as move:
        send(move, "crm", Item.make("source:crm_deals:1", DEAL | {"stageId": "NEW"}))
        send(move, "crm", Item.make("source:crm_deals:1", DEAL))
        with move.app() as app:
            records = app.context.target.read("crm", "crm_deals", ["source:crm_deals:1"])
            assert records["source:crm_deals:1"].fields["closedate"] == "2023-04-05"


def test_who_would_rather_keep_who_changed_a_deal_loses_its_close_date_and_is_told(tmp_path: Path) -> None:
    with moving(tmp_path, "users", *CRM, box=stock()) as move:
        move.world.settings["target"] = {"kind": "rest", "close_dates": False}
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        assert [one for one in move.spared if one[2] == "closedate"] == []
        lines = {one.stream: one for one in move.announced() if one.field == "closedate"}
        assert lines["crm_deals"].expected >= lines["crm_deals"].seen > 0


def stages_of(move: Move, pipeline: str) -> list[tuple[str, str, int]]:
    crm = move.world.box.portal.company.crm
    rows = [row for row in crm.statuses if row["ENTITY_ID"] == f"DEAL_STAGE_{pipeline}"]
    return sorted(((row["STATUS_ID"], row["NAME"], int(row["SORT"])) for row in rows), key=lambda row: row[2])


def test_a_new_pipeline_has_the_stages_of_the_source_in_their_order_and_no_others(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_structure", box=stock()) as move:
        (made,) = send(move, "crm", Item.make("source:crm_categories:2:9", PIPELINE))
        number = made.target_id
        wanted = [
            ("NEW", "Start", 10, ""),
            ("A", "Far", 500, ""),
            ("B", "Farther", 600, ""),
            ("C", "Farthest", 700, ""),
            ("DONE", "Happy end", 800, "S"),
            ("LOSE", "Sad end", 900, "F"),
            ("X", "Sadder end", 910, "F"),
        ]
        items = [
            Item.make(
                f"source:crm_stages:DEAL_STAGE_9:C9:{code}",
                {"ENTITY_ID": f"DEAL_STAGE_{number}", "STATUS_ID": f"C{number}:{code}", "NAME": name, "SORT": sort,
                 "SEMANTICS": meaning, "COLOR": "#112233"},
            )
            for code, name, sort, meaning in reversed(wanted)
        ]  # fmt: skip
        assert [one.status for one in send(move, "crm", *items)] == ["created"] * len(wanted)
        move.finalize()
        found = stages_of(move, str(number))
        assert [(name, sort) for _, name, sort in found] == [(name, sort) for _, name, sort, _ in wanted]
        success = [row for row in move.world.box.portal.company.crm.statuses if row["NAME"] == "Happy end"]
        assert [row["STATUS_ID"] for row in success] == [f"C{number}:WON"]  # a box has no second one


def test_stages_of_a_pipeline_of_the_box_keep_their_order(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_structure", box=stock()) as move:
        names = {"P1": 3000, "P2": 4000, "P3": 5000}
        items = [
            Item.make(
                f"source:crm_stages:DEAL_STAGE:{code}",
                {
                    "ENTITY_ID": "DEAL_STAGE",
                    "STATUS_ID": code,
                    "NAME": code,
                    "SORT": sort,
                    "SEMANTICS": "",
                    "COLOR": "",
                },
            )
            for code, sort in names.items()
        ]
        assert [one.status for one in send(move, "crm", *items)] == ["created"] * 3
        move.finalize()
        rows = [row for row in move.world.box.portal.company.crm.statuses if row["ENTITY_ID"] == "DEAL_STAGE"]
        order = [row["STATUS_ID"] for row in sorted(rows, key=lambda row: int(row["SORT"]))]
        assert order[-6:] == ["P1", "P2", "P3", "WON", "LOSE", "APOLOGY"]
        assert {row["STATUS_ID"]: int(row["SORT"]) for row in rows}.items() >= names.items()
        assert len(order) == 11  # nothing of the box is gone


def test_the_doctor_counts_workflows_of_the_box_that_start_on_a_change(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_structure", box=stock()) as move:
        with move.app() as app:
            assert "crm" not in app.context.target.info().checks
        template = {"ID": "9", "NAME": "Old", "MODULE_ID": "crm", "ENTITY": "CCrmDocumentDeal", "DOCUMENT_TYPE": "DEAL"}
        templates = move.world.box.portal.company.workflows.templates
        for number, start in ((9, "2"), (10, "1"), (11, "3")):
            templates.put(number, template | {"ID": str(number), "AUTO_EXECUTE": start})
        with move.app() as app:
            check = app.context.target.info().checks["crm"]
            assert (check.ok, check.message.endswith("changes: 2")) == (False, True)


def test_without_a_push_server_undo_says_why_a_message_stays(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "chats", box=stock(push_server=False)) as move:
        (chat,) = send(move, "chats", Item.make("source:chat:7", {"name": "Sales", "type": "chat", "users": []}))
        fields: dict[str, Any] = {
            "chat_id": chat.target_id,
            "author_id": "1",
            "date": "2024-05-06T07:08:09Z",
            "files": [],
            "text": "hi",
        }
        send(move, "chats", Item.make("source:msg:1", fields))
        with move.app() as app:
            (answer,) = app.context.target.delete("chats", "chat_messages", ["source:msg:1"], dry_run=False)
            assert (answer.status, "push server" in answer.reason) == ("kept", True)


# ---------------------------------------------------------------- chats


def test_a_message_that_is_too_old_to_change_stays_and_the_list_says_so(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "chats", box=stock()) as move:
        fields: dict[str, Any]
        (chat,) = send(move, "chats", Item.make("source:chat:7", {"name": "Sales", "type": "chat", "users": []}))
        fields = {"chat_id": chat.target_id, "author_id": "1", "date": "2024-05-06T07:08:09Z", "files": []}
        send(move, "chats", Item.make("source:msg:1", fields | {"text": "one"}))
        move.world.strike_box(
            {"method": "im.message.update", "kind": "error", "code": "CANT_EDIT_MESSAGE", "status": 400}
        )
        (outcome,) = send(move, "chats", Item.make("source:msg:1", fields | {"text": "two"}))
        assert outcome.status == "updated"
        reasons = rules(move, "chat_messages", "text", {"": "source:msg:1", "text": "two"})
        assert [one for one in reasons if "3 days" in one]
        assert not [one for one in rules(move, "chat_messages", "text", {"": "source:msg:2"}) if "3 days" in one]


def test_the_end_of_a_long_message_is_counted_as_lost(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "chats", box=stock()) as move:
        assert [one for one in rules(move, "chat_messages", "text", {"text": "x" * 19_990}) if "20,000" in one]
        assert not [one for one in rules(move, "chat_messages", "text", {"text": "x" * 19_000}) if "20,000" in one]


# ---------------------------------------------------------------- custom fields


def test_options_that_a_field_of_a_smart_process_lacks_are_added(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "crm_structure", box=stock()) as move:
        fields = {"title": "Rent", "entityTypeId": "130", "isStagesEnabled": True}
        (made,) = send(move, "crm", Item.make("source:crm_types:1", fields))
        option = {"id": "1", "value": "A", "sort": 10, "default": False, "xml_id": "a"}
        wish = {"code": "UF_CRM_5_KIND", "type": "enumeration", "label": "Kind", "multiple": False, "sort": 100,
                "settings": {}, "options": [option]}  # fmt: skip
        with move.app() as app:
            target = app.context.target
            target.fields("crm", "crm_spitems", [wish], type_id=str(made.target_id))
            more = {"id": "2", "value": "B", "sort": 20, "default": False, "xml_id": "b"}
            (outcome,) = target.fields(
                "crm", "crm_spitems", [wish | {"options": [option, more]}], type_id=str(made.target_id)
            )
            assert set(outcome.options) == {"1", "2"}


# ---------------------------------------------------------------- feed


def test_undo_stops_at_an_answer_without_its_key_and_forgets_nothing(tmp_path: Path) -> None:
    """Taken for empty, it would say that all comments are gone."""
    with moving(tmp_path, "users", "feed", box=stock()) as move:
        (post,) = send(
            move, "feed", Item.make("source:feed_posts:5", {"DETAIL_TEXT": "News", "AUTHOR_ID": "1", "DEST": ["UA"]})
        )
        fields = {"post_id": str(post.target_id), "author_id": "1", "text": "+1", "date": "2024-05-06T07:08:09Z"}
        comment = Item.make("source:feed_comments:5:6", fields)
        send(move, "feed", comment)
        with move.app() as app:
            assert isinstance(app.context.target, RestTarget)
            box = app.context.target._box
            asked = box.question
            box.question = lambda method, params: {} if "blogcomment" in method else asked(method, params)  # type: ignore[method-assign]
            with pytest.raises(Transient):
                app.context.target.delete("feed", "feed_comments", [comment.key], dry_run=False)
            box.question = asked  # type: ignore[method-assign]
            (answer,) = app.context.target.delete("feed", "feed_comments", [comment.key], dry_run=False)
            assert answer.status == "deleted"
