"""An admin's desk: a simulated cloud and box, a configuration, and `b24migrate serve` in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from b24sim.company.changes import change
from b24sim.faults import Faults
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import Running, serve

ROOT = Path(__file__).parents[2]
SMALL = (
    *("--users", "12", "--groups", "4", "--chats", "4", "--messages", "80", "--files", "3", "--tasks", "12"),
    *("--companies", "6", "--contacts", "8", "--deals", "6", "--smart-types", "1", "--smart-items", "4"),
    *("--posts", "6", "--templates", "1", "--limits", "off", "--secret", "cloudsecret7f3a91"),
)
READY = re.compile(r"(http://\S+) until")
LINK = re.compile(r"http://\S+/login#(\S+)")
PATIENCE_S = 300.0
TALK = '[run]\nentities = ["users", "groups", "chats"]\n'


@dataclass
class Desk:
    folder: Path
    source: Running
    target: Running
    url: str = ""
    token: str = ""  # that `serve` has made
    served: subprocess.Popen[str] | None = None

    @property
    def config(self) -> Path:
        return self.folder / "b24migrate.toml"

    def ask(self, path: str) -> Any:
        known = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", headers=known)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            return json.load(answer)

    def change(self, stream: str, op: str = "update", **wish: Any) -> list[int]:
        """Somebody works in the cloud."""
        portal = self.source.portal
        return change(portal.company, portal.clock.now(), {"stream": stream, "op": op, **wish})

    def strike_cloud(self, *script: Any) -> None:
        self.source.portal.faults = Faults(script)

    def strike_box(self, *script: Any) -> None:
        self.target.portal.faults = Faults(script)

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "b24migrate", "--config", str(self.config), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=environ())

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        command = [sys.executable, "-m", "b24migrate", "--config", str(self.config), *arguments]
        nowhere = subprocess.DEVNULL
        with subprocess.Popen(command, stdout=nowhere, stderr=nowhere, env=environ()) as process:
            yield process

    def target_has(self, stream: str) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while not self.target.portal.imports.dump(stream):
            if time.monotonic() > until_s:
                raise TimeoutError(f"The box has no {stream}.")
            time.sleep(0.02)

    def edit_box(self, stream: str, source_id: str, **fields: Any) -> None:
        imports = self.target.portal.imports
        (row,) = (one for one in imports.dump(stream) if one["key"] == f"source:{stream}:{source_id}")
        imports.edit(stream, str(row["id"]), fields)

    def wait_for(self, *verdicts: str) -> str:
        """By the API; who looks at the page asks the page."""
        until_s = time.monotonic() + PATIENCE_S
        while (now := self.ask("/overview")["now"]["verdict"]) not in verdicts:
            if time.monotonic() > until_s:
                raise TimeoutError(f"It is still {now}, not {' or '.join(verdicts)}.")
            time.sleep(0.1)
        return str(now)


def environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}


@contextmanager
def desk(
    folder: Path, cloud: Sequence[str] = SMALL, box: Sequence[str] = (), *, more: str = "", serving: Sequence[str] = ()
) -> Iterator[Desk]:
    boxed = ("--role", "box", "--secret", "boxsecret0c44be2", *box)
    with (
        serve(portal_from(parser().parse_args(list(cloud)))) as source,
        serve(portal_from(parser().parse_args(list(boxed)))) as target,
    ):
        made = Desk(folder, source, target)
        portals = f'[source]\nwebhook = "{source.webhook()}"\nrequests_per_second = 0\n'
        made.config.write_text(f'{portals}[target]\nwebhook = "{target.webhook()}"\n{more}')
        with served(made, *serving):
            yield made


@contextmanager
def served(made: Desk, *options: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "b24migrate", "--config", str(made.config), "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ()
    ) as process:
        try:
            assert process.stdout is not None
            found = READY.search(process.stdout.readline())
            assert found is not None, "The dashboard did not start."
            made.url = found[1]
            link = LINK.search(process.stdout.readline())
            made.token = link[1] if link else ""
            made.served = process
            yield process
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
