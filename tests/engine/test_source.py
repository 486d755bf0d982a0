"""What is read, what cannot be read, and what the store keeps about it."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World, small, world

from b24migrate.engine.phases.read_children import children, gap_key, prove, trusted_prefix
from b24migrate.engine.run import RunResult
from b24migrate.insight import certificate
from b24migrate.model.records import Job
from b24migrate.ports import CHECKPOINTS, RegisterRow
from b24sim.message_habits import MessageHabits

# ---------------------------------------------------------------- several webhooks


def test_the_chats_of_several_webhooks_are_merged(tmp_path: Path) -> None:
    with world(tmp_path, small(chats=20, foreign_chats=0.4), webhooks=(1, 2, 3)) as made:
        assert made.run().exit_code == 0
        chats = made.cloud.portal.company.chats.values()
        wanted = {str(chat.id) for chat in chats if {1, 2, 3} & set(chat.members) and chat.kind in "PCONJB"}
        only_first = {str(chat.id) for chat in chats if 1 in chat.members and chat.kind in "PCONJB"}
        assert made.records("Chats").keys() == wanted > only_first
        assert len(made.imported("chats")) == len(wanted)


def test_whose_chats_nobody_can_read_is_said_and_counted(tmp_path: Path) -> None:
    with world(tmp_path, webhooks=(1, 2)) as made:
        made.run()
        aside = made.sql("SELECT RowKey, Why, Reason, Name FROM SetAside WHERE Why = 'impossible'")
        assert made.stream("chats").impossible == len(aside) == 12 - 2 + 1
        (channel,) = [chat for chat in made.cloud.portal.company.chats.values() if chat.kind in "NJ"]
        assert {key for key, *_ in aside} - {f"impossible:chats:comments:{channel.id}"} == {
            f"impossible:chats:private:{user}" for user in range(3, 13)
        }
        assert all(reason and name for _, _, reason, name in aside)
        row = made.cloud.portal.company.users.row(5)
        assert any(f"{row['NAME']} {row['LAST_NAME']}" in note for note in made.entity("chats").notes)
        assert made.entity("chats").verified


# ---------------------------------------------------------------- two ways of reading chats


def payloads(made: World) -> dict[str, Any]:
    """What the box knows about chats and messages, without its own ids."""
    people = {row["id"]: key for key, row in made.imported("users").items()}
    chats = {row["id"]: key for key, row in made.imported("chats").items()}
    found: dict[str, Any] = {}
    for key, row in made.imported("chats").items():
        fields = row["fields"]
        found[key] = (fields["name"], fields["type"], people[fields["owner"]], {people[one] for one in fields["users"]})
    for key, row in made.imported("chat_messages").items():
        fields = row["fields"]
        text = re.sub(r"\[(USER|CHAT)=\d+", r"[\1=", fields["text"])
        found[key] = (chats[fields["chat_id"]], fields["date"], text, len(fields["files"]), fields["params"])
    return found


def test_a_portal_that_lists_chats_gives_the_same_result(tmp_path: Path) -> None:
    results = []
    for listing in (False, True):
        folder = tmp_path / str(listing)
        folder.mkdir()
        with world(folder, listing_chats=listing) as made:
            assert made.run().exit_code == 0
            results.append(payloads(made))
            ((method,),) = made.sql("SELECT SourceMethod FROM SourceInventory WHERE Stream = 'chats'")
            assert method == ("im.chat.get" if listing else "im.recent.list")
    assert results[0] == results[1]


def test_chats_of_tasks_are_excluded(tmp_path: Path) -> None:
    with world(tmp_path, small(chats=20)) as made:
        assert made.run().exit_code == 0
        tasks = {str(chat.id) for chat in made.cloud.portal.company.chats.values() if chat.kind == "X"}
        assert tasks
        about = made.stream("chats")
        others = {str(chat.id) for chat in made.cloud.portal.company.chats.values() if chat.kind in "LASG"}
        there = {str(chat.id) for chat in made.cloud.portal.company.chats.values() if chat.kind in "PCONJB"}
        assert (about.excluded, about.imported) == (len(tasks | others), len(there))
        assert about.read == len(tasks | others | there)
        assert not tasks & {key.partition(":")[0] for key in made.records("ChatMessages")}
        assert made.entity("chats").verified


# ---------------------------------------------------------------- drift and alarms


def test_a_counter_of_messages_that_is_off_is_a_note_and_no_drift(small: World) -> None:
    chats = small.cloud.portal.company.chats.values()
    for chat in (one for one in chats if one.kind != "X" and 1 in one.members):
        small.change("chats", id=chat.id, fields={"extra": {"message_count": len(chat)}})
    chat = max(chats, key=len)
    small.change("chats", id=chat.id, fields={"extra": {"message_count": len(chat) + 7}})
    assert small.run().exit_code == 0
    about = small.stream("chat_messages")
    assert (about.source, about.drift) == (None, 0)
    assert small.entity("chats").verified
    noted = [note for note in small.entity("chats").notes if "counters" in note]
    assert len(noted) == 1
    assert f"counters say {len(chat) + 7}, {len(chat)} were read" in noted[0]


@pytest.mark.parametrize(
    "habits", [{}, {"order": "oldest"}, {"order": "mixed"}, {"pages": "short"}, {"pages": "unread"}], ids=str
)
def test_the_whole_history_arrives_whatever_a_portal_s_pages_are_like(tmp_path: Path, habits: dict[str, str]) -> None:
    plan = small(chats=30, messages=1500)
    with world(tmp_path, plan, message_habits=MessageHabits(**habits)) as made:  # type: ignore[arg-type]
        assert made.run().exit_code == 0
        company = made.cloud.portal.company
        keys = {
            f"{chat.id}:{chat.id_at(place)}"
            for chat in company.chats.values()
            if chat.kind in "PCONJB" and 1 in chat.members
            for place in range(len(chat))
        }
        assert set(made.records("ChatMessages")) == keys
        assert made.entity("chats").verified
        assert len(made.imported("chat_messages")) == made.stream("chat_messages").imported == len(keys)


def test_chats_that_were_believed_to_be_whole_are_read_again_when_pages_prove_to_have_gaps(small: World) -> None:
    """Also those that another process believed, before it was killed."""
    assert small.run().exit_code == 0
    chat = max(
        (one for one in small.cloud.portal.company.chats.values() if one.kind == "C" and 1 in one.members), key=len
    )
    with small.app() as app:
        stream = app.context.streams["chat_messages"]
        app.context.store.write(CHECKPOINTS, [RegisterRow(f"{trusted_prefix(stream)}{chat.id}", {"Pass": 1})])
        (again,) = prove(app.context, Job("chats-get", "prove", {"stream": "chat_messages", "pass": 1}))
        assert isinstance(again, Job)
        assert (again.kind, again.args["parents"], again.args["prove"]) == ("children", [[str(chat.id), 0, 0]], True)
        assert app.context.store.read(CHECKPOINTS, gap_key(stream)) is not None
        (on,) = children(app.context, again)  # down to the first message, and then to an empty page
        assert isinstance(on, Job)
        assert not children(app.context, on)


def test_a_portal_that_repeats_its_newest_page_is_an_error(tmp_path: Path) -> None:
    """Never a short history that is called complete."""
    with world(tmp_path, small(messages=600), message_habits=MessageHabits(pages="stuck")) as made:
        assert made.run().exit_code == 4
        assert not made.entity("chats").verified
        assert {code for _, _, code, _ in made.letters()} == {"PAGE_REPEATED"}


def test_rows_that_appear_while_pages_are_read_are_no_drift(small: World) -> None:
    small.strike_cloud({"kind": "insert", "method": "user.get", "count": 3})
    assert small.run().exit_code == 0
    assert small.stream("users").drift == 0


@pytest.mark.parametrize("delta", [True, False], ids=["delta", "full"])
def test_a_chat_that_the_source_does_not_show_any_more_counts_as_read_before(talk: World, delta: bool) -> None:
    """The portal answers alike for one that is deleted and one that the webhook's owner has left. That is said, and
    stops neither the certificate nor later runs."""
    chat = max(talk.records("Chats"), key=int)
    messages = sum(key.startswith(f"{chat}:") for key in talk.records("ChatMessages"))
    before = [talk.stream(one) for one in ("chats", "chat_messages")]
    talk.change("chats", "delete", id=int(chat))
    for _ in range(2):
        assert again(talk, delta).exit_code == 0
        after = [talk.stream(one) for one in ("chats", "chat_messages")]
        assert [(one.read, one.imported, one.deleted, one.findings) for one in after] == [
            (one.read, one.imported, 0, 0) for one in before
        ]
        told = [str(one) for one in talk.entity("chats").notes if "not shown by the source" in str(one)]
        assert [one.split(". ")[0] for one in told] == [
            "chats: 1 not shown by the source any more",
            *([] if delta else [f"chat_messages: {messages} not shown by the source any more"]),
        ]
    with talk.app() as app:
        made = certificate.make(app.context, talk.folder / "certificate.jsonl")
    assert made.lines


def again(made: World, delta: bool) -> RunResult:
    with made.app() as app:
        return app.runner.run(app.chosen(()), delta=delta, tick=made.leap())


def test_when_many_chats_are_not_shown_any_more_the_webhook_may_have_lost_rights(talk: World) -> None:
    chats = [int(one) for one in talk.records("Chats")][:6]
    for chat in chats:
        talk.change("chats", "delete", id=chat)
    assert talk.run().exit_code == 5
    findings = talk.sql("SELECT Stream, Fate, Field, Expected, Actual FROM Findings WHERE Stream = 'chats'")
    assert findings == [("chats", "extra", "source", "2", "8")]
    assert not talk.entity("chats").verified
    assert talk.run(run={"deletions_limit": 100}).exit_code == 0
    assert talk.entity("chats").verified


def test_a_listing_that_is_suddenly_empty_is_no_success(talk: World) -> None:
    for user in list(talk.cloud.portal.company.groups.ids):
        talk.change("groups", "delete", id=user)
    assert talk.run().exit_code == 5
    assert not talk.entity("groups").verified


def test_a_group_without_members_is_an_alarm(small: World) -> None:
    group = small.cloud.portal.company.groups.ids[0]
    for user in list(small.cloud.portal.company.groups_by_id[group].roles):
        small.change("group_members", "delete", group=group, user=user)
    small.run()
    assert any(f"groups {group} has no group_members" in note for note in small.entity("groups").notes)


# ---------------------------------------------------------------- inventory, page log, times


def test_every_pass_leaves_an_inventory(talk: World) -> None:
    talk.run()
    rows = talk.sql(
        "SELECT Stream, ReportedTotal, RetrievedTotal, SourceMethod, PageCount, IsLatest FROM SourceInventory"
    )
    latest = {stream: rest for stream, *rest, is_latest in rows if is_latest}
    assert latest["users"][:3] == [12, 12, "user.get"]
    assert latest["departments"][:3] == [4, 4, "department.get"]
    assert latest["groups"][:3] == [4, 4, "sonet_group.get"]
    assert latest["chat_messages"][:2] == [None, 120]  # no method gives their number
    assert latest["group_members"][0] is None
    assert sum(stream == "users" for stream, *_ in rows) == 2
    assert sum(is_latest for *_, is_latest in rows) == len(latest) == 6


def test_every_page_is_logged(talk: World) -> None:
    pages = talk.sql(
        "SELECT RowKey, PageSize, Retrieved, ApiParamsHash, StartedAtUtc, FinishedAtUtc, DurationMs FROM PageLog"
    )
    retrieved: dict[str, int] = {}
    for key, size, got, asked, started, finished, took in pages:
        stream = key.partition(":")[0]
        retrieved[stream] = retrieved.get(stream, 0) + got
        assert got <= max(size, got)
        assert re.fullmatch("[0-9a-f]{64}", asked)
        assert datetime.fromisoformat(started) <= datetime.fromisoformat(finished)
        assert took >= 0
    assert retrieved["users"] == 12
    assert retrieved["chat_messages"] == 120
    counts: dict[str, int] = dict(talk.sql("SELECT Stream, PageCount FROM SourceInventory WHERE IsLatest"))
    assert counts["users"] == sum(key.startswith("users:") for key, *_ in pages)


@pytest.mark.parametrize(
    ("table", "field"), [("Groups", "DATE_CREATE"), ("ChatMessages", "date"), ("Chats", "date_create")]
)
def test_times_are_kept_as_received_and_in_utc(small: World, table: str, field: str) -> None:
    small.run(phases=("custom-fields-get", "get"))
    columns = ("SourceOriginal", "SourceUtc", "OriginalOffsetMin", f"json_extract(CAST(Payload AS TEXT), '$.{field}')")
    for original, utc, offset, received in (row.values() for row in small.table(table, *columns)):
        assert original == received
        assert offset == 180
        assert datetime.fromisoformat(utc) == datetime.fromisoformat(original)
        assert datetime.fromisoformat(utc).tzinfo == UTC


def test_times_arrive_in_utc(talk: World) -> None:
    for number in talk.cloud.portal.company.groups.ids:
        wanted = datetime.fromisoformat(str(talk.cloud.portal.company.groups.row(number)["DATE_CREATE"]))
        there = talk.imported("groups")[f"source:groups:{number}"]["fields"]["DATE_CREATE"]
        assert there.endswith("Z")
        assert datetime.fromisoformat(there) == wanted


# ---------------------------------------------------------------- secrets


def test_no_secret_is_kept_in_the_store(small: World) -> None:
    small.strike_cloud({"method": "im.dialog.get", "kind": "error", "code": "ACCESS_ERROR", "at": [2]})
    small.strike_box({"method": "import.groups.batch", "kind": "502html", "count": 1})
    small.run()
    secrets = [*small.cloud.portal.webhooks.values(), *small.box.portal.webhooks.values()]
    files = [path for path in small.folder.rglob("*") if path.is_file() and path.name != "b24migrate.toml"]
    assert files
    for path in files:
        content = path.read_bytes()
        assert not [secret for secret in secrets if secret.encode() in content], path
    text = repr(small.events)
    assert not [secret for secret in secrets if secret in text]


def test_files_are_stored_under_names_of_our_own(talk: World) -> None:
    names = {path.name for path in (talk.folder / "b24migrate.db.files").rglob("*") if path.is_file()}
    assert names == {hashlib.sha256(key.encode()).hexdigest() for key in talk.records("Files")}
