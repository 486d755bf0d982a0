"""Each kind of chat is migrated, or skipped by a rule that is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.skipped_records import closes, skipped
from tests.engine.world import World, small, world

from b24migrate.engine.phases.compose import Composer
from b24migrate.entities.chats import details, reader
from b24migrate.entities.chats import streams as chats
from b24migrate.entities.chats.details import COMMENTS, FoundChat
from b24migrate.entities.chats.reader import (
    COPILOT,
    NOT_BEGUN,
    NOTIFICATIONS,
    OF_A_TASK,
    OPEN_LINE,
    UNKNOWN_KIND,
    recent_chat,
)
from b24migrate.insight import certificate
from b24migrate.messages import say
from b24migrate.model.errors import Forbidden, GateUnmet
from b24migrate.model.events import Noted
from b24migrate.model.records import SetAside
from b24migrate.ports import Answer
from b24sim.company.chats import Chat
from b24sim.errors import RestError
from b24sim.methods import chats as chats_methods
from b24sim.methods import dialogs
from b24sim.result import Result

TEN, BOOKED = small(chats=10), "Бронь"
RULES = {"L": OPEN_LINE, "A": COPILOT, "S": NOTIFICATIONS, "G": say(UNKNOWN_KIND, kind="G"), "X": OF_A_TASK}


def by_kind(made: World, *kinds: str) -> dict[str, Chat]:
    chats = made.cloud.portal.company.chats.values()
    return {str(chat.id): chat for chat in chats if 1 in chat.members and chat.kind in kinds}


@pytest.fixture(scope="module")
def ten(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Chats of every kind, migrated; and a chat of another module."""
    with world(tmp_path_factory.mktemp("ten"), TEN) as made:
        (number,) = made.change("chats", "add", fields={"message_type": "X", "users": [1, 2], "name": BOOKED})
        made.change("chats", id=number, fields={"entity_type": "BOOKING", "entity_id": "3"})
        assert made.run().exit_code == 0
        yield made


def test_every_kind_of_chat_is_migrated_or_skipped_by_a_rule(ten: World) -> None:
    booked = {number: chat for number, chat in by_kind(ten, "X").items() if chat.entity_type == "BOOKING"}
    left_out = {number: chat for number, chat in by_kind(ten, *RULES).items() if number not in booked}
    assert {chat.kind for chat in left_out.values()} == set(RULES)
    assert skipped(ten, "chats") == {number: RULES[chat.kind] for number, chat in left_out.items()}
    there = {key.rpartition(":")[2]: row["fields"] for key, row in ten.imported("chats").items()}
    wanted = by_kind(ten, *"PCONJB") | booked
    assert there.keys() == wanted.keys()
    assert {"collab", "videoconf", "calendar", "mail", "call", "announcement"} <= {
        one["type"] for one in there.values()
    }
    chats_read = {key.rpartition(":")[2] for key in ten.imported("chat_messages")}
    assert len(chats_read) == sum(map(len, wanted.values()))
    assert closes(ten, "chats")
    assert f"chats: 2 skipped by rule: {OPEN_LINE}" in ten.entity("chats").notes
    assert ten.entity("chats").verified


def test_a_chat_of_another_module_is_migrated(ten: World) -> None:
    ((number, _),) = [(number, chat) for number, chat in by_kind(ten, "X").items() if chat.entity_type == "BOOKING"]
    assert ten.imported("chats")[f"source:chat:{number}"]["fields"]["name"] == BOOKED
    assert number not in skipped(ten, "chats")


def test_a_collab_belongs_to_its_group(ten: World) -> None:
    ((number, chat),) = by_kind(ten, "B").items()
    fields = ten.imported("chats")[f"source:chat:{number}"]["fields"]
    group = ten.imported("groups")[f"source:groups:{chat.entity_id}"]
    assert (fields["entity_type"], fields["entity_id"]) == ("SONET_GROUP", group["id"])
    assert group["fields"]["TYPE"] == "collab"


def test_comments_under_posts_are_said_to_be_lost(ten: World) -> None:
    """They are in no list, and nobody knows how many there are: each channel counts once."""
    channels = by_kind(ten, "N", "J")
    rows = ten.sql("SELECT RowKey, Reason FROM SetAside WHERE Why = 'impossible'")
    lost = {str(key).rpartition(":")[2] for key, why in rows if why == COMMENTS}
    assert lost == channels.keys() != set()
    assert any(COMMENTS in note for note in ten.entity("chats").notes)


def test_a_kind_that_nobody_knows_is_a_warning(ten: World) -> None:
    levels = {one.message: one.level for one in ten.events if isinstance(one, Noted)}
    assert levels[f"chats: 1 skipped by rule: {say(UNKNOWN_KIND, kind='G')}"] == "warning"
    assert levels[f"chats: 2 skipped by rule: {OPEN_LINE}"] == "info"


