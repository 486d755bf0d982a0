"""Types that several threads decode into at the same time, for the first time."""

from __future__ import annotations

import subprocess
import sys

RACE = """
import sys, threading
from dataclasses import make_dataclass
import msgspec
from b24migrate.model.prepared import prepared
sys.setswitchinterval(1e-6)
for number in range(100):
    inner = make_dataclass("Inner", [(f"f{at}", str, "") for at in range(20)])
    outer = prepared(make_dataclass("Outer", [(f"g{at}", inner, None) for at in range(10)]))
    ready = threading.Barrier(4)
    def decode():
        ready.wait()
        msgspec.convert({"g1": {"f3": "x"}, "g9": {}}, outer)
    threads = [threading.Thread(target=decode) for _ in range(4)]
    for one in threads: one.start()
    for one in threads: one.join()
"""


def test_a_prepared_type_is_decoded_by_several_threads_at_once() -> None:
    """Without `prepared` the process ends with a segmentation fault."""
    assert subprocess.run([sys.executable, "-c", RACE], check=False).returncode == 0
