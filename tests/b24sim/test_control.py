"""The control room: figures, truth and changes."""

from tests.b24sim.client import batch, call, control, result

from b24sim import Running


def test_figures_count_commands_inside_batches(small: Running) -> None:
    call(small, "user.get")
    batch(small, {"a": "user.get?ID=1", "b": "no.such"})
    stats = control(small, "stats")
    assert stats["http_requests"] == 2
    assert stats["methods"] == {"user.get": 1, "batch": 1}
    assert stats["calls"]["user.get"] == 2
    assert stats["errors"] == {"ERROR_METHOD_NOT_FOUND": 1}
    assert stats["peak_in_flight"] == 1
    control(small, "reset", {})
    assert control(small, "stats")["http_requests"] == 0


def test_the_dump_is_the_whole_truth(small: Running) -> None:
    counts = control(small, "company")["counts"]
    for stream, number in counts.items():
        assert len(control(small, f"dump?stream={stream}")["records"]) == number
    assert counts["chat_messages"] > 300  # chats of other kinds come on top
    mine = control(small, "dump?stream=chat_messages&visible_to=1")["records"]
    assert 0 < len(mine) < counts["chat_messages"]
    assert control(small, "dump?stream=nonsense")["error"] == "ERROR_ARGUMENT"


def test_users_come_change_and_go(small: Running) -> None:
    added = control(small, "mutate", {"stream": "users", "op": "add", "count": 2, "fields": {"NAME": "Zoe"}})["ids"]
    rows = result(small, "user.get", {"FILTER": {"ID": added}, "sort": "ID", "order": "ASC"})
    assert [(int(row["ID"]), row["NAME"]) for row in rows] == [(number, "Zoe") for number in added]
    control(small, "mutate", {"stream": "users", "op": "delete", "id": added[0]})
    assert len(result(small, "user.get", {"FILTER": {"ID": added}})) == 1
    assert control(small, "mutate", {"stream": "users", "op": "update", "id": 10**6})["error"] == "ERROR_NOT_FOUND"


def test_messages_come_change_and_go(small: Running) -> None:
    before = result(small, "im.dialog.get", {"DIALOG_ID": "chat5"})
    wish = {"stream": "chat_messages", "op": "add", "chat": 5, "count": 2, "fields": {"text": "hello"}}
    added = control(small, "mutate", wish)["ids"]
    news = result(small, "im.dialog.messages.get", {"DIALOG_ID": "chat5", "FIRST_ID": before["last_message_id"]})[
        "messages"
    ]
    assert sorted((row["id"], row["text"]) for row in news) == [(number, "hello") for number in added]
    asked = {"DIALOG_ID": "chat5", "LAST_ID": added[0], "LIMIT": 3}
    first = result(small, "im.dialog.messages.get", asked)["messages"]
    control(
        small, "mutate", {"stream": "chat_messages", "op": "update", "id": first[1]["id"], "fields": {"text": "edited"}}
    )
    control(small, "mutate", {"stream": "chat_messages", "op": "delete", "id": first[2]["id"]})
    after = result(small, "im.dialog.messages.get", asked)["messages"]
    assert after[0] == first[0]
    assert (after[1]["text"], after[1]["params"]["IS_EDITED"]) == ("edited", "Y")
    assert after[2]["params"] == {"IS_DELETED": "Y"}
    assert (
        result(small, "im.recent.list")["items"][0]["chat_id"] == 5
        or result(small, "im.recent.list")["items"][0]["pinned"]
    )


def test_groups_departments_and_members_change(small: Running) -> None:
    group = control(small, "mutate", {"stream": "groups", "op": "add", "fields": {"NAME": "New", "OWNER_ID": "2"}})[
        "ids"
    ][0]
    control(small, "mutate", {"stream": "group_members", "op": "add", "group": group, "user": 3})
    assert result(small, "sonet_group.get", {"GROUP_ID": group})[0]["NAME"] == "New"
    roles = result(small, "sonet_group.user.get", {"ID": group})
    assert roles == [{"USER_ID": "2", "ROLE": "A"}, {"USER_ID": "3", "ROLE": "K"}]
    control(small, "mutate", {"stream": "departments", "op": "add", "fields": {"NAME": "Dept"}})
    assert result(small, "department.get", {"NAME": "Dept"})[0]["PARENT"] == "1"
    chat = control(small, "mutate", {"stream": "chats", "op": "add", "fields": {"users": [1, 2], "name": "Fresh"}})[
        "ids"
    ][0]
    assert result(small, "im.dialog.get", {"DIALOG_ID": f"chat{chat}"})["name"] == "Fresh"


def test_the_clock_can_be_moved(small: Running) -> None:
    before = control(small, "clock")["now"]
    assert control(small, "clock", {"advance": 60})["now"] == before + 60


def test_an_unknown_page_names_the_known_ones(small: Running) -> None:
    assert "GET stats" in control(small, "nonsense")["error_description"]
