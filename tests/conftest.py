"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import settings
from playwright.sync_api import Browser
from tests import azurite
from tests.chromium import chromium
from tests.shares import Shares, rank
from xdist.remote import Producer  # type: ignore[import-untyped]

ROOM_BYTES = 4 << 30  # of what all processes of the tests write at a time a tenth was seen
LONGEST_S = 900  # of one test, on a machine that is busy with ten others; the longest takes less than a minute alone
HELD = pytest.StashKey[ExitStack]()

# The time of an example depends on the machine's load rather than on the product.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def quick_folder() -> str | None:
    """A folder in memory for what the tests write, where the machine has one with room: stores sync to the disk a lot."""
    memory = Path("/dev/shm")
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < ROOM_BYTES:
        return None
    return str(memory)


if (folder := quick_folder()) is not None:
    os.environ["TMPDIR"] = folder  # for the processes of the tests as well
    tempfile.tempdir = None

# A shell starts what it puts in the background with Ctrl-C ignored, and so would everything that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """No test waits for ever."""

    def late(_: int, __: FrameType | None) -> None:
        pytest.fail(f"The test took longer than {LONGEST_S} s.")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST_S)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


# All that is collected stays, and is much: the collector need not walk it again and again.
gc.set_threshold(50_000)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: rank(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Shares:
    return Shares(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Holds the run's Azurite, which the first test that needs it starts. Worker processes inherit the hold."""
    config.stash[HELD] = ExitStack()
    config.stash[HELD].enter_context(azurite.running())


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[HELD].close()


@pytest.fixture
def azure_store() -> str:
    """The address of an empty store in Azurite."""
    return azurite.url()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched
