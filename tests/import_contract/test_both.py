"""Two servers that know nothing of each other answer the same calls alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.import_contract.client import HTTP
from tests.import_contract.random_calls import JSON, RandomCalls
from tests.import_contract.servers import Php, Server, Simulated

CALLS = 100


class Side:
    """One of the two. Ids are its own; both are told of them, and tell of them, by the keys of the records."""

    def __init__(self, server: Server) -> None:
        server.reset()
        self._server = server
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def answer(self, method: str, body: JSON) -> JSON:
        reply = self._post(method, json.dumps(body, ensure_ascii=False))
        if "error" not in reply and not body.get("dry_run"):
            self._learn(method, body, reply["result"])
        return dict(json.loads(re.sub(r"\d{7,8}", self._named, json.dumps(reply, ensure_ascii=False))))

    def _post(self, method: str, text: str) -> JSON:
        sent = re.sub(r"«([^»]*)»", lambda name: self._ids.get(name[1], "999999999"), text)
        headers = {"Content-Type": "application/json"}
        answer = HTTP.request("POST", self._server.webhook + method, body=sent.encode(), headers=headers)
        data: JSON = answer.json()
        assert "INTERNAL" not in answer.data.decode(), (method, text, data)
        return {
            "status": answer.status,
            **({"error": data["error"]} if "error" in data else {"result": data["result"]}),
        }

    def _learn(self, method: str, body: JSON, result: JSON) -> None:
        if method == "import.files.put" and result["id"]:
            self._remember("files", body["key"], result["id"])
        if method.endswith(".batch"):
            for made in result["items"]:
                if made["status"] == "created":
                    self._remember(body["stream"], made["key"], made["id"])

    def _remember(self, stream: str, key: str, target_id: str) -> None:
        name = f"{stream}/{key.removeprefix(stream + ':')}"
        self._ids[name] = target_id
        self._names.setdefault(target_id, f"«{name}»")

    def _named(self, number: re.Match[str]) -> str:
        return self._names.get(number[0], number[0])


def essential(answer: Any) -> Any:
    """Without words for people, and without the choice of one fault among several."""
    if isinstance(answer, list):
        return [essential(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    if answer.get("status") == "failed":
        return {"key": answer.get("key"), "status": "failed", "retry": (answer["error"] or {}).get("retry")}
    return {name: essential(value) for name, value in answer.items() if name != "reason"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_calls_get_the_same_answers(seed: int, simulated_server: Simulated, php_server: Php) -> None:
    calls = RandomCalls(seed)
    sides = Side(simulated_server), Side(php_server)
    for _ in range(CALLS):
        method, body = calls.next()
        simulated, php = (essential(side.answer(method, body)) for side in sides)
        assert simulated == php, (method, body)
