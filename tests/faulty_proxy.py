"""A proxy in front of a box that PHP serves: it adds the faults that a simulated box has built in. `python -m
tests.faulty_proxy URL` is one in a process of its own."""

from __future__ import annotations

import argparse
import asyncio
import glob
import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import urllib3
from tests.php_box import HTTP, Served

from b24sim.app import App
from b24sim.clock import RunningClock
from b24sim.errors import RestError
from b24sim.http import BAD_GATEWAY, Scope
from b24sim.imports import Imports
from b24sim.phpjson import encode
from b24sim.portal import Portal
from b24sim.request import Address
from b24sim.serve import Running, serve

Json = Any


class Behind(Imports):
    """The control API of a box, for the one that PHP serves."""

    def __init__(self, box: Served) -> None:
        super().__init__(now=lambda: datetime.now(UTC))
        self.box = box

    @property
    def order_violations(self) -> int:
        return int(self.box.ask("watch")["order_violations"])

    @property
    def digest_mismatches(self) -> int:
        return int(self.box.ask("watch")["digest_mismatches"])

    def rows(self, stream: str) -> Mapping[str, Mapping[str, object]]:
        return dict(self.box.ask("rows", stream=stream))

    def dump(self, stream: str) -> list[dict[str, object]]:
        return list(self.box.ask("dump", stream=stream))

    def edit(self, stream: str, target_id: str, fields: Mapping[str, object]) -> None:
        self.box.tell("edit", {"stream": stream, "id": target_id, "fields": dict(fields)})

    def fail_item(self, key_glob: str, code: str, retry: bool = False, times: int = 1) -> None:
        self.box.tell("fail_item", {"glob": key_glob, "code": code, "retry": retry, "times": times})


class FrontDoor(App):
    def __init__(self, portal: Portal, box: Served) -> None:
        super().__init__(portal)
        self._behind = portal.imports = Behind(box)

    async def _answer(self, address: Address, body: bytes, scope: Scope) -> tuple[int, bytes]:  # noqa: ARG002
        try:
            self.portal.authorize(address)
        except RestError as refusal:
            return refusal.status, encode(refusal.body())
        try:
            answer = await asyncio.to_thread(self._post, address.method, body)
        except (urllib3.exceptions.HTTPError, RuntimeError):
            # If the PHP of a box is dead, its web server answers with an error.
            self.portal.stats.faults["dead"] += 1
            return 502, BAD_GATEWAY
        return answer.status, answer.data

    def _post(self, method: str, body: bytes) -> urllib3.BaseHTTPResponse:
        if method.endswith(".batch"):
            self._strike_items(method, json.loads(body)["items"])
        url = self._behind.box.webhook + method
        return HTTP.request("POST", url, body=body, headers={"Content-Type": "application/json"})

    def _strike_items(self, method: str, items: list[Json]) -> None:
        for item in items:
            if error := self.portal.faults.item_error(method, item["key"]):
                self.portal.stats.faults["item"] += 1
                self._behind.fail_item(glob.escape(item["key"]), error["code"], retry=error["retry"])


@contextmanager
def faulty_proxy(box: Served, *, speed: float = 1.0, latency_s: float = 0.0) -> Iterator[Running]:
    portal = Portal(role="box", clock=RunningClock(speed), latency_s=latency_s)
    with serve(portal, app=lambda portal: FrontDoor(portal, box)) as running:
        yield running


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.faulty_proxy", description=__doc__)
    parser.add_argument("url", help="where PHP serves the box")
    parser.add_argument("--speed", type=float, default=1.0, help="the clock runs so much faster")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds of that clock, added to every call")
    options = parser.parse_args()
    with faulty_proxy(Served(options.url), speed=options.speed, latency_s=options.latency) as running:
        print(json.dumps(running.ready()), flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
