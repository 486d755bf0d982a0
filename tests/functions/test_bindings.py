"""What the host learns about the functions when it indexes them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest

from b24migrate.ports import DELIVERIES

FOLDER = Path(__file__).parents[2] / "deploy" / "azure"
Json = Any
ANSWER = {"direction": "OUT", "type": "http", "name": "$return"}


def request(route: str, method: str) -> list[dict[str, Json]]:
    trigger = {"direction": "IN", "type": "httpTrigger", "name": "req", "authLevel": "FUNCTION"}
    return [{**trigger, "route": route, "methods": [method]}, ANSWER]


def message(queue: str) -> list[dict[str, Json]]:
    trigger = {"direction": "IN", "type": "queueTrigger", "name": "message"}
    return [{**trigger, "queueName": queue, "connection": "Storage"}]


EXPECTED: dict[str, list[dict[str, Json]]] = {
    "start": request("api/start", "POST"),
    "do": request("api/do/{mini_task}", "POST"),
    "retry": request("api/retry", "POST"),
    "pause": request("api/pause", "POST"),
    "resume": request("api/resume", "POST"),
    "status": request("api/status", "GET"),
    "errors": request("api/errors", "GET"),
    "dashboard": [
        {
            "direction": "IN",
            "type": "httpTrigger",
            "name": "req",
            "authLevel": "ANONYMOUS",
            "route": "{*path}",
            "methods": ["GET", "HEAD", "POST"],
        },
        ANSWER,
    ],
    "work": message("work"),
    "bury": message("work-poison"),
    "tend": [{"direction": "IN", "type": "timerTrigger", "name": "timer", "schedule": "0 * * * * *"}],
}


@pytest.fixture(scope="module")
def indexed() -> dict[str, Json]:
    """As the host does it: the file is run, and each app is asked once. Nothing is opened by that."""
    app = runpy.run_path(str(FOLDER / "function_app.py"))["app"]
    return {one.get_function_name(): one for one in app.get_functions()}


def test_every_function_is_found(indexed: dict[str, Json]) -> None:
    assert set(indexed) == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_its_bindings_are_what_the_host_expects(indexed: dict[str, Json], name: str) -> None:
    data = json.loads(indexed[name].get_function_json())
    assert data["scriptFile"] == "function_app.py"
    wanted = [{key: value for key, value in one.items() if key != "methods"} for one in EXPECTED[name]]
    for binding, expected in zip(data["bindings"], wanted, strict=True):
        assert expected.items() <= binding.items()
    methods = [one.get("methods") for one in EXPECTED[name]]
    assert [one.get("methods") for one in data["bindings"]] == methods


def test_no_request_is_answered_without_a_key_but_the_dashboards_which_has_a_token(indexed: dict[str, Json]) -> None:
    triggers = {name: one.get_trigger().get_dict_repr() for name, one in indexed.items()}
    levels = {name: one["authLevel"] for name, one in triggers.items() if one["type"] == "httpTrigger"}
    assert levels.pop("dashboard") == func.AuthLevel.ANONYMOUS
    assert set(levels.values()) == {func.AuthLevel.FUNCTION}


def test_the_functions_stand_where_they_stood_before_there_was_a_dashboard(indexed: dict[str, Json]) -> None:
    host = json.loads((FOLDER / "host.json").read_text())
    assert host["extensions"]["http"]["routePrefix"] == ""
    data = json.loads(indexed["start"].get_function_json())
    assert data["bindings"][0]["route"] == "api/start"


def test_the_settings_have_the_connection_that_the_bindings_name() -> None:
    settings = json.loads((FOLDER / "local.settings.example.json").read_text())["Values"]
    assert {"Storage", "AzureWebJobsStorage"} <= settings.keys()


def test_the_host_gives_a_message_up_when_the_store_does() -> None:
    """After as many deliveries the function leaves the reason in the dead letters."""
    host = json.loads((FOLDER / "host.json").read_text())
    assert host["extensions"]["queues"]["maxDequeueCount"] == DELIVERIES
    assert host["extensions"]["queues"]["messageEncoding"] == "none"  # as the store sends them
