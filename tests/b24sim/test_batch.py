"""Commands in one request: limits, references, errors and PHP's idea of arrays."""

from tests.b24sim.client import batch, call

from b24sim import Company, ManualClock, Operating, Plan, Portal, Running, serve

FAST = "sort=ID&order=ASC&start=-1&ADMIN_MODE=1"


def test_commands_are_chained_by_references(cloud: Running) -> None:
    commands = {"c0": f"user.get?FILTER%5B%3EID%5D=0&{FAST}"}
    for place in range(1, 4):
        commands[f"c{place}"] = f"user.get?FILTER%5B%3EID%5D=%24result%5Bc{place - 1}%5D%5B49%5D%5BID%5D&{FAST}"
    answer = batch(cloud, commands)
    ids = [int(row["ID"]) for page in answer["result"].values() for row in page]
    assert ids == cloud.portal.company.users.ids[:200]
    assert answer["result_error"] == []
    assert answer["result_next"] == []
    assert answer["result_total"] == dict.fromkeys(commands, 0)
    assert set(answer["result_time"]) == set(commands)


def test_a_path_that_goes_nowhere_gives_wrong_data_and_no_error(cloud: Running) -> None:
    commands = {"a": f"user.get?FILTER[<ID]=4&{FAST}", "b": f"user.get?FILTER[>ID]=$result[a][49][ID]&{FAST}"}
    answer = batch(cloud, commands)
    assert answer["result_error"] == []
    # The list of rows took the place of the id, and PHP takes a filled array for 1.
    assert answer["result"]["b"][0]["ID"] == "2"


def test_references_reach_into_messages_totals_and_nested_lists(cloud: Running) -> None:
    commands = {
        "m0": "im.dialog.messages.get?DIALOG_ID=chat5&LAST_ID=0&LIMIT=2",
        "m1": "im.dialog.messages.get?DIALOG_ID=chat5&LAST_ID=$result[m0][messages][1][id]&LIMIT=1",
        "u": "user.get?ID=7",
        "d": "department.get?ID=$result[u][0][UF_DEPARTMENT][0]",
        "t": "user.get?ID=$total[u]",
    }
    answer = batch(cloud, commands)["result"]
    ids = [row["id"] for row in answer["m0"]["messages"] + answer["m1"]["messages"]]
    assert ids == sorted(set(ids), reverse=True)
    assert int(answer["d"][0]["ID"]) == answer["u"][0]["UF_DEPARTMENT"][0]
    assert answer["t"][0]["ID"] == "1"


def test_embedded_references_take_scalars_only(cloud: Running) -> None:
    commands = {
        "u": "user.get?ID=7",
        "a": "user.get?EMAIL=$result[u][0][EMAIL]",
        "b": "im.dialog.get?DIALOG_ID=chat$result[u][0][ID]",
    }
    answer = batch(cloud, commands)
    assert answer["result"]["a"][0]["ID"] == "7"
    assert "b" in answer["result"] or answer["result_error"]["b"]["error"] == "ACCESS_ERROR"


def test_numeric_keys_turn_maps_into_lists_and_back(cloud: Running) -> None:
    fine = batch(cloud, ["user.get?ID=1&select[]=ID", "user.get?ID=2&select[]=ID"])
    assert fine["result"] == [[{"ID": "1"}], [{"ID": "2"}]]
    flipped = batch(cloud, {"0": "no.such", "1": "user.get?ID=2&select[]=ID"})
    assert flipped["result"] == {"1": [{"ID": "2"}]}
    assert flipped["result_error"][0]["error"] == "ERROR_METHOD_NOT_FOUND"


def test_no_more_than_fifty_commands(cloud: Running) -> None:
    answer = batch(cloud, {f"c{place}": "server.time" for place in range(52)})
    assert len(answer["result"]) == 50
    assert {key: error["error"] for key, error in answer["result_error"].items()} == {
        "c50": "ERROR_BATCH_LENGTH_EXCEEDED",
        "c51": "ERROR_BATCH_LENGTH_EXCEEDED",
    }


def test_halt_stops_at_the_first_failure(cloud: Running) -> None:
    commands = {"a": "server.time", "b": "no.such", "c": "server.time"}
    assert set(batch(cloud, commands)["result"]) == {"a", "c"}
    assert set(batch(cloud, commands, halt=1)["result"]) == {"a"}
    assert set(batch(cloud, commands, halt="0")["result"]) == {"a", "c"}


def test_a_batch_in_a_batch_is_forbidden_and_objects_are_skipped(cloud: Running) -> None:
    answer = batch(cloud, {"a": "batch?cmd[x]=server.time", "b": {"method": "server.time"}, "c": "im.chat.get"})
    assert answer["result_error"]["a"]["error"] == "ERROR_BATCH_METHOD_NOT_ALLOWED"
    assert answer["result"] == {"c": None}


def test_commands_fail_alone_with_status_200(cloud: Running) -> None:
    reply = call(cloud, "batch", {"cmd": {"a": "im.dialog.messages.get", "b": "sonet_group.user.get?ID=0"}})
    assert reply.status == 200
    errors = reply.json["result"]["result_error"]
    assert errors["a"]["error"] == "DIALOG_ID_EMPTY"
    assert errors["b"]["error"] == ""


def test_batch_pays_for_its_commands() -> None:
    portal = Portal(Company(Plan()), clock=ManualClock(), operating=Operating(10), webhooks=(1, 2))
    portal.costs.seconds["user.get"], portal.costs.default_s = 6, 1
    with serve(portal) as running:
        reply = call(running, "batch", {"cmd": {**dict.fromkeys("ab", "user.get?ID=1"), "c": "server.time"}})
        # It is looked at before the request: what crosses the limit is answered to the end.
        assert set(reply.json["result"]["result"]) == {"a", "b", "c"}
        data = reply.json["result"]["result_time"]
        assert [data[key]["operating"] for key in "abc"] == [6, 12, 13]
        assert (reply.json["time"]["operating"], reply.json["time"]["duration"]) == (13, 13)
        refused = call(running, "batch", {"cmd": {"c": "server.time"}})
        assert (refused.status, refused.json["error"]) == (429, "OPERATION_TIME_LIMIT")
        assert call(running, "user.get").json["time"]["operating"] == 6  # a call of its own pays for itself
        assert call(running, "batch", {"cmd": {"c": "server.time"}}, user=2).status == 200


def test_commands_are_billed_to_their_own_methods_on_older_portals() -> None:
    portal = Portal(Company(Plan()), clock=ManualClock(), operating=Operating(10, "inner"))
    portal.costs.seconds["user.get"] = 6
    with serve(portal) as running:
        answer = batch(running, dict.fromkeys("abc", "user.get?ID=1") | {"d": "server.time"})
        # The call that crosses the limit still succeeds; the next one does not.
        assert set(answer["result"]) == {"a", "b", "d"}
        assert answer["result_error"]["c"]["error"] == "OPERATION_TIME_LIMIT"
        assert answer["result_time"]["b"]["operating"] == 12
        reply = call(running, "batch", {"cmd": {"d": "server.time"}})
        assert (reply.status, reply.json["time"]["operating"]) == (200, 0)
