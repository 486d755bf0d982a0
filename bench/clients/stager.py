"""Stages messages as fast as the store takes them, until it is ended: `python -m bench.clients.stager FILE`.

Says `ready` when it begins, and how many it staged in a second when it is told to end.
"""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType

from b24migrate.clock import SystemClock
from b24migrate.entities import catalog
from b24migrate.stores import open_store
from bench.million import IN_A_PAGE, MILLION, staged


def main(path: str) -> None:
    leaving: list[int] = []

    def leave(number: int, _: FrameType | None) -> None:
        leaving.append(number)

    signal.signal(signal.SIGTERM, leave)
    known = catalog()
    messages = known.streams["chat_messages"]
    ready = [staged(messages, f"{number}:{number}") for number in range(IN_A_PAGE)]
    opened = open_store(f"sqlite:///{path}", known.tables, SystemClock())
    print("ready", flush=True)
    began, done = time.monotonic(), 0
    try:
        while not leaving:
            chat = MILLION + done
            page = [one._replace(row_key=f"{chat}:{place}") for place, one in enumerate(ready, chat)]
            opened.store.stage(messages.table, page, run="r", pass_no=1)
            done += len(page)
    finally:
        opened.store.close()
    print(done / (time.monotonic() - began), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