def test_comments_that_a_portal_lists_keep_their_post(tmp_path: Path) -> None:
    with world(tmp_path, TEN, listing_chats=True) as made:
        assert made.run().exit_code == 0
        ((number, thread),) = by_kind(made, "T").items()
        channel, post = thread.parent
        with made.app() as app:
            sent = Composer(app.context, app.context.streams["chats"], late=True)
            record = app.context.store.get(app.context.streams["chats"].table, (number,))[number]
            fields = sent.compose(record).fields
        assert fields["parent_chat_id"] == made.imported("chats")[f"source:chat:{channel}"]["id"]
        assert fields["parent_message_id"] == made.imported("chat_messages")[f"source:chat:msg:{post}"]["id"]
        assert made.imported("chats")[f"source:chat:{number}"]["fields"]["type"] == "comment"
        assert not [why for why in skipped(made, "chats").values() if why == COMMENTS]


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ({"id": 7, "chat_id": 12, "type": "user", "chat": {"mute_list": []}}, FoundChat(12, "7", 0)),
        ({"id": "7", "chat_id": "12", "type": "user"}, FoundChat(12, "7", 0)),
        ({"id": "chat12", "chat_id": 12, "type": "chat", "chat": {"message_type": "C"}}, FoundChat(12, "chat12", 0)),
        ({"id": "chat12", "type": "chat", "chat": []}, FoundChat(12, "chat12", 0)),
        ({"id": "sg3", "chat_id": 12, "chat": {"message_type": "B"}}, FoundChat(12, "chat12", 0)),
        ({"id": "sg3", "type": "chat"}, None),
        ({"id": 7, "chat_id": 0, "type": "user"}, NOT_BEGUN),
        ({"id": "notify", "type": "notification"}, NOTIFICATIONS),
        (
            {"id": "chat9", "chat_id": 9, "chat": {"message_type": "X", "entity_type": "BOOKING"}},
            FoundChat(9, "chat9", 0),
        ),
        ({"id": "chat9", "chat_id": 9, "chat": {"message_type": "G"}}, "unknown chat type: G"),
        ({"id": "what", "type": "marvel"}, "unknown chat type: marvel"),
        ({}, "unknown chat type: "),
        ({"id": "chatty", "chat_id": "?", "type": None, "chat": None}, "unknown chat type: chatty"),
    ],
)
def test_whatever_a_recent_list_holds_is_understood_or_counted(item: dict[str, Any], wanted: Any) -> None:
    chat = recent_chat(item, 0)
    assert (chat.reason if isinstance(chat, SetAside) else chat) == wanted


def test_a_group_chat_without_a_number_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dialogs.recent_shape

    def bare(context: Any, chat: Chat) -> dict[str, Any]:
        item = whole(context, chat)
        if chat.entity_type != "SONET_GROUP" or chat.kind != "C":
            return item
        return {"id": f"sg{chat.entity_id}", "type": "chat", "title": item["title"]}

    monkeypatch.setattr(chats_methods, "recent_shape", bare)
    with world(tmp_path, TEN) as made:
        assert made.run().exit_code == 0
        of_groups = [one for one in by_kind(made, "C").values() if one.entity_type == "SONET_GROUP"]
        assert {f"source:chat:{one.id}" for one in of_groups} <= made.imported("chats").keys()
        assert of_groups


def test_a_group_chat_that_one_webhook_may_not_read_is_read_through_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each list has it by the name of its group. Where nobody may read it, the reason is the portal's own."""
    whole, read = dialogs.recent_shape, dialogs.dialog
    blind: set[int] = {1}
    closed: set[str] = set()

    def bare(context: Any, chat: Chat) -> dict[str, Any]:
        item = whole(context, chat)
        if chat.entity_type != "SONET_GROUP" or chat.kind != "C":
            return item
        return {"id": f"sg{chat.entity_id}", "type": "chat", "title": item["title"]}

    def guarded(context: Any, params: Any) -> Chat:
        named = str(params.get("DIALOG_ID"))
        if context.caller.user in blind and (named.startswith("sg") or named in closed):
            raise RestError("DIALOG_CLOSED", "The dialog is closed")
        return read(context, params)

    monkeypatch.setattr(chats_methods, "recent_shape", bare)
    monkeypatch.setattr(chats_methods, "dialog", guarded)
    with world(tmp_path, TEN, webhooks=(1, 2)) as made:
        of_groups = [one for one in by_kind(made, "C").values() if one.entity_type == "SONET_GROUP"]
        for one in of_groups:
            made.change("chats", id=one.id, fields={"users": sorted({1, 2, *one.members})})
            closed.add(f"chat{one.id}")
        assert made.run().exit_code == 0
        assert {f"source:chat:{one.id}" for one in of_groups} <= made.imported("chats").keys()
        assert impossible(made, "sg") == []
        blind.add(2)
        assert made.run().exit_code == 0  # they were read before, and nobody shows them now
        assert any(f"{len(of_groups)} not shown by the source" in str(one) for one in made.entity("chats").notes)
        assert [why for _, why in impossible(made, "sg")] == [
            "the chat is in the list of user 1 but cannot be read (DIALOG_CLOSED)"
        ] * len(of_groups)


