"""`b24migrate serve` in a process of its own, and people who look at it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from bench.processes import ROOT, end

EVERY_S = 2.0  # as the page looks
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Dashboard:
    host: str  # with its port
    pid: int
    token: str

    def cpu_s(self) -> float:
        """Of all its threads, since it began."""
        columns = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(columns[11]) + int(columns[12])) / _TICKS


@contextmanager
def dashboard(config: Path) -> Iterator[Dashboard]:
    command = [sys.executable, "-m", "b24migrate", "--config", str(config), "serve", "--port", "0"]
    quiet = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, env=quiet
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if "http://" not in line:
                raise RuntimeError(f"the dashboard did not start: {line!r}")
            link = process.stdout.readline() if process.stdout else ""
            yield Dashboard(line.partition("http://")[2].split()[0], process.pid, link.strip().rpartition("#")[2])
        finally:
            end(process)


class Viewer:
    """What the page does every two seconds: the front, and what the chart has grown by."""

    def __init__(self, server: Dashboard) -> None:
        self._connection = HTTPConnection(server.host, timeout=30)
        self._known = {"Authorization": f"Bearer {server.token}"}
        self._since = ""

    def refresh(self) -> float:
        """Returns how many seconds the answers took."""
        took_s, front = self.ask("overview")
        grown_s, _ = self.ask(f"history?since={self._since}" if self._since else "history")
        self._since = json.loads(front)["at"]
        return took_s + grown_s

    def ask(self, what: str) -> tuple[float, bytes]:
        began = time.perf_counter()
        self._connection.request("GET", f"/api/v1/{what}", headers=self._known)
        answer = self._connection.getresponse()
        body = answer.read()
        took_s = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{what} was answered with {answer.status}: {body[:500]!r}")
        return took_s, body

    def close(self) -> None:
        self._connection.close()


@contextmanager
def watched(server: Dashboard, viewers: int) -> Iterator[Sequence[float]]:
    """By so many, who do not look in the same moment. Gives the seconds of each refresh."""
    over = threading.Event()
    took_s: list[float] = []

    def watch(late_s: float) -> None:
        viewer = Viewer(server)
        over.wait(late_s)
        while not over.is_set():
            took_s.append(viewer.refresh())
            over.wait(EVERY_S)
        viewer.close()

    threads = [threading.Thread(target=watch, args=(EVERY_S * each / viewers,)) for each in range(viewers)]
    for thread in threads:
        thread.start()
    try:
        yield took_s
    finally:
        over.set()
        for thread in threads:
            thread.join()
