"""A portal in a process of its own, for benchmarks and for clients that must not share ours."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def launch(*arguments: str) -> Iterator[dict[str, Any]]:
    """Start `python -m b24sim` with these arguments, yield its ready line, and end it with the block."""
    command = [sys.executable, "-m", "b24sim", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line:
                raise RuntimeError(f"b24sim ended with {process.wait()}")
            yield json.loads(line)
        finally:
            process.terminate()
            process.wait(10)
