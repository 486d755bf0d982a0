"""Misfortune on demand."""

import http.client
import urllib.error
from typing import Any

import pytest
from tests.b24sim.client import batch, call, control, result, send

from b24sim import Company, Faults, ManualClock, Plan, Portal, Running, serve
from b24sim.faults import FaultScriptError


def script(running: Running, *rules: dict[str, Any]) -> None:
    assert control(running, "faults", list(rules)) == {"rules": len(rules)}


def statuses(running: Running, times: int, method: str = "server.time") -> list[int]:
    return [call(running, method).status for _ in range(times)]


def test_every_at_count_and_always(small: Running) -> None:
    script(small, {"method": "server.*", "kind": "500", "every": 3})
    assert statuses(small, 6) == [200, 200, 500, 200, 200, 500]
    script(small, {"method": "server.time", "kind": "500", "at": [1, 4]})
    assert statuses(small, 5) == [500, 200, 200, 500, 200]
    script(small, {"method": "server.time", "kind": "500", "always": True, "count": 2})
    assert statuses(small, 4) == [500, 500, 200, 200]
    assert call(small, "profile").status == 200


def test_chance_is_seeded() -> None:
    def struck(seed: int) -> list[bool]:
        faults = Faults([{"method": "*", "kind": "500", "probability": 0.3}], seed)
        return [bool(faults.strike("user.get")) for _ in range(50)]

    assert struck(1) == struck(1) != struck(2)
    assert 5 < sum(struck(1)) < 25


def test_kinds_of_answers(small: Running) -> None:
    script(
        small,
        {"method": "server.time", "kind": "502html", "at": [1]},
        {"method": "server.time", "kind": "html200", "at": [2]},
        {"method": "server.time", "kind": "query_limit", "at": [3]},
        {"method": "server.time", "kind": "operating_limit", "at": [4]},
        {"method": "server.time", "kind": "error", "code": "OVERLOAD_LIMIT", "status": 503, "at": [5]},
    )
    gateway, login = call(small, "server.time"), call(small, "server.time")
    assert (gateway.status, gateway.headers["content-type"]) == (502, "text/html; charset=UTF-8")
    assert (login.status, login.headers["content-type"]) == (200, "text/html; charset=UTF-8")
    codes = [call(small, "server.time").json["error"] for _ in range(3)]
    assert codes == ["QUERY_LIMIT_EXCEEDED", "OPERATION_TIME_LIMIT", "OVERLOAD_LIMIT"]
    assert control(small, "stats")["faults"] == dict.fromkeys(
        ["502html", "html200", "query_limit", "operating_limit", "error"], 1
    )


def test_a_plan_that_lapses_stays_so_until_it_is_paid(small: Running) -> None:
    script(small, {"kind": "lapsed", "after": 2})
    assert statuses(small, 4) == [200, 200, 401, 401]
    assert call(small, "batch", {"cmd": {"a": "server.time"}}).json["error"] == "ACCESS_DENIED"
    script(small)
    assert statuses(small, 1) == [200]


def test_one_method_may_be_refused_inside_batches(small: Running) -> None:
    script(small, {"method": "user.get", "kind": "error", "code": "ACCESS_DENIED", "status": 403})
    answer = batch(small, {"a": "server.time", "b": "user.get"})
    assert set(answer["result"]) == {"a"}
    assert answer["result_error"]["b"]["error"] == "ACCESS_DENIED"


def test_a_firewall_answers_everything_with_its_page(small: Running) -> None:
    script(small, {"method": "*", "kind": "403html"})
    page = call(small, "server.time")
    assert (page.status, page.headers["content-type"]) == (403, "text/html; charset=UTF-8")


def test_a_rule_may_be_for_the_webhook_of_one_user(small: Running) -> None:
    script(small, {"kind": "lapsed", "user": 2})
    assert statuses(small, 1) == [200]
    script(small, {"kind": "lapsed", "user": 1})
    assert statuses(small, 1) == [401]


def test_a_limit_may_say_when_to_come_back(small: Running) -> None:
    limits = [{"kind": kind, "at": [at], "retry_after": 7} for at, kind in ((1, "query_limit"), (2, "operating_limit"))]
    script(small, *limits, {"kind": "query_limit", "at": [3]})
    assert [call(small, "server.time").json.get("retry_after") for _ in range(3)] == [7, 7, None]


