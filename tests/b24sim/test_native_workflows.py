"""bizproc.workflow.template.*: what an application may write, and how it comes to its tokens."""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.b24sim.client import Reply, call, control, result, send

from b24sim import ManualClock, Portal, Running, serve
from b24sim.native.applications import LocalApplication

ADD, UPDATE = "bizproc.workflow.template.add", "bizproc.workflow.template.update"
LIST, DELETE = "bizproc.workflow.template.list", "bizproc.workflow.template.delete"
ROOT = (
    'a:4:{s:4:"Type";s:26:"SequentialWorkflowActivity";s:4:"Name";s:8:"Template";'
    's:10:"Properties";a:1:{s:5:"Title";s:10:"Шагов";}s:8:"Children";a:0:{}}'
)
FILE = (
    f'a:6:{{s:7:"VERSION";i:2;s:8:"TEMPLATE";a:1:{{i:0;{ROOT}}}s:10:"PARAMETERS";a:0:{{}}s:9:"VARIABLES";a:1:'
    '{s:3:"Sum";a:2:{s:7:"Default";d:0.5;s:8:"Required";b:1;}}s:9:"CONSTANTS";a:0:{}s:15:"DOCUMENT_FIELDS";a:0:{}}'
)


@pytest.fixture
def box() -> Iterator[Running]:
    with serve(Portal(role="box", clock=ManualClock(), application=LocalApplication())) as running:
        yield running


def packed(text: str = FILE) -> list[str]:
    return ["template.bpt", b64encode(zlib.compress(text.encode())).decode()]


def wish(**fields: Any) -> dict[str, Any]:
    document = ["crm", "CCrmDocumentDeal", "DEAL"]
    return {"DOCUMENT_TYPE": document, "NAME": "Approve", "TEMPLATE_DATA": packed()} | fields


def ask(box: Running, method: str, params: Any = None, token: str | None = None) -> Reply:
    keys = box.portal.application
    assert keys is not None
    body = {"auth": keys.access_token if token is None else token} | (params or {})
    return send(f"{box.url}/rest/{method}", json.dumps(body).encode(), {"Content-Type": "application/json"})


def renew(box: Running, **other: str) -> Reply:
    keys = box.portal.application
    assert keys is not None
    query = {"grant_type": "refresh_token", "client_id": keys.client_id, "client_secret": keys.client_secret}
    return send(f"{box.token_url}?{urlencode(query | {'refresh_token': keys.refresh_token} | other)}")


def test_a_template_is_written_changed_and_deleted_by_its_application(box: Running) -> None:
    number = ask(box, ADD, wish(AUTO_EXECUTE="0", DESCRIPTION="d")).json["result"]
    select = ["NAME", "DOCUMENT_TYPE", "TEMPLATE", "VARIABLES", "AUTO_EXECUTE", "USER_ID", "SYSTEM_CODE"]
    (row,) = result(box, LIST, {"SELECT": select})
    assert row["TEMPLATE"][0]["Properties"] == {"Title": "Шагов"}
    assert row["VARIABLES"] == {"Sum": {"Default": 0.5, "Required": True}}
    assert (row["DOCUMENT_TYPE"][-1], row["USER_ID"], row["SYSTEM_CODE"]) == ("DEAL", "1", "rest_app_7")
    assert ask(box, UPDATE, {"ID": number, "FIELDS": {"NAME": "Other", "AUTO_EXECUTE": "3"}}).json["result"] == number
    (row,) = result(box, LIST, {"SELECT": select})
    assert (row["NAME"], row["AUTO_EXECUTE"], row["VARIABLES"]["Sum"]["Default"]) == ("Other", "3", 0.5)
    assert ask(box, DELETE, {"ID": number}).json["result"] is None
    assert result(box, LIST) == []
    assert ask(box, DELETE, {"ID": number}).json["error"] == "ERROR_TEMPLATE_NOT_FOUND"