def impossible(made: World, begin: str) -> list[tuple[str, str]]:
    rows = made.sql("SELECT RowKey, Reason FROM SetAside WHERE Why = 'impossible'")
    found = [(str(key).split(":", 2)[2], str(why)) for key, why in rows if str(key).split(":", 2)[1] == "chats"]
    return sorted(one for one in found if one[0].startswith(begin))


def test_chats_that_were_migrated_before_there_was_a_rule_stay_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier version took the conversations of open lines for chats. Later passes meet them too."""
    with world(tmp_path, TEN) as made:
        with monkeypatch.context() as earlier:
            for module in (reader, chats):
                earlier.setattr(module, "skip_rule", lambda chat: OF_A_TASK if chat["type"] == "tasksTask" else None)
            assert made.run().exit_code == 0
        before = {key: row["created_count"] for key, row in made.imported("chats").items()}
        lines = by_kind(made, "L")
        assert {f"source:chat:{number}" for number in lines} <= before.keys()
        ended = made.run()
        assert (ended.exit_code, ended.message) == (0, "")
        assert made.entity("chats").verified
        assert not skipped(made, "chats").keys() & lines.keys()
        assert closes(made, "chats")
        assert {key: row["created_count"] for key, row in made.imported("chats").items()} == before
        with made.app() as app:
            certificate.make(app.context, made.folder / "certificate.jsonl")  # raises where it does not close


@pytest.mark.parametrize("how", ["refused", "strange"])
@pytest.mark.parametrize("name", ["ONLY_COPILOT", "ONLY_CHANNEL"])
def test_only_a_list_that_is_excluded_anyway_may_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, how: str
) -> None:
    with world(tmp_path, TEN) as made:
        method = made.cloud.portal.method("im.recent.list")

        def without(context: Any, params: Any) -> Result:
            if params.get(name) != "Y":
                return method.call(context, params)
            if how == "refused":
                raise RestError("ERROR_ARGUMENT", f"{name} is not known")
            return Result({"list": []})

        changed = type(method)(method.name, method.scopes, without, method.upper)
        monkeypatch.setitem(made.cloud.portal.methods._methods, method.name, changed)
        ended = made.run()
        if name == "ONLY_CHANNEL":
            assert ended.exit_code == 4
            return
        assert ended.exit_code == 0
        code = "ERROR_ARGUMENT" if how == "refused" else "STRANGE_RESULT"
        assert say("skip.copilot_unread", why=code) in made.entity("chats").notes
        assert {f"source:chat:{number}" for number in by_kind(made, *"PCONJB")} == made.imported("chats").keys()


REFUSED_READS: dict[str, Callable[[Any], object]] = {
    "im.recent.list": lambda source: reader.gather(source, {}, 0),
    "im.dialog.get": lambda source: reader.ask_chat_numbers(source, {"sg1": {"DIALOG_ID": "sg1"}}, 0),
    "im.dialog.users.list": lambda source: details.active_participants(source, FoundChat(2, "chat2", 0)),
}


@pytest.mark.parametrize("method", REFUSED_READS)
def test_a_method_of_the_messenger_that_is_refused_altogether_stops_the_run(small: World, method: str) -> None:
    with small.app() as app:
        stop = GateUnmet("source", "refused to everybody")
        refused = Forbidden("Access denied", gate=stop, code="ACCESS_DENIED")
        source = Refusing(app.context.source, method, refused)
        with pytest.raises(GateUnmet) as stopped:
            REFUSED_READS[method](source)
        assert stopped.value is stop


class Refusing:
    """A source of which one method is refused to everybody."""

    def __init__(self, source: Any, method: str, error: Forbidden) -> None:
        self.source, self.method, self.error = source, method, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def call(self, method: str, params: Any, **how: Any) -> Any:
        if method == self.method:
            raise self.error
        return self.source.call(method, params, **how)

    def batch(self, commands: Any, **how: Any) -> Any:
        answers = self.source.batch(commands, **how)
        pairs = zip(commands, answers, strict=True)
        return [Answer(None, self.error) if one.method == self.method else answer for one, answer in pairs]
