"""One portal over HTTP, with everything that can come back."""

from __future__ import annotations

import gzip
import json
import traceback
from typing import Any

import pytest
from tests.bitrix.support import SECRET, FakeClock, Kit, Response, Scripted

from b24migrate.bitrix.envelope import Envelope
from b24migrate.model.errors import GateUnmet, Limited, MigrationError, Permanent, Transient
from b24migrate.model.events import Waited
from b24sim.company.company import Company
from b24sim.faults import Faults
from b24sim.portal import Portal as Simulated
from b24sim.serve import serve

ALIVE = Response(b'{"result":"2026-08-05T09:02:13+03:00","time":{}}')


def shown(error: BaseException) -> str:
    """Everything a careless logger could print."""
    parts = ["".join(traceback.format_exception(error)), repr(error), str(error), repr(vars(error))]
    current: BaseException | None = error
    while current is not None:
        parts.append(repr(current))
        current = current.__context__
    return "".join(parts)


def failure(*answers: Response, **options: Any) -> MigrationError:
    with Scripted(*answers) as server:
        kit = Kit([server.webhook], **options)
        with pytest.raises(MigrationError) as caught:
            kit.portal.call("user.get", {"ID": 1})
    assert SECRET not in shown(caught.value)
    return caught.value


def test_an_answer_is_opened_and_the_request_is_as_the_portal_wants_it() -> None:
    with Scripted(Response(b'{"result":[{"ID":"7"}],"total":1,"time":{}}')) as server:
        answer = Kit([server.webhook]).portal.call("user.get", {"z": 1, "a": {"y": [2], "b": None}})
        heard = server.heard[0]
    assert isinstance(answer, Envelope)
    assert bytes(answer.result) == b'[{"ID":"7"}]'  # type: ignore[arg-type]
    assert (heard.method, heard.path) == ("POST", f"/rest/1/{SECRET}/user.get")
    assert heard.body == b'{"z":1,"a":{"y":[2],"b":null}}'
    assert heard.headers["User-Agent"].startswith("b24migrate/")


def test_a_compressed_answer_is_unpacked() -> None:
    packed = gzip.compress(b'{"result":"long"}')
    with Scripted(Response(packed, headers=(("Content-Encoding", "gzip"),))) as server:
        answer = Kit([server.webhook]).portal.call("user.get", {})
    assert bytes(answer.result) == b'"long"'  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response(b"<html>502", 502, "text/html"), "HTTP_502"),
        (Response(b"<html>login", 200, "text/html"), "HTML_ANSWER"),
        (Response(b'{"result":[{"ID"'), "TRUNCATED_ANSWER"),
        (Response(b'{"result":[', announce=1000), "CONNECTION_LOST"),
        (Response(hang_up=True), "CONNECTION_LOST"),
        (Response(b'{"error":"INTERNAL_SERVER_ERROR"}', 500), "INTERNAL_SERVER_ERROR"),
    ],
)
@pytest.mark.parametrize("alive", [True, False])
def test_a_call_that_fails_is_the_calls_own_fault_only_if_the_portal_is_alive(
    response: Response, code: str, alive: bool
) -> None:
    error = failure(response, ALIVE if alive else response)
    assert isinstance(error, Transient)
    assert error.code == code
    assert error.own is alive


def test_a_portal_that_is_not_there_is_transient_and_its_address_stays_hidden() -> None:
    with Scripted() as server:
        url = server.webhook
    with pytest.raises(Transient) as caught:
        Kit([url]).portal.call("user.get", {})
    assert caught.value.code == "UNREACHABLE"
    assert not caught.value.own
    assert SECRET not in shown(caught.value)


def test_no_answer_in_time_is_transient() -> None:
    faults = Faults([{"method": "user.get", "kind": "timeout", "always": True}])
    simulated = Simulated(Company(), faults=faults)
    with serve(simulated) as running:
        kit = Kit([running.webhook()], read_s=0.3)
        with pytest.raises(Transient) as caught:
            kit.portal.call("user.get", {})
    assert caught.value.code == "TIMEOUT"
    assert caught.value.own


def test_a_wrong_secret_is_a_gate_that_names_the_webhook() -> None:
    error = failure(Response(b'{"error":"INVALID_CREDENTIALS","error_description":"Invalid"}', 401))
    assert isinstance(error, GateUnmet)
    assert "the source webhook of user 1" in str(error)


def test_a_limit_says_how_long_and_the_next_call_waits() -> None:
    with Scripted(Response(b'{"error":"QUERY_LIMIT_EXCEEDED"}', 503), Response()) as server:
        kit = Kit([server.webhook], per_second=2)
        with pytest.raises(Limited) as caught:
            kit.portal.call("user.get", {})
        assert 1 <= caught.value.wait_s <= 1.25
        kit.portal.call("user.get", {})
        assert sum(kit.clock.slept) >= 1


