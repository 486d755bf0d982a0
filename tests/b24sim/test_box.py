"""A box: import.* beside the native methods, which show what was imported."""

from typing import Any

from tests.b24sim.client import batch, call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve


def put(box: Running, entity: str, stream: str, number: int, fields: dict[str, Any]) -> str:
    item = {"key": f"source:{stream}:{number}", "digest": f"{number:064x}", "fields": fields}
    body = {"stream": stream, "run": "r", "dry_run": False, "items": [item]}
    answer = result(box, f"import.{entity}.batch", body)["items"][0]
    assert answer["error"] is None, answer
    return str(answer["id"])


def test_import_methods_exist_on_a_box_only(box: Running, cloud: Running) -> None:
    assert result(box, "import.info")["contract"] == 1
    assert result(box, "method.get", {"name": "import.users.batch"})["isAvailable"] is True
    assert result(box, "method.get", {"name": "import.nonsense.batch"})["isExisting"] is False
    assert call(box, "import.nonsense.batch").status == 404
    assert call(cloud, "import.info").status == 404
    box.portal.scopes = ("user",)
    assert call(box, "import.info").json["error"] == "insufficient_scope"


def test_a_gateways_address_is_accepted(box: Running) -> None:
    assert result(box, "import.info")["contract"] == 1
    address = box.webhook().replace("/rest/", "/webhook/") + "import.info"
    assert send(address, b"{}", {"Content-Type": "application/json"}).status == 200


def test_an_import_comes_as_json_and_not_as_a_form_nor_in_a_batch(box: Running) -> None:
    address, body = box.webhook() + "import.groups.batch", b'{"stream": "groups", "items": []}'
    for kind in ("application/x-www-form-urlencoded", "text/plain", ""):
        assert send(address, body, {"Content-Type": kind}).json["error"] == "ERROR_ARGUMENT"
    assert send(address, body, {"Content-Type": "application/json; charset=utf-8"}).status == 200
    inside = batch(box, {"c0": "import.users.match?emails[]=a@b.example"})
    assert inside["result_error"]["c0"]["error"] == "ERROR_ARGUMENT"


def test_only_an_administrator_imports() -> None:
    with serve(Portal(role="box", clock=ManualClock(), admins=())) as running:
        reply = call(running, "import.info")
        assert (reply.status, reply.json["error"]) == (403, "ACCESS_DENIED")


def test_native_methods_show_what_was_imported(box: Running) -> None:
    assert [row["ID"] for row in result(box, "user.get")] == ["1"]
    department = put(box, "users", "departments", 5, {"NAME": "Sales", "PARENT": "1", "SORT": 100})
    user = put(box, "users", "users", 7, {
        "NAME": "Oleg", "LAST_NAME": "Orlov", "EMAIL": "o@company.example", "ACTIVE": True,
        "UF_DEPARTMENT": [department], "DATE_REGISTER": "2024-03-01",
    })  # fmt: skip
    group = put(
        box,
        "groups",
        "groups",
        12,
        {"NAME": "Team", "OWNER_ID": user, "VISIBLE": True, "DATE_CREATE": "2024-03-01T09:00:00Z"},
    )
    put(box, "groups", "group_members", 1, {"GROUP_ID": group, "USER_ID": user, "ROLE": "A"})
    chat = put(box, "chats", "chats", 5, {"type": "chat", "name": "Talk", "owner": "1", "users": ["1", user]})
    put(
        box,
        "chats",
        "chat_messages",
        9,
        {"chat_id": chat, "author_id": user, "date": "2024-03-02T09:00:00Z", "text": "hi"},
    )

    row = result(box, "user.get", {"FILTER": {"EMAIL": "o@company.example"}})[0]
    assert (row["ID"], row["UF_DEPARTMENT"], row["DATE_REGISTER"]) == (
        user,
        [int(department)],
        "2024-03-01T03:00:00+03:00",
    )
    assert {entry["NAME"] for entry in result(box, "department.get")} > {"Sales"}
    assert result(box, "sonet_group.get")[0]["DATE_CREATE"] == "2024-03-01T12:00:00+03:00"
    assert result(box, "sonet_group.user.get", {"ID": group}) == [{"USER_ID": user, "ROLE": "A"}]
    assert result(box, "im.dialog.get", {"DIALOG_ID": f"chat{chat}"})["message_count"] == 1
    messages = result(box, "im.dialog.messages.get", {"DIALOG_ID": f"chat{chat}", "FIRST_ID": 0})["messages"]
    assert [(m["text"], m["author_id"], m["date"]) for m in messages] == [
        ("hi", int(user), "2024-03-02T12:00:00+03:00")
    ]


def test_the_dump_of_a_box_tells_keys_and_counts(box: Running) -> None:
    put(box, "users", "users", 7, {"NAME": "Oleg", "EMAIL": "o@company.example", "ACTIVE": True})
    record = control(box, "dump?stream=users")["records"][0]
    assert (record["key"], record["created_count"], record["updated_count"]) == ("source:users:7", 1, 0)
    assert control(box, "imports")["order_violations"] == 0


def test_users_that_were_there_before_are_known_to_imports() -> None:
    company = Company(Plan(3, 1, 0, 0, 0, 0, bad_users=0, box=True))
    with serve(Portal(company, role="box", clock=ManualClock())) as running:
        mail = result(running, "user.get", {"ID": 2})[0]["EMAIL"]
        assert result(running, "import.users.match", {"emails": [mail.upper()]})["items"][0]["id"] == "2"


def test_a_box_speaks_of_no_limits(box: Running) -> None:
    assert "operating" not in call(box, "server.time").json["time"]


def test_a_body_over_the_limit_is_refused(box: Running) -> None:
    reply = call(box, "import.users.batch", {"stream": "users", "items": [], "run": "x" * 8_000_001})
    assert (reply.status, reply.json["error"]) == (400, "ERROR_ARGUMENT")
