"""What changed on both sides, over the API: listed page by page, decided by record or by a table, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.dashboard import NOBODY, Desk, configured, dashboard

from b24migrate.engine.phases.payload import renew
from b24migrate.insight import register_page
from b24migrate.model.records import Settled, Staged, Status
from b24migrate.ports import CONFLICTS, RegisterRow
from b24migrate.web import views

AT = "2026-11-18T00:00:00Z"
ODD = '=cmd|"/c"\u2028\nsecond, line'


def conflict(number: int, decision: str = "", *, stream: str = "groups", value: str = "Ours") -> RegisterRow:
    fields = [["NAME", "Sent", value, "Cloud", decision, AT]]
    row = {"Stream": stream, "SourceId": str(number), "Fields": fields, "Decision": decision, "By": "", "AtUtc": AT}
    return RegisterRow(f"{stream}:{number}", {**row, "Revision": 1, "Open": int(not decision), "Waiting": 0})


@pytest.fixture
def divided(tmp_path: Path) -> Iterator[Desk]:
    """Six groups in conflict: 1 to 4 undecided, 5 left on the target, 6 written from the source; and a user."""
    with dashboard(configured(tmp_path, *NOBODY)) as desk:
        with desk.context.app() as app:
            context = app.context
            for name, count in (("groups", 6), ("users", 1)):
                stream = context.streams[name]
                staged = [Staged(str(n), b'{"NAME": "Group %d"}' % n) for n in range(1, count + 1)]
                context.store.stage(stream.table, staged, run="r", pass_no=1, renew=renew(stream))
                settled = [Settled(one.row_key, Status.IMPORT_OK) for one in staged]
                context.store.settle(name, stream.table, settled, now=context.clock.now())
            rows = [conflict(n) for n in range(1, 4)] + [conflict(4, value=ODD)]
            rows += [conflict(5, "target"), conflict(6, "source"), conflict(1, stream="users")]
            context.store.write(CONFLICTS, rows)
        yield desk


def statuses(desk: Desk) -> dict[str, str]:
    with desk.context.app() as app:
        found = app.context.store.get(app.context.streams["groups"].table, [str(n) for n in range(1, 7)])
    return {key: one.status.name for key, one in found.items()}


def decide(desk: Desk, decision: str, *ids: str) -> Any:
    return desk.post(
        "conflicts", {"decision": decision, "records": [{"stream": "groups", "source_id": i} for i in ids]}
    )


def test_conflicts_come_a_page_at_a_time_with_their_names_and_what_may_be_decided(divided: Desk) -> None:
    answer = divided.look("conflicts", stream="groups", limit=4)
    assert (answer["total"], answer["undecided"], answer["policy"]) == (6, 4, "source")
    assert [one["title"] for one in answer["conflicts"]] == [f"Group {n}" for n in range(1, 5)]
    assert answer["conflicts"][0]["fields"] == [
        {"field": "NAME", "sent": "Sent", "target": "Ours", "source": "Cloud", "decision": "", "at": AT}
    ]
    rest = divided.look("conflicts", stream="groups", limit=4, after=answer["next"])
    assert [(one["decision"], one["decidable"]) for one in rest["conflicts"]] == [("target", True), ("source", False)]
    assert rest["next"] is None
    overview = divided.look("overview")
    assert overview["undecided"] == 5
    assert divided.look("session")["undecided"] == 5


def test_undecided_ones_are_found_behind_many_that_are_decided(divided: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer reads so many rows and no more; the next goes on from there."""
    monkeypatch.setattr(register_page, "AT_ONCE", 2)
    monkeypatch.setattr(register_page, "MOST_READ", 2)
    with divided.context.app() as app:
        app.context.store.write(CONFLICTS, [conflict(n, "source") for n in range(1, 4)])
    first = divided.look("conflicts", undecided=True)
    assert (first["conflicts"], first["next"]) == ([], "groups:2")
    second = divided.look("conflicts", undecided=True, after=first["next"])
    assert [one["source_id"] for one in second["conflicts"]] == ["4"]


