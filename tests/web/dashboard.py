"""A dashboard that really listens, on a store that really is one, and a client that sends exactly what it is told."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from http.client import HTTPConnection
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.cli.command import box, cloud

from b24migrate import app, cli
from b24migrate.clock import FastClock
from b24migrate.web.application import make_application
from b24migrate.web.auth import Hosts, Sessions
from b24migrate.web.context import Context
from b24migrate.web.server import listen, serve_in_thread

TOKEN = "a-token-of-the-tests-0123456789"
MARKED = {"X-B24migrate": "1", "Content-Type": "application/json"}
CONFIGURATION = """
[source]
webhook = "{source}"
[target]
webhook = "{target}"
[run]
entities = {entities}
"""
LEAST = (
    *(
        "--users",
        "6",
        "--groups",
        "1",
        "--chats",
        "1",
        "--messages",
        "4",
        "--files",
        "1",
        "--tasks",
        "2",
        "--deals",
        "2",
    ),
    *("--contacts", "2", "--companies", "2", "--smart-types", "1", "--smart-items", "1", "--posts", "2"),
    *("--templates", "1"),
)
NOBODY = ("https://cloud.example/rest/1/s3cretofthesource/", "https://box.example/rest/1/s3cretofthetarget/")


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def code(self) -> str:
        return str(self.json["code"])


@dataclass(frozen=True)
class Desk:
    """A dashboard and its folder. With `token` every request has it that says nothing else of it."""

    host: str
    port: int
    context: Context
    folder: Path
    token: str = ""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Reply:
        """The path goes out as it is."""
        connection = HTTPConnection(self.host, self.port, timeout=120)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            known = {"Authorization": f"Bearer {self.token}"} if self.token else {}
            sent_headers = {"Host": f"{self.host}:{self.port}", **known, **(headers or {})}
            if body is not None and "Content-Length" not in sent_headers:
                sent_headers["Content-Length"] = str(len(body))
            for name, value in sent_headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None, **query: object) -> Reply:
        asked = f"?{urlencode(query)}" if query else ""
        return self.send("GET", quote(path, safe="/:%") + asked, headers)

    def look(self, what: str, **query: object) -> Any:
        """What the API says, which has to be well."""
        reply = self.get(f"/api/v1/{what}", None, **query)
        assert reply.status == 200, reply.text
        return reply.json

    def post(self, what: str, wish: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        body = json.dumps({} if wish is None else wish).encode()
        return self.send("POST", f"/api/v1/{what}", {**MARKED, **(headers or {})}, body)


def configured(folder: Path, source: str, target: str, entities: tuple[str, ...] = (), more: str = "") -> Path:
    path = folder / "b24migrate.toml"
    path.write_text(CONFIGURATION.format(source=source, target=target, entities=json.dumps(entities)) + more, "utf-8")
    return path


@contextmanager
def dashboard(
    config: Path, *, hosts: Hosts | None = None, token: str = TOKEN, stranger: bool = False, **more: Any
) -> Iterator[Desk]:
    """Asked by somebody who has the token, or by a stranger."""
    hosts = hosts or Hosts()
    context = Context(config=config, hosts=hosts, sessions=Sessions(token), **more)
    place = listen(hosts.host, 0)
    host, port = place.getsockname()[:2]
    host = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104
    try:
        with serve_in_thread(make_application(context), place):
            yield Desk(host, port, context, config.parent, "" if stranger else token)
    finally:
        context.close()


@contextmanager
def hurried() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "SystemClock", lambda: FastClock(20))
        yield


def quietly(config: Path, *arguments: str) -> int:
    with redirect_stdout(StringIO()):
        return cli.execute(["--config", str(config), *arguments])


@contextmanager
def portals(*options: str) -> Iterator[tuple[Any, Any]]:
    with cloud(*options) as source, box() as target:
        yield source, target


def is_closed(host: str, port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex((host, port)) != 0
