"""A real Azurite, started at the first use and shared by all processes of a run. It ends with the process of the run.

In a test: `azurite.url()` is the address of an empty store. Outside pytest: `with azurite.running(): ... azurite.url()`.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

PROJECT = Path(__file__).parent.parent
LEASHED = PROJECT / "scripts" / "azurite" / "leashed.js"
INSTALLED = PROJECT / ".cache" / "azurite" / ".installed"
RUN = "AZURITE_RUN"  # the folder of the present run, for its child processes
SERVICES = ("Blob", "Queue", "Table")
PATIENCE_S = 300.0


@contextmanager
def running() -> Iterator[None]:
    """Holds a run: an Azurite that is started within the block, here or in a child process, ends with the block, or
    with this process if that is killed. A run that is held already is used as it is."""
    if RUN in os.environ:
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix="azurite-"))
    leash = folder / "leash"
    os.mkfifo(leash)
    held = os.open(leash, os.O_RDWR)
    os.environ[RUN] = str(folder)
    try:
        yield
    finally:
        for name in (RUN, *map(_variable, SERVICES)):
            os.environ.pop(name, None)
        os.close(held)
        _bury(folder)
        shutil.rmtree(folder, ignore_errors=True)  # an Azurite that was started removes it as well


def url(prefix: str = "") -> str:
    """The address of a store in the run's Azurite, by default under a unique prefix."""
    start()
    return f"azure://azurite/{prefix or 't' + uuid4().hex[:12]}"


def start() -> dict[str, int]:
    """The port of each service. They stand in the environment afterwards, for the product and for child processes."""
    folder = Path(os.environ[RUN])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ports").exists():
            _launch(folder)
    ports: dict[str, int] = json.loads((folder / "ports").read_text())
    os.environ |= {_variable(service): str(ports[service]) for service in SERVICES}
    return ports


def _variable(service: str) -> str:
    return f"AZURITE_{service.upper()}_PORT"


def _launch(folder: Path) -> None:
    if not INSTALLED.exists():
        raise FileNotFoundError("Azurite is not installed; install it with scripts/setup-azurite, or run `make test`")
    log = folder / "log"
    # Not through `subprocess`: the child outlives the worker that started it, and nothing waits for it.
    pid = os.posix_spawnp(
        "node",
        ["node", str(LEASHED), *_options()],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, str(folder / "leash"), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setpgroup=0,  # Ctrl-C is for the tests, which may still need it while they clean up
    )
    (folder / "pid").write_text(str(pid))
    (folder / "ports").write_text(json.dumps(_awaited(log, pid)))


def _options() -> list[str]:
    options = ["--silent", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]
    for service in map(str.lower, SERVICES):
        # Beyond the idle time of any pooled connection: a request on one that was just closed would fail.
        options += [f"--{service}Port", "0", f"--{service}KeepAliveTimeout", "300"]
    return options


def _awaited(log: Path, pid: int) -> dict[str, int]:
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s and os.waitpid(pid, os.WNOHANG) == (0, 0):
        text = log.read_text() if log.exists() else ""
        found = re.findall(r"(\w+) service is successfully listening at http://[\d.]+:(\d+)\n", text)
        if len(found) == len(SERVICES):
            return {service: int(port) for service, port in found}
        time.sleep(0.05)
    raise TimeoutError(f"Azurite did not start; it said: {log.read_text() or 'nothing'}")


def _bury(folder: Path) -> None:
    """Waits for the end of an Azurite that this very process started."""
    with suppress(FileNotFoundError, ChildProcessError):
        os.waitpid(int((folder / "pid").read_text()), 0)