def test_a_decision_counts_until_it_is_sent_and_the_count_follows_at_once(divided: Desk) -> None:
    reply = decide(divided, "source", "1", "2", "6", "77")
    assert reply.status == 200
    assert (reply.json["decided"], reply.json["undecided"]) == (2, 3)
    assert [one["source_id"] for one in reply.json["not_decided"]] == ["6", "77"]
    assert divided.look("overview")["undecided"] == 3
    assert statuses(divided)["1"] == statuses(divided)["2"] == "NEW"
    shown = divided.look("conflicts", stream="groups")["conflicts"][0]
    assert (shown["waiting"], shown["decidable"], shown["by"]) == (True, True, "person")
    assert decide(divided, "target", "1").json["decided"] == 1  # changed his mind
    assert divided.look("conflicts", stream="groups")["conflicts"][0]["waiting"] is False


def test_the_table_is_decided_in_a_spreadsheet_and_read_again(divided: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in a value; and it comes in parts, so that its length does not matter."""
    monkeypatch.setattr(views, "LINES_AT_ONCE", 2)
    reply = divided.get("/api/v1/conflicts/csv", stream="groups", undecided=True)
    assert reply.headers["content-type"].startswith("text/csv")
    assert "attachment" in reply.headers["content-disposition"]
    assert "content-length" not in reply.headers
    assert reply.headers["x-content-type-options"] == "nosniff"
    table = reply.text
    assert table.startswith("\ufeffstream,source_id,field,sent,target,source,decision,at_utc\r\n")
    assert "'=cmd" in table
    decided = table.replace(f",Cloud,,{AT}", f",Cloud,source,{AT}")
    assert divided.post("conflicts/csv", {"csv": decided}).json["decided"] == 4
    assert divided.look("conflicts")["undecided"] == 1
    assert [name for name, status in statuses(divided).items() if status == "NEW"] == ["1", "2", "3", "4"]


def test_what_makes_no_sense_is_refused_and_decides_nothing(divided: Desk) -> None:
    for wish, status in (
        ({"decision": "both", "records": [{"stream": "groups", "source_id": "1"}]}, 422),
        ({"decision": "source", "records": []}, 422),
        ({"decision": "source", "records": [{"stream": "nowhere", "source_id": "1"}]}, 422),
        ({"decision": "source", "records": [{"stream": "groups", "source_id": "1"}] * 501}, 422),
        ({"decision": "source", "records": [{"stream": "groups", "source_id": "1"}], "more": 1}, 422),
    ):
        assert divided.post("conflicts", wish).status == status
    assert divided.post("conflicts/csv", {"csv": "a,b\n1,2\n"}).status == 422
    assert divided.post("conflicts/csv", {"csv": "stream,source_id,decision\nnowhere,1,source\n"}).status == 400
    for table in (
        "stream,source_id,decision\ngroups,1,perhaps\n",
        "stream,source_id,decision\ngroups,1,source\ngroups,1,target\n",
        "decision,stream,source_id\nsource\n",
        "decision,stream,source_id\nsource,groups\n",
        "decision;stream;source_id\nsource;;1\n",
    ):
        assert divided.post("conflicts/csv", {"csv": table}).status == 422
    good = b'{"decision": "source", "records": [{"stream": "groups", "source_id": "1"}]}'
    for path in ("conflicts", "conflicts/csv"):
        unmarked = divided.send("POST", f"/api/v1/{path}", {"Content-Type": "application/json"}, good)
        foreign = divided.post(path, {}, {"Origin": "https://elsewhere.example"})
        assert (unmarked.status, foreign.status) == (403, 403)
        assert divided.post(path, {}, {"Authorization": "Bearer wrong"}).status == 401
    assert divided.get("/api/v1/conflicts/csv", {"Authorization": "Bearer wrong"}).status == 401
    assert divided.get("/api/v1/conflicts", limit=501).status == 422
    assert divided.look("conflicts")["undecided"] == 5
