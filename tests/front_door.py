"""A door before a box that PHP serves: misfortune strikes here as it does before a simulated one, and every item that
goes through is watched as there. `python -m tests.front_door URL` is one in a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import urllib3
from tests.php_box import HTTP, Served

from b24sim.app import App
from b24sim.clock import RunningClock
from b24sim.errors import RestError
from b24sim.http import BAD_GATEWAY, Scope
from b24sim.imports import Imports
from b24sim.imports.kinds import ItemFault
from b24sim.phpjson import encode
from b24sim.portal import Portal
from b24sim.request import Address
from b24sim.serve import Running, serve

Json = Any


class Behind(Imports):
    """What the control room asks of a box, answered by the one that PHP serves."""

    def __init__(self, box: Served) -> None:
        super().__init__(now=lambda: datetime.now(UTC))
        self.box = box
        self._mine, self._made = Lock(), set[str]()

    def rows(self, stream: str) -> Mapping[str, Mapping[str, object]]:
        return dict(self.box.ask("rows", stream=stream))

    def dump(self, stream: str) -> list[dict[str, object]]:
        return [{"imported_at": "", **row} for row in self.box.ask("dump", stream=stream)]

    def saw(self, body: Json, answers: list[Json]) -> None:
        """A call with items has been answered."""
        told = {answer["key"]: answer for answer in answers}
        with self._mine:
            self._watch.next_call()
            for item in body["items"]:
                self._watch.digest(item["digest"], item["fields"])
                self._judge(body["stream"], item, told[item["key"]])

    def _judge(self, stream: str, item: Json, answer: Json) -> None:
        key = item["key"]
        if answer["status"] == "created":
            self._watch.created(stream, key, item["fields"])
            self._made.add(key)
        if answer["status"] == "failed" and key not in self._made:
            error = answer["error"]
            fault = ItemFault(error["code"], error["field"], error["message"], retry=error["retry"])
            self._watch.failed(stream, key, item["fields"], fault)


class FrontDoor(App):
    def __init__(self, portal: Portal, box: Served) -> None:
        super().__init__(portal)
        self._behind = portal.imports = Behind(box)

    async def _answer(self, address: Address, body: bytes, scope: Scope) -> tuple[int, bytes]:  # noqa: ARG002
        try:
            self.portal.authorize(address)
        except RestError as refusal:
            return refusal.status, encode(refusal.body())
        if not address.method.endswith(".batch"):
            return await self._forward(address.method, body)
        told = json.loads(body)
        refused = {answer["key"]: answer for answer in self._refusals(address.method, told["items"])}
        if refused:
            body = json.dumps(told | {"items": [one for one in told["items"] if one["key"] not in refused]}).encode()
        status, answer = await self._forward(address.method, body)
        if status != 200:
            return status, answer
        envelope = json.loads(answer)
        envelope["result"]["items"] += refused.values()
        self._behind.saw(told, envelope["result"]["items"])
        return status, json.dumps(envelope).encode()

    def _refusals(self, method: str, items: list[Json]) -> Iterator[Json]:
        """Of single items, as the script of misfortunes wants it."""
        for item in items:
            if error := self.portal.faults.item_error(method, item["key"]):
                self.portal.stats.faults["item"] += 1
                why = error | {"field": None, "message": "scripted"}
                yield {"key": item["key"], "status": "failed", "id": None, "ignored": [], "error": why}

    async def _forward(self, method: str, body: bytes) -> tuple[int, bytes]:
        """A box whose PHP is dead has a web server that says so."""
        try:
            answer = await asyncio.to_thread(self._post, method, body)
        except urllib3.exceptions.HTTPError:
            self.portal.stats.faults["dead"] += 1
            return 502, BAD_GATEWAY
        return answer.status, answer.data

    def _post(self, method: str, body: bytes) -> urllib3.BaseHTTPResponse:
        url = self._behind.box.webhook + method
        return HTTP.request("POST", url, body=body, headers={"Content-Type": "application/json"})


@contextmanager
def front_door(box: Served, *, speed: float = 1.0, latency_s: float = 0.0) -> Iterator[Running]:
    portal = Portal(role="box", clock=RunningClock(speed), latency_s=latency_s)
    with serve(portal, app=lambda portal: FrontDoor(portal, box)) as running:
        yield running


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.front_door", description=__doc__)
    parser.add_argument("url", help="where PHP serves the box")
    parser.add_argument("--speed", type=float, default=1.0, help="the clock runs so much faster")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds of that clock, added to every call")
    options = parser.parse_args()
    with front_door(Served(options.url), speed=options.speed, latency_s=options.latency) as running:
        print(json.dumps(running.ready()), flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
