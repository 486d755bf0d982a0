"""Portals, each in a process of its own, and their control rooms."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = Any
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Portal:
    """The address of a portal and of its control API."""

    control: str
    webhook: str
    application: Json = None  # its keys and tokens, where there is one

    def dump(self, stream: str, **query: str) -> list[Json]:
        asked = "&".join(f"{name}={value}" for name, value in {"stream": stream, **query}.items())
        return list(_ask(f"{self.control}dump?{asked}")["records"])

    def look(self, page: str) -> Json:
        return _ask(self.control + page)

    def mutate(self, **wish: Json) -> list[int]:
        return list(_ask(f"{self.control}mutate", wish)["ids"])

    def live(self, seed: int, share: float) -> Json:
        """A day's work in every stream; what was done."""
        return _ask(f"{self.control}mutate", {"days": 1, "seed": seed, "share": share})

    def wait(self, hours: float) -> None:
        _ask(f"{self.control}clock", {"advance": hours * 3600})

    def now(self) -> float:
        return float(self.look("clock")["now"])

    def install(self) -> dict[str, str]:
        """A user installs the application of a box again: its new tokens."""
        return dict(_ask(f"{self.control}application", {"install": True}))

    def edit(self, stream: str, number: str, fields: Json) -> None:
        """Somebody changes an imported record by hand."""
        _ask(f"{self.control}edit", {"stream": stream, "id": number, "fields": fields})

    def faults(self, script: list[Json], seed: int = 0) -> None:
        _ask(f"{self.control}faults?seed={seed}", script)

    def call(self, method: str, params: Json) -> Json:
        return _ask(self.webhook + method, params)["result"]

    def ask(self, method: str, params: Json) -> Json:
        """None where the portal refuses."""
        try:
            return self.call(method, params)
        except urllib.error.HTTPError:
            return None


@contextmanager
def portal(*arguments: str, module: str = "b24sim") -> Iterator[Portal]:
    """Quiet: a portal whose clients are killed all the time has much to say about broken connections."""
    command = [sys.executable, "-m", module, *arguments]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    with subprocess.Popen(command, stdout=pipe, stderr=nowhere, text=True, env=environ) as process:
        try:
            ready = json.loads(process.stdout.readline()) if process.stdout else {}
            yield Portal(ready["control"], ready["webhooks"][0]["url"], ready.get("application"))
        finally:
            process.kill()


def _ask(url: str, body: Json = None) -> Json:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})  # noqa: S310 (loopback)
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        return json.load(answer)
