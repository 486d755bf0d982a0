"""Addresses, bodies, envelopes and refusals."""

import json
from urllib.parse import urlencode

import pytest
from tests.b24sim.client import call, result, send

from b24sim import Company, ManualClock, Operating, Plan, Portal, Running, serve
from b24sim.methods.system import MethodHabits

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("ending", ["user.get", "user.get.json", "user.get/", "USER.GET"])
def test_an_address_may_end_in_several_ways(cloud: Running, ending: str) -> None:
    reply = send(f"{cloud.webhook()}{ending}?ID=7")
    assert reply.status == 200
    assert [row["ID"] for row in reply.json["result"]] == ["7"]
    assert reply.headers["content-type"] == "application/json; charset=utf-8"


def test_xml_is_offered(cloud: Running) -> None:
    assert b"<ID>1</ID>" in send(f"{cloud.webhook()}profile.xml").body


def test_form_bodies_use_bracket_names(cloud: Running) -> None:
    form = urlencode({"FILTER[>ID]": "3", "FILTER[<ID]": "6", "select[]": "ID", "sort": "ID", "order": "ASC"})
    reply = send(cloud.webhook() + "user.get", form.encode(), {"Content-Type": "application/x-www-form-urlencoded"})
    assert reply.json["result"] == [{"ID": "4"}, {"ID": "5"}]


def test_multipart_bodies_are_read(cloud: Running) -> None:
    body = b'--x\r\nContent-Disposition: form-data; name="FILTER[ID]"\r\n\r\n7\r\n--x--\r\n'
    reply = send(cloud.webhook() + "user.get", body, {"Content-Type": "multipart/form-data; boundary=x"})
    assert [row["ID"] for row in reply.json["result"]] == ["7"]


def test_a_broken_json_body_is_an_empty_one(cloud: Running) -> None:
    reply = send(cloud.webhook() + "user.get", b'{"FILTER": {"ID": 7', JSON)
    assert reply.status == 200
    assert len(reply.json["result"]) == 50


def test_an_unknown_method_is_refused_before_credentials_are_looked_at(cloud: Running) -> None:
    for address in ("rest/1/wrong/no.such", "rest/wrong/user.get", "rest/no.such"):
        reply = send(f"{cloud.url}/{address}")
        assert (reply.status, reply.json["error"]) == (404, "ERROR_METHOD_NOT_FOUND")


def test_wrong_credentials(cloud: Running) -> None:
    for address in ("rest/1/wrong/user.get", "rest/99/wrong/user.get", "rest/x/y/user.get"):
        reply = send(f"{cloud.url}/{address}")
        assert (reply.status, reply.json["error"]) == (401, "INVALID_CREDENTIALS")
    reply = send(f"{cloud.url}/rest/user.get")
    assert (reply.status, reply.json["error"]) == (401, "NO_AUTH_FOUND")


def test_version_three_knows_none_of_this(cloud: Running, box: Running) -> None:
    reply = send(cloud.webhook().replace("/rest/", "/rest/api/") + "user.get", b"{}", JSON)
    assert reply.status == 404
    assert "code" in reply.json["error"]
    assert send(f"{box.url}/rest/api/1/x/user.get").json["error"] == "ERROR_METHOD_NOT_FOUND"


def test_a_missing_scope(small: Running) -> None:
    small.portal.scopes = ("im",)
    reply = call(small, "user.get")
    assert (reply.status, reply.json["error"]) == (401, "insufficient_scope")
    assert call(small, "im.recent.list").status == 200


def test_webhooks_of_one_portal_may_have_different_scopes() -> None:
    with serve(Portal(Company(Plan(seed=5)), webhooks=(1, 2), scopes_of={2: ("user", "disk")})) as running:
        assert "im" in result(running, "scope", user=1)
        assert result(running, "scope", user=2) == ["user", "disk"]
        assert call(running, "im.recent.list", user=1).status == 200
        assert call(running, "im.recent.list", user=2).json["error"] == "insufficient_scope"
        assert result(running, "method.get", {"name": "im.recent.list"}, user=2) == {
            "isExisting": True,
            "isAvailable": False,
        }


def test_tags_and_quotes_are_hexed_and_text_is_ascii(cloud: Running) -> None:
    body = call(cloud, "user.get", {"FILTER": {"ID": 7}}).body
    assert body.isascii()
    assert b"\\u0027" in body
    assert b"\\u0026" in body
    assert b"\\u003Cb\\u003E" in body
    assert not set(b"<>&'") & set(body)


