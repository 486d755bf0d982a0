"""fast_bitrix24: `get_all("user.get")`, with its own defaults under limits and with none without."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import nullcontext
from typing import Any

from fast_bitrix24 import BitrixAsync

from bench.clients.meter import Meter, say


async def listing(options: dict[str, Any]) -> list[dict[str, Any]]:
    unlimited: dict[str, Any] = {
        "respect_velocity_policy": False,
        "request_pool_size": 1_000_000,
        "requests_per_second": 1e6,
    }
    portal = BitrixAsync(options["source"], verbose=False, **({} if options["limited"] else unlimited))
    with portal.slow(options["at_once"]) if options["limited"] else nullcontext():
        found: list[dict[str, Any]] = await portal.get_all("user.get", {"ADMIN_MODE": True})
    return found


def main(options: dict[str, Any]) -> None:
    meter = Meter()
    try:
        found = asyncio.run(listing(options))
    except Exception as error:  # noqa: BLE001 (whatever it is, it is what its user would see)
        say(**meter.read(), error=f"{type(error).__name__}: {str(error)[:200]}")
        return
    say(**meter.read(), records=len({row["ID"] for row in found}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