@pytest.mark.parametrize("method", [ADD, UPDATE, DELETE])
def test_a_webhook_is_refused_whoever_it_belongs_to(box: Running, method: str) -> None:
    reply = call(box, method, wish())
    assert (reply.status, reply.json["error_description"]) == (403, "Application context required")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"NAME": ""}, "Empty template name!"),
        ({"DOCUMENT_TYPE": ["crm", "DEAL"]}, "Incorrect field DOCUMENT_TYPE!"),
        ({"AUTO_EXECUTE": "8"}, "Incorrect field AUTO_EXECUTE!"),
        ({"AUTO_EXECUTE": 1}, "Incorrect field AUTO_EXECUTE!"),
        ({"TEMPLATE_DATA": "x"}, "Incorrect field TEMPLATE_DATA!"),
        ({"TEMPLATE_DATA": packed("a:0:{}")}, "there is no template in it"),
        ({"TEMPLATE_DATA": packed(FILE.replace("s:10:", "s:5:"))}, "a text is longer or shorter than it says"),
        ({"TEMPLATE_DATA": packed(FILE.replace('26:"SequentialWorkflowActivity', '6:"rest_1'))}, "rest_1"),
    ],
)
def test_what_is_wrong_is_refused(box: Running, fields: dict[str, Any], message: str) -> None:
    reply = ask(box, ADD, wish(**fields))
    assert reply.status == 400
    assert message in reply.json["error_description"]


def test_activities_of_applications_that_are_there_are_taken() -> None:
    strange = packed(FILE.replace('26:"SequentialWorkflowActivity', '6:"rest_1'))
    portal = Portal(role="box", application=LocalApplication(), activities=["rest_1"])
    with serve(portal) as running:
        assert ask(running, ADD, wish(TEMPLATE_DATA=strange)).status == 200


def test_what_others_made_is_not_to_be_changed(box: Running) -> None:
    (other,) = control(box, "mutate", {"stream": "workflow_templates", "op": "add"})["ids"]
    for method, params in ((UPDATE, {"ID": other, "FIELDS": {"NAME": "Mine"}}), (DELETE, {"ID": other})):
        assert ask(box, method, params).json["error"] == "ERROR_TEMPLATE_NOT_OWNER"


def test_only_administrators_and_only_with_the_scope() -> None:
    with serve(Portal(role="box", admins=(), application=LocalApplication())) as running:
        assert ask(running, ADD, wish()).json["error_description"] == "Access denied!"
    with serve(Portal(role="box", application=LocalApplication(scopes=["crm"]))) as running:
        assert ask(running, ADD, wish()).json["error"] == "insufficient_scope"


def test_a_token_lives_an_hour_and_is_renewed_by_one_that_is_good_once(box: Running) -> None:
    keys = box.portal.application
    assert keys is not None
    access, refresh = keys.access_token, keys.refresh_token
    control(box, "clock", {"advance": 3601})
    reply = ask(box, LIST)
    assert (reply.status, reply.json["error"]) == (401, "expired_token")
    data = renew(box).json
    assert data["expires_in"] == 3600
    assert {data["access_token"], data["refresh_token"]}.isdisjoint({access, refresh})
    assert ask(box, LIST, token=data["access_token"]).json["result"] == []
    assert ask(box, LIST, token=access).json["error"] == "expired_token"
    assert renew(box, refresh_token=refresh).json["error"] == "invalid_grant"


def test_the_control_room_lets_a_token_expire_and_revokes_all(box: Running) -> None:
    assert control(box, "application", {"expire": True})["refreshes"] == 0
    assert ask(box, LIST).json["error"] == "expired_token"
    refresh = control(box, "application")["refresh_token"]
    control(box, "application", {"revoke": True})
    assert renew(box, refresh_token=refresh).json["error"] == "invalid_grant"


def test_strangers_get_no_token(box: Running) -> None:
    assert ask(box, LIST, token="nonsense").json["error"] == "invalid_token"
    assert ask(box, LIST, token="").json["error"] == "NO_AUTH_FOUND"
    assert renew(box, client_secret="wrong").json["error"] == "invalid_client"
    assert renew(box, grant_type="password").json["error"] == "invalid_request"


def test_a_portal_without_an_application_knows_no_such_calls() -> None:
    with serve(Portal(role="box")) as running:
        reply = send(f"{running.url}/rest/profile?auth=x")
        assert (reply.status, reply.json["error"]) == (401, "NO_AUTH_FOUND")
        assert control(running, "application")["error"] == "ERROR_ARGUMENT"
