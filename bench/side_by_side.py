"""b, second half: records in a CPU second of the client, without limits."""

from __future__ import annotations

from statistics import median
from typing import Any

from bench.figures import Figure, at_least
from bench.processes import Portal, box, client, ours, portal
from bench.under_limits import NOBODY_ELSE

UNLIMITED: dict[str, object] = {"per_second": 0, "operating_s": 0}


def measured(quick: bool) -> list[Figure]:
    users, rounds = (30_000, 2) if quick else (100_000, 3)
    with (
        box() as target,
        portal(users=users, limits="off", **NOBODY_ELSE) as plain,
        portal(users=users, limits="off", tls=True, **NOBODY_ELSE) as secure,
    ):
        runs: dict[str, list[dict[str, Any]]] = {}
        for _ in range(rounds):  # alternately, so that other work of the machine slows all of them
            for name, run in _contestants(target, plain, secure).items():
                runs.setdefault(name, []).append(run())
    speed = {name: median(users / one["cpu_s"] for one in many) for name, many in runs.items()}
    memory = {name: max(one["peak_mb"] for one in many) for name, many in runs.items()}
    figures = [
        Figure("b", f"{name}, {users:,} users", f"{speed[name]:,.0f} records a CPU second, {memory[name]:,.0f} MB")
        for name in runs
    ]
    for mine, theirs, bar in (("users-get, http", FAST, 2.0), ("users-get, https", SDK, 1.2)):
        ratio = speed[mine] / speed[theirs]
        figures.append(at_least("b", f"records a CPU second against {theirs}", ratio, bar, f"{ratio:.2f} ×"))
    return figures


FAST, SDK, SDK_LIST = "fast_bitrix24 get_all", "b24pysdk list fast", "b24pysdk list"


def _contestants(target: Portal, plain: Portal, secure: Portal) -> dict[str, Any]:
    return {
        "users-get, http": lambda: ours(plain, target, ("users", "get"), **UNLIMITED)[0],
        FAST: lambda: client("fast_bitrix24", plain, limited=False),
        "users-get, https": lambda: ours(secure, target, ("users", "get"), **UNLIMITED)[0],
        SDK: lambda: client("b24pysdk", secure, way="fast"),
        SDK_LIST: lambda: client("b24pysdk", secure, way="list"),
    }
