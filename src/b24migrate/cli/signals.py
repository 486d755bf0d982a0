"""SIGTERM and Ctrl-C: ask running work to end, and end the process if it does not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from b24migrate.cli import exit_codes

GRACE_S = 8.0  # of the ten seconds before a kill: a call ends within three, then the last state is written to the store


@contextmanager
def interruptible(ask: Callable[[], None] = lambda: None) -> Iterator[None]:
    """SIGTERM and Ctrl-C raise KeyboardInterrupt, once. `ask` is called first: it asks other threads to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stopping = False

    def interrupt(*_: Any) -> None:
        nonlocal stopping
        if not stopping:
            stopping = True
            ask()
            raise KeyboardInterrupt

    # A process in the background of a shell ignores Ctrl-C, which is meant for another one.
    ours = [one for one in (signal.SIGTERM, signal.SIGINT) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, interrupt) for one in ours}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def end_in_time() -> None:
    """From now on this process ends at most GRACE_S after a signal, whatever it is in: a call into a library, a name
    server or a disk that does not answer. Killed at any moment, it loses nothing."""
    if os.name != "posix":
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # Python's own handlers wait until the main thread is back from such a call; this is written to at once.
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_end, args=(reader,), name="signals", daemon=True).start()


def _end(reader: int) -> None:
    while os.read(reader, 1)[0] not in (signal.SIGTERM, signal.SIGINT):
        pass
    time.sleep(GRACE_S)
    exit_codes.say(exit_codes.STOPPED)
    os._exit(exit_codes.INCOMPLETE)
