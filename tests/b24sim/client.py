"""A plain HTTP client for the simulator's tests: no retries, no cleverness."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from b24sim import Running


@dataclass
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Reply:
    request = urllib.request.Request(url, body, dict(headers or {}))  # noqa: S310 - the simulator's own address
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=120) as response:
            return Reply(response.status, response.read(), dict(response.headers.items()))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, error.read(), dict(error.headers.items()))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


def call(running: Running, method: str, params: Any = None, user: int = 1) -> Reply:
    body = json.dumps(params if params is not None else {}).encode()
    return send(running.webhook(user) + method, body, {"Content-Type": "application/json"})


def result(running: Running, method: str, params: Any = None, user: int = 1) -> Any:
    reply = call(running, method, params, user).json
    assert "error" not in reply, reply
    return reply["result"]


def batch(running: Running, commands: Any, user: int = 1, **more: Any) -> Any:
    return result(running, "batch", {"cmd": commands} | more, user)


def control(running: Running, page: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    return send(running.control + page, data).json
