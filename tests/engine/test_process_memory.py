"""What the threads of a process let go of, others use again."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.world import small, world

RUN = """
import ctypes, sys
from pathlib import Path
from b24migrate.app import open_app
from b24migrate.config import load

config = Path(sys.argv[1])
with open_app(load(config), base=config.parent) as app:
    assert app.runner.run(["users"], ("get",)).exit_code == 0
ctypes.CDLL(None).malloc_stats()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only this library has arenas")
def test_workers_take_memory_from_one_arena(tmp_path: Path) -> None:
    """Each thread would keep an arena as large as its largest job needed."""
    with world(tmp_path, small(messages=0, chats=0)) as made:
        with made.app():  # writes the configuration
            pass
        command = [sys.executable, "-c", RUN, str(made.folder / "b24migrate.toml")]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\nArena ") + done.stderr.startswith("Arena ") == 1, done.stderr
