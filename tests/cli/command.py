"""A scene for the command line: portals on loopback, a configuration, and the command itself."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from b24migrate import cli
from b24sim.clock import RunningClock
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import Running, serve

SOURCE_SECRET = "cloudsecret7f3a91"
TARGET_SECRET = "boxsecret0c44be2"
TALK = '[run]\nentities = ["users", "groups", "chats"]\n'
SMALL = ("--users", "12", "--groups", "4", "--chats", "4", "--messages", "60", "--files", "3", "--limits", "off")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def all(self) -> str:
        return self.out + self.err


@dataclass
class Scene:
    folder: Path
    capture: pytest.CaptureFixture[str] | None = None
    source: str = ""
    target: str = ""
    more: str = ""
    heard: list[str] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.folder / "b24migrate.toml"

    def write(self) -> None:
        portals = f'[source]\nwebhook = "{self.source}"\n[target]\nwebhook = "{self.target}"\n'
        entities = "" if "[run]" in self.more else TALK
        self.config.touch(mode=0o600)  # doctor warns about one that others can read
        self.config.write_text(portals + entities + self.more)

    def run(self, *arguments: str) -> Result:
        """In this process; its output is kept for the search for secrets."""
        assert self.capture is not None
        self.write()
        self.capture.readouterr()
        code = cli.execute(["--config", str(self.config), *arguments])
        out, err = self.capture.readouterr()
        self.heard += [out, err]
        return Result(code, out, err)

    def process(self, *arguments: str, on: int = subprocess.PIPE, **more: Any) -> subprocess.Popen[str]:
        """A process of its own, writing to a pipe or to the terminal `on`."""
        self.write()
        command = [sys.executable, "-m", "b24migrate", "--config", str(self.config), *arguments]
        return subprocess.Popen(command, stdout=on, stderr=subprocess.PIPE, text=True, **more)


class Hold(RunningClock):
    """A portal with this clock takes calls and answers none of them as long as `on`: what is under way stays so,
    however slow the machine is."""

    def __init__(self) -> None:
        super().__init__()
        self.on: Callable[[], bool] = lambda: False

    def let_go(self) -> None:
        self.on = lambda: False

    async def sleep(self, _: float) -> None:
        while await asyncio.to_thread(self.on):
            await asyncio.sleep(0.05)


@contextmanager
def cloud(*options: str) -> Iterator[Running]:
    with serve(portal_from(parser().parse_args([*SMALL, "--secret", SOURCE_SECRET, *options]))) as running:
        yield running


def until_something_runs(scene: Scene) -> None:
    while not something_runs(scene):
        time.sleep(0.02)


def something_runs(scene: Scene) -> bool:
    log = scene.folder / "b24migrate.log"
    return log.exists() and '"running"' in log.read_text()


@contextmanager
def held_cloud(scene: Scene) -> Iterator[tuple[Running, Hold]]:
    """From when a phase runs it answers nothing, until it is let go."""
    hold = Hold()
    hold.on = lambda: something_runs(scene)
    with cloud() as running:
        running.portal.clock, running.portal.latency_s = hold, 1.0
        try:
            yield running, hold
        finally:
            hold.let_go()


@contextmanager
def box(*options: str) -> Iterator[Running]:
    with serve(portal_from(parser().parse_args(["--role", "box", "--secret", TARGET_SECRET, *options]))) as running:
        yield running


@contextmanager
def answering(answers: Mapping[str, object], default: object = "<html><body>Hello</body></html>") -> Iterator[str]:
    """The webhook of a server that gives every method the same answer, and anything else a web page."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = answers.get(self.path.rpartition("/")[2], default)
            body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if isinstance(answer, str) else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/rest/1/{TARGET_SECRET}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
