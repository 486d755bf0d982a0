"""The Azurite that tests run against: one per run, on ports of its own, never left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest
from tests import azurite

CHILD = "from tests import azurite; print(azurite.start()['Blob'])"
HOLDER = """
from tests import azurite
with azurite.running():
    print(azurite.start()["Blob"], flush=True)
    input()
"""


def test_every_process_of_a_run_gets_the_same_azurite() -> None:
    ports = azurite.start()
    child = subprocess.check_output([sys.executable, "-c", CHILD], cwd=azurite.PROJECT, text=True)
    assert int(child) == ports["Blob"]
    assert os.environ["AZURITE_TABLE_PORT"] == str(ports["Table"])
    for port in ports.values():
        socket.create_connection(("127.0.0.1", port)).close()


def test_each_store_has_a_prefix_of_its_own(azure_store: str) -> None:
    assert azure_store != azurite.url()
    assert azurite.url("mine") == "azure://azurite/mine"


@pytest.mark.parametrize("killed", [False, True])
def test_it_ends_with_the_process_that_held_it(killed: bool) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AZURITE_")}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        cwd=azurite.PROJECT,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        port = int(holder.stdout.readline())
        assert port != azurite.start()["Blob"]
        with socket.create_connection(("127.0.0.1", port), timeout=120) as line:
            if killed:
                holder.kill()
            else:
                print(file=holder.stdin, flush=True)
            assert closed(line)


def closed(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True