def test_a_reset_connection(small: Running) -> None:
    script(small, {"method": "server.time", "kind": "reset", "at": [1]})
    with pytest.raises((ConnectionError, urllib.error.URLError, http.client.RemoteDisconnected)):
        call(small, "server.time")
    assert call(small, "server.time").status == 200


def test_a_truncated_answer(small: Running) -> None:
    script(small, {"method": "user.get", "kind": "truncated", "at": [1]})
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        call(small, "user.get")
    assert call(small, "user.get").status == 200


def test_an_answer_that_never_comes(small: Running) -> None:
    script(small, {"method": "server.time", "kind": "timeout", "at": [1]})
    connection = http.client.HTTPConnection(small.url.removeprefix("http://"), timeout=0.05)
    connection.request("GET", small.webhook().removeprefix(small.url) + "server.time")
    with pytest.raises(TimeoutError):
        connection.getresponse()
    connection.close()


def test_a_slow_answer_takes_the_portals_time(small: Running) -> None:
    script(small, {"method": "server.time", "kind": "slow", "seconds": 40})
    before = small.portal.clock.now()
    assert call(small, "server.time").status == 200
    assert small.portal.clock.now() == before + 40


def test_rows_appear_while_paging(small: Running) -> None:
    script(small, {"method": "user.get", "kind": "insert", "at": [2], "rows": 3})
    first = call(small, "user.get", {"ADMIN_MODE": 1}).json["total"]
    assert call(small, "user.get", {"ADMIN_MODE": 1}).json["total"] == first + 3


def test_commands_of_a_batch_can_fail_alone(small: Running) -> None:
    script(small, {"method": "user.get", "kind": "500", "at": [2]})
    answer = batch(small, dict.fromkeys("abc", "user.get?ID=1"))
    assert set(answer["result"]) == {"a", "c"}
    assert answer["result_error"]["b"]["error"] == "INTERNAL_SERVER_ERROR"


def test_a_lost_answer_leaves_its_effect(box: Running) -> None:
    script(box, {"method": "import.users.batch", "kind": "lost", "at": [1]})
    item = {
        "key": "source:users:7",
        "digest": "a" * 64,
        "fields": {"NAME": "A", "EMAIL": "a@company.example", "ACTIVE": True},
    }
    body = {"stream": "users", "run": "r", "dry_run": False, "items": [item]}
    with pytest.raises((ConnectionError, urllib.error.URLError, http.client.RemoteDisconnected)):
        call(box, "import.users.batch", body)
    assert result(box, "import.users.batch", body)["items"][0]["status"] == "unchanged"


def test_import_items_can_fail_by_key(box: Running) -> None:
    script(
        box,
        {
            "method": "import.users.batch",
            "item": {"key": "source:users:8", "code": "LOCKED", "retry": True},
            "count": 1,
        },
    )
    items = [
        {
            "key": f"source:users:{n}",
            "digest": f"{n:064x}",
            "fields": {"NAME": "A", "EMAIL": f"a{n}@company.example", "ACTIVE": True},
        }
        for n in (7, 8, 9)
    ]
    body = {"stream": "users", "run": "r", "dry_run": False, "items": items}
    first = {item["key"]: item for item in result(box, "import.users.batch", body)["items"]}
    assert [first[item["key"]]["status"] for item in items] == ["created", "failed", "created"]
    assert first["source:users:8"]["error"]["code"] == "LOCKED"
    assert first["source:users:8"]["error"]["retry"] is True
    again = {item["key"]: item["status"] for item in result(box, "import.users.batch", body)["items"]}
    assert again == {"source:users:7": "unchanged", "source:users:8": "created", "source:users:9": "unchanged"}


def test_downloads_fail_too() -> None:
    portal = Portal(
        Company(Plan(users=30)),
        clock=ManualClock(),
        faults=Faults([{"method": "download", "kind": "502html", "at": [1]}]),
    )
    with serve(portal) as running:
        row = next(
            row for number in portal.company.users if "PERSONAL_PHOTO" in (row := portal.company.users.row(number))
        )
        assert [send(row["PERSONAL_PHOTO"]).status for _ in range(2)] == [502, 200]
        assert control(running, "stats")["downloads"] == 1


def test_a_script_with_a_typing_error_is_refused(small: Running) -> None:
    with pytest.raises(FaultScriptError, match="evry"):
        Faults([{"method": "*", "kind": "500", "evry": 3}])
    with pytest.raises(FaultScriptError, match="kind 'nope'"):
        Faults([{"method": "*", "kind": "nope"}])
    assert "error" in control(small, "faults", [{"kind": "nope"}])
