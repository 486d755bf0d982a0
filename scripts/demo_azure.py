"""The demo on the Azure store: Azurite, two worker processes, the same company. `make demo-azure` runs it.

Azurite keeps everything in memory and ends with this script, so the status and the report are written before that.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).parent.parent
sys.path.insert(0, str(PROJECT))

from tests import azurite  # noqa: E402

PROGRAM = [sys.executable, "-m", "b24migrate"]
CONFIG = Path("demo-out/b24migrate.toml")
FINDINGS = 5  # the simulated company is meant to have some
STOP_S = 30


def main() -> int:
    with azurite.running():
        url = azurite.url("demo")
        print(f"Azurite is running. Store: {url}", flush=True)
        demo = subprocess.Popen([*PROGRAM, "demo", "--store", url])
        try:
            with second_worker(demo):
                code = demo.wait()
        except KeyboardInterrupt:  # the demo got it as well, and ends its portals
            return demo.wait()
        if code in (0, FINDINGS):
            for command in (["status"], ["report", "--out", "demo-out/report"]):
                subprocess.run([*PROGRAM, "--config", str(CONFIG), *command], check=False)
            print("Azurite has ended, and the store with it. The report stays: demo-out/report")
    return 0 if code == FINDINGS else code


@contextmanager
def second_worker(demo: subprocess.Popen[bytes]) -> Iterator[None]:
    """Another process that helps with the run, as a second machine would. It ends with the block."""
    started = time.time()
    while demo.poll() is None and not (CONFIG.exists() and CONFIG.stat().st_mtime >= started - 1):
        time.sleep(0.1)
    if demo.poll() is not None:
        yield
        return
    with (CONFIG.parent / "worker.log").open("wb") as log:
        worker = subprocess.Popen([*PROGRAM, "--config", str(CONFIG), "worker"], stdout=log, stderr=log)
        print(f"A second worker helps; its log: {log.name}", flush=True)
        try:
            yield
        finally:
            worker.terminate()
            try:
                worker.wait(STOP_S)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()


if __name__ == "__main__":
    sys.exit(main())
