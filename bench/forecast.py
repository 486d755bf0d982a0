"""i: how near a forecast from a sample of 2 % comes to what happens, on three portals that are slow in three ways."""

from __future__ import annotations

from bench.figures import Figure, at_most
from bench.processes import box, foretold, portal

BAR = 0.15
SHARE = 0.02
PEOPLE: dict[str, object] = {"departments": 5, "groups": 0, "files": 0, "bad_users": 0, "foreign_chats": 0}
NO_TALK: dict[str, object] = {**PEOPLE, "chats": 0, "messages": 0}
USERS_FIRST = (("users", "get"), ("users", "set"))


def measured(quick: bool) -> list[Figure]:
    """No portal is much smaller when it is quick: limits have to be felt, and bursts to be forgotten."""
    return [
        _portal(
            "bound by requests",
            (*USERS_FIRST, ("crm_deals", "get")),
            speed=8,
            rest_s=40,
            **{**NO_TALK, "users": 100, "deals": 40_000 if quick else 80_000, "default_cost": 0.001},
        ),
        _portal(
            "bound by execution time",
            (("users", "get"),),
            speed=50,
            rest_s=900,
            **{**NO_TALK, "users": 160_000 if quick else 300_000, "cost": "user.get=0.5"},
        ),
        _portal(
            "with many small chats",
            (*USERS_FIRST, ("chats", "get")),
            speed=6,
            rest_s=40,
            **{**PEOPLE, "users": 400, "chats": 10_000 if quick else 20_000, "messages": 50_000 if quick else 100_000},
        ),
    ]


def _portal(what: str, steps: tuple[tuple[str, str], ...], *, speed: float, rest_s: float, **options: object) -> Figure:
    with box(speed=speed) as target, portal(speed=speed, **options) as source:
        said = foretold(source, target, *steps, speed=speed, rest_s=rest_s, share=SHARE)
    entity, phase = steps[-1]
    shown = (
        f"{said['error']:+.1%}: {said['foretold_s']:,.0f} s foretold,"
        f" {said['took_s']:,.0f} s taken; {said['method']}"
        f" ({said['limited_by']}), {said['requests']} requests to foretell"
    )
    return at_most("i", f"forecast of {entity}-{phase} {what}", abs(said["error"]), BAR, shown)