def test_a_spent_method_rests_and_another_does_not() -> None:
    with Scripted(Response(b'{"error":"OPERATION_TIME_LIMIT","retry_after":90}', 429), Response()) as server:
        kit = Kit([server.webhook])
        with pytest.raises(Limited) as caught:
            kit.portal.call("user.get", {})
        assert caught.value.wait_s == 90
        with pytest.raises(Limited):
            kit.portal.call("user.get", {})
        kit.portal.call("department.get", {})
        assert len(server.heard) == 2


def test_a_method_rests_as_soon_as_an_answer_says_that_its_time_is_used_up() -> None:
    clock = FakeClock()
    reset_at = clock.now().timestamp() + 200
    used_up = Response(b'{"result":true,"time":{"operating":480.5,"operating_reset_at":%d}}' % reset_at)
    with Scripted(used_up, Response()) as server:
        kit = Kit([server.webhook], clock=clock, operating_s=480)
        kit.portal.call("user.get", {})
        with pytest.raises(Limited) as caught:
            kit.portal.call("user.get", {})
        assert caught.value.wait_s == pytest.approx(200, abs=1)
        kit.portal.call("department.get", {})


def test_probes_count_as_requests() -> None:
    with Scripted() as server:
        kit = Kit([server.webhook], per_second=1, bucket=2)
        for _ in range(2):
            assert kit.portal.alive()
        kit.portal.call("user.get", {})
        assert sum(kit.clock.slept) >= 1
        assert [event.seconds for event in kit.events if isinstance(event, Waited)] == kit.clock.slept


def test_a_renamed_portal_is_followed_with_the_whole_request_and_remembered() -> None:
    with serve(Simulated(Company()), moved=True) as running:
        kit = Kit([running.old_webhook()], per_second=1, bucket=2)
        first = kit.portal.call("user.get", {"FILTER": {"ID": 1}})
        assert json.loads(bytes(first.result))[0]["ID"] == "1"  # type: ignore[arg-type]
        requests = running.portal.stats.http_requests
        assert kit.clock.slept == []
        kit.portal.call("server.time", {})
        assert sum(kit.clock.slept) >= 2  # both requests counted, the one that was sent on as well
        assert running.portal.stats.http_requests == requests + 1
        assert kit.portal.webhooks[0].origin == running.url


@pytest.mark.parametrize("location", ["/auth/?login=yes", "https://elsewhere.example/auth/", ""])
def test_a_redirect_to_a_page_is_not_followed(location: str) -> None:
    error = failure(Response(b"", 302, headers=(("Location", location),)))
    assert isinstance(error, Transient)
    assert error.code == "HTTP_302"


def test_a_redirect_to_an_address_without_https_is_refused() -> None:
    location = f"http://elsewhere.example/rest/1/{SECRET}/user.get"
    assert isinstance(failure(Response(b"", 302, headers=(("Location", location),))), GateUnmet)


def test_a_redirect_without_https_to_a_host_that_was_named_says_what_is_wrong() -> None:
    location = f"http://moved.example/rest/1/{SECRET}/user.get"
    error = failure(Response(b"", 302, headers=(("Location", location),)), redirect_hosts=["moved.example"])
    assert isinstance(error, GateUnmet)
    assert error.code == "HTTP_302"
    assert "without https" in str(error)


def test_a_circle_of_redirects_ends() -> None:
    with Scripted() as server:
        server.answers = [Response(b"", 302, headers=(("Location", server.webhook + "user.get"),))]
        with pytest.raises(Transient):
            Kit([server.webhook]).portal.call("user.get", {})
        assert len(server.heard) < 20


def test_a_secret_in_an_answer_never_leaves_the_client() -> None:
    body = b'{"result":{"DOWNLOAD_URL":"https:\\/\\/p\\/rest\\/1\\/%s\\/download"}}' % SECRET.encode()
    with Scripted(Response(body)) as server:
        kit = Kit([server.webhook])
        result = bytes(kit.portal.call("disk.file.get", {"id": 1}).result)  # type: ignore[arg-type]
    assert SECRET.encode() not in result
    assert b"{{webhook:" in result


def test_a_secret_in_an_error_text_is_redacted() -> None:
    body = b'{"error":"ERROR_CORE","error_description":"bad link /rest/1/%s/"}' % SECRET.encode()
    assert isinstance(failure(Response(body, 400)), Permanent)


def test_when_the_portal_is_down_nothing_is_sent_until_the_probe_is_due() -> None:
    with Scripted(Response(b"<html>", 502, "text/html")) as server:
        kit = Kit([server.webhook])
        for _ in range(3):
            with pytest.raises(Transient):
                kit.portal.call("user.get", {})
        heard = len(server.heard)
        with pytest.raises(Limited):
            kit.portal.call("user.get", {})
        assert len(server.heard) == heard
        server.answers = [Response()]
        kit.clock.sleep(5)
        kit.portal.call("user.get", {})