def test_the_envelope_tells_the_time_and_no_limits_without_a_limiter(cloud: Running) -> None:
    time = call(cloud, "server.time").json["time"]
    assert {"start", "finish", "duration", "processing", "date_start", "date_finish"} == set(time)
    assert time["date_start"].endswith("+03:00")


def test_the_envelope_tells_what_a_method_used_up() -> None:
    clock = ManualClock(1_790_000_000)
    portal = Portal(Company(Plan()), clock=clock, operating=Operating(480))
    portal.costs.seconds["user.get"] = 2.5
    with serve(portal) as running:
        call(running, "user.get")
        time = call(running, "user.get").json["time"]
    assert time["operating"] == 5
    assert time["operating_reset_at"] == (1_790_000_000 // 60 + 10) * 60


def test_probes(cloud: Running, box: Running) -> None:
    assert result(cloud, "profile")["ADMIN"] is True
    assert result(cloud, "profile", user=5)["ADMIN"] is False
    assert result(cloud, "user.admin") is True
    assert "im" in result(cloud, "scope")
    assert result(cloud, "method.get", {"name": "user.get"}) == {"isExisting": True, "isAvailable": True}
    assert result(cloud, "method.get", {"name": "im.v2.file.download"})["isExisting"] is True
    assert result(cloud, "method.get", {"name": "im.v2.File.download"})["isExisting"] is False
    assert result(cloud, "method.get", {"name": "im.chat.message.list"})["isExisting"] is False
    assert "im.dialog.messages.search" not in result(cloud, "methods")
    assert result(cloud, "app.info")["LICENSE"] == "ru_ent250"
    assert result(box, "app.info")["LICENSE"] == "ru_selfhosted"
    assert result(cloud, "feature.get", {"CODE": "x"}) == {"value": "Y"}
    assert result(cloud, "im.revision.get")["rest"] == 32


def test_what_is_available_is_told_by_the_module_although_a_call_goes_by_the_scope() -> None:
    scopes = ("task", "crm", "socialnetwork", "sonet_group")
    found: dict[str, dict[str, bool]] = {}
    for habits in (MethodHabits(), MethodHabits(by_scope=True)):
        with serve(Portal(Company(Plan(tasks=3)), scopes=scopes, method_habits=habits)) as running:
            names = (
                "tasks.task.list",
                "task.item.list",
                "crm.item.list",
                "socialnetwork.api.workgroup.list",
                "user.get",
            )
            answers = {name: result(running, "method.get", {"name": name}) for name in names}
            assert all(answer["isExisting"] for answer in answers.values())
            found[str(habits.by_scope)] = {name: answer["isAvailable"] for name, answer in answers.items()}
            assert len(result(running, "tasks.task.list")["tasks"]) == 3
    others = {
        "task.item.list": True,
        "crm.item.list": True,
        "socialnetwork.api.workgroup.list": True,
        "user.get": False,
    }
    assert found == {"False": {"tasks.task.list": False, **others}, "True": {"tasks.task.list": True, **others}}


def test_method_get_may_not_have_heard_of_an_update_yet() -> None:
    habits = MethodHabits(stale=frozenset({"tasks.task.list"}))
    with serve(Portal(Company(Plan(tasks=3)), method_habits=habits)) as running:
        unknown = {"isExisting": False, "isAvailable": False}
        assert result(running, "method.get", {"name": "tasks.task.list"}) == unknown
        assert len(result(running, "tasks.task.list")["tasks"]) == 3


def test_controller_names_must_be_spelled_as_documented(cloud: Running) -> None:
    assert call(cloud, "im.v2.file.download").json["error"] == "ERROR_METHOD_NOT_FOUND"
    assert call(cloud, "im.v2.File.download").json["error"] == "DIALOG_ID_EMPTY"


def test_the_old_host_of_a_renamed_portal_redirects() -> None:
    with serve(Portal(), moved=True) as running:
        reply = send(running.old_webhook() + "user.get?ID=1", json.dumps({}).encode(), JSON)
        assert reply.status == 302
        assert reply.headers["location"] == running.webhook() + "user.get?ID=1"
        assert send(running.webhook().replace("/rest/", "/_moved/rest/")).headers["location"] == running.webhook()
