"""The module for the box, served by `php -S` on records in one SQLite file: it may be killed and started again.

`box-module/tests/server.php` says what may be asked and arranged behind its back, in its control room.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

ROOT = Path(__file__).parents[1]
ROUTER = ROOT / "box-module" / "tests" / "server.php"
SECRET = "box0secret0box0s"
HANDS = 4  # calls at a time
START_S = 120.0
HTTP = urllib3.PoolManager(retries=False, timeout=120.0)
# A killed process cannot end its children: the end of its pipe does.
GUARD = ("sh", "-c", '"$@" </dev/null & read -r nothing; kill -KILL 0', "guard")
PHP = (
    *("php", "-d", "opcache.enable_cli=1", "-d", "display_errors=stderr", "-d", "log_errors=0"),
    *("-d", "post_max_size=64M", "-d", "memory_limit=512M"),
)


class Served:
    """A box that is served."""

    def __init__(self, url: str) -> None:
        self.url = url

    @property
    def webhook(self) -> str:
        return f"{self.url}/rest/1/{SECRET}/"

    def ask(self, page: str, **query: str) -> Any:
        return self._answer("GET", f"{page}?{urlencode(query)}")

    def tell(self, page: str, body: Any) -> Any:
        return self._answer("POST", page, json.dumps(body).encode())

    def _answer(self, verb: str, page: str, body: bytes | None = None) -> Any:
        headers = {"Content-Type": "application/json"}
        answer = HTTP.request(verb, f"{self.url}/control/{page}", body=body, headers=headers)
        if answer.status != 200:
            raise RuntimeError(f"{page}: {answer.status} {answer.data[:500]!r}")
        return answer.json()


class PhpBox(Served):
    """The file outlives the process, as the database of a box does."""

    def __init__(self, file: Path, port: int) -> None:
        super().__init__(f"http://127.0.0.1:{port}")
        self._file = file
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        environ = {
            **os.environ,
            "PHP_CLI_SERVER_WORKERS": str(HANDS),
            "B24_DB": str(self._file),
            "B24_SECRET": SECRET,
        }
        command = [*GUARD, *PHP, "-S", f"127.0.0.1:{self._port}", str(ROUTER)]
        with (self._file.parent / "php.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env=environ, stdin=subprocess.PIPE, stdout=log, stderr=log, start_new_session=True
            )
        self._wait(self._answers)

    def kill(self) -> None:
        """At once, with the calls it is at."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # those at work are children of the one that listens
            self._process.communicate(timeout=60)
            self._process = None
            self._wait(lambda: not self._listens())  # a child that is only just dying still holds the port

    def last_words(self) -> str:
        return (self._file.parent / "php.log").read_text("utf-8", "replace")[-2000:]

    def _wait(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not until():
            if time.monotonic() > deadline or (self._process and self._process.poll() is not None):
                raise RuntimeError(f"php did not start or end:\n{self.last_words()}")
            time.sleep(0.003)

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=10):
            return True
        return False

    def _answers(self) -> bool:
        with suppress(urllib3.exceptions.HTTPError):
            return "order_violations" in self.ask("watch")
        return False


@contextmanager
def php_box(folder: Path | None = None) -> Iterator[PhpBox]:
    """An empty one. Without a folder it leaves nothing behind."""
    if shutil.which(PHP[0]) is None:
        raise RuntimeError("There is no PHP. `make php` installs it.")
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="b24box-")))
        box = PhpBox(place / "box.sqlite", _free_port())
        stack.callback(box.kill)
        box.start()
        yield box


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
