"""a: how much of what the limits allow is used. b, first half: who is done first under the same limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench import bounds
from bench.figures import Figure, at_least
from bench.processes import Portal, box, client, ours, portal

BAR = 0.95
NOBODY_ELSE: dict[str, object] = {
    "departments": 5,
    "groups": 0,
    "chats": 0,
    "messages": 0,
    "files": 0,
    "bad_users": 0,
}
# A page of users is billed five milliseconds and takes as long: as on a real portal, where the bill is the time.
LIVELY: dict[str, object] = {"cost": "user.get=0.005", "cost_takes_time": True}


def used(quick: bool) -> list[Figure]:
    with box() as target:
        return [
            _used(target, "requests", users=200_000 if quick else 500_000, cost_s=0.001, speed=2),
            _used(target, "execution time", users=70_000 if quick else 160_000, cost_s=0.5, speed=50),
        ]


def _used(target: Portal, what: str, *, users: int, cost_s: float, speed: float) -> Figure:
    with portal(users=users, cost=f"user.get={cost_s}", speed=speed, **NOBODY_ELSE) as source:
        done = ours(source, target, ("users", "get"), speed=speed)[0]
    _complete(done["records"]["users"], users)
    # one request for the departments, as many commands as there are pages of users
    ideal_s = bounds.soonest(bounds.pages(users), cost_s, at=done["portal_at"], before=1)
    share = ideal_s / done["clock_s"]
    shown = (
        f"{share:.3f}: {done['clock_s']:,.1f} s for {users:,} users, {ideal_s:,.1f} s are possible"
        f" ({sum(done['source_calls'].values())} requests)"
    )
    return at_least("a", f"users-get, bound by {what}", share, BAR, shown)


def side_by_side(quick: bool) -> list[Figure]:
    """In real time: portal and clients share a clock."""
    users = 150_000 if quick else 200_000
    figures = []
    with box() as target:
        for tls, name, peer in ((False, "fast_bitrix24", fast_bitrix24), (True, "b24pysdk", b24pysdk)):
            scheme = "https" if tls else "http"
            mine_s = _timed(users, tls, lambda source: ours(source, target, ("users", "get"))[0])
            figures.append(Figure("b", f"users-get of {users:,} under limits, {scheme}", f"{mine_s:.1f} s"))
            theirs_s = _timed(users, tls, peer)
            ratio = theirs_s / mine_s
            shown = f"{ratio:.2f} × as fast: it takes {theirs_s:.1f} s"
            figures.append(at_least("b", f"against {name} under limits, {scheme}", ratio, 1.0, shown))
    return figures + _spent()


def fast_bitrix24(source: Portal) -> dict[str, Any]:
    """Its defaults have fifty requests wait and then come at once, and give up after ten refusals in a row; its own
    way out is `slow`. Eight at once is its fastest, when it survives."""
    done = client("fast_bitrix24", source, limited=True, at_once=8)
    return client("fast_bitrix24", source, limited=True, at_once=3) if "error" in done else done


def b24pysdk(source: Portal) -> dict[str, Any]:
    return client("b24pysdk", source, way="fast")


def _timed(users: int, tls: bool, run: Callable[[Portal], dict[str, Any]]) -> float:
    with portal(users=users, tls=tls, **LIVELY, **NOBODY_ELSE) as source:
        done = run(source)
    if "error" in done:
        raise RuntimeError(done["error"])
    records = done["records"]
    _complete(records["users"] if isinstance(records, dict) else records, users)
    return float(done["wall_s"])


def _spent() -> list[Figure]:
    """The result of a listing whose method has used up its execution time. There is no bar, because they do not
    finish."""
    users, figures = 30_000, []
    peers: list[tuple[str, dict[str, object]]] = [
        ("fast_bitrix24", {"limited": True, "at_once": 3}),
        ("b24pysdk", {"way": "fast"}),
    ]
    for name, options in peers:
        with portal(users=users, cost="user.get=2", tls=name == "b24pysdk", **NOBODY_ELSE) as source:
            done = client(name, source, **options)
        result = done.get("error") or f"ends without an error after {done['records']:,} of {users:,} records"
        figures.append(Figure("b", f"{name} when user.get is out of execution time", result[:90]))
    return figures


def _complete(records: int, wanted: int) -> None:
    if records != wanted:
        raise RuntimeError(f"{records} of {wanted} records came")
