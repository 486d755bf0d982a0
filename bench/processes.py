"""Portals and clients, each in a process of its own, all of them ended when the benchmark is."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
LONGEST_CLIENT_S = 1800


@dataclass(frozen=True, slots=True)
class Portal:
    webhook: str
    control: str
    ca: str

    def stats(self) -> dict[str, Any]:
        return self._asked("stats")

    def dump(self, stream: str, *, visible_to: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._asked(f"dump?stream={stream}&visible_to={visible_to}")["records"]
        return found

    def _asked(self, page: str) -> dict[str, Any]:
        trust = ssl.create_default_context(cafile=self.ca) if self.ca else None
        with urllib.request.urlopen(self.control + page, context=trust) as answer:  # noqa: S310 (loopback)
            reply: dict[str, Any] = json.load(answer)
        return reply


@contextmanager
def portal(**options: object) -> Iterator[Portal]:
    """A portal of b24sim: `users=500` is `--users 500`, `tls=True` is `--tls`."""
    arguments = [part for name, value in options.items() for part in _argument(name, value)]
    command = [sys.executable, "-m", "bench.portal", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise RuntimeError(f"the portal did not start: {' '.join(arguments)}")
            data = json.loads(line)
            yield Portal(data["webhooks"][0]["url"], data["control"], data.get("ca", ""))
        finally:
            end(process)


@contextmanager
def folder() -> Iterator[Path]:
    """The folder of a client's store, on the disk of the project and not on a memory file system."""
    home = ROOT / "bench" / "out"
    home.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=home))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def client(name: str, portal: Portal, **options: object) -> dict[str, Any]:
    """Runs a client to its end and returns its output."""
    settings = {"source": portal.webhook, **options}
    trust = {"SSL_CERT_FILE": portal.ca, "REQUESTS_CA_BUNDLE": portal.ca} if portal.ca else {}
    command = [sys.executable, "-m", f"bench.clients.{name}", json.dumps(settings)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, **trust}
    ) as process:
        try:
            out, complaint = process.communicate(timeout=LONGEST_CLIENT_S)
        finally:
            end(process)
    if process.returncode:
        raise RuntimeError(f"{name} ended with {process.returncode}: {complaint[-2000:]}")
    data: dict[str, Any] = json.loads(out.splitlines()[-1])
    return data


def ours(source: Portal, target: Portal, *steps: tuple[str, str], **options: object) -> list[dict[str, Any]]:
    """b24migrate with a fresh store; one dict of figures for each step."""
    found: list[dict[str, Any]] = _migrated("ours", source, target, steps=steps, **options)["steps"]
    return found


def passes(source: Portal, target: Portal, **options: object) -> dict[str, Any]:
    """A full pass step by step, the import, and delta passes."""
    return _migrated("passes", source, target, **options)


def crew(source: Portal, target: Portal, step: tuple[str, str], **options: object) -> dict[str, Any]:
    """The same by so many `processes` on one store."""
    return _migrated("crew", source, target, steps=[step], **options)


def forecast(source: Portal, target: Portal, **options: object) -> dict[str, Any]:
    """A forecast of a whole run, and what that took."""
    return _migrated("forecast", source, target, **options)


def freeze(source: Portal, target: Portal, **options: object) -> dict[str, Any]:
    """A cutover: the forecast after its rehearsal, and how long the freeze was."""
    return _migrated("freeze", source, target, **options)


def _migrated(name: str, source: Portal, target: Portal, **options: object) -> dict[str, Any]:
    with folder() as store:
        controls = [source.control, target.control]
        return client(name, source, target=target.webhook, controls=controls, folder=str(store), **options)


@contextmanager
def box(**options: object) -> Iterator[Portal]:
    with portal(role="box", **options) as made:
        yield made


def _argument(name: str, value: object) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option] if value else []
    return [option, str(value)]


def end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
