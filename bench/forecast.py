"""i: how near a forecast from a sample of 2 % comes to what happens: whole runs of three portals that differ, two of
them with either way of billing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.figures import Figure, at_most
from bench.processes import box, forecast, portal

BAR = 0.15
SHARE = 0.02
LITTLE: dict[str, object] = {
    "users": 60,
    "groups": 5,
    "chats": 10,
    "messages": 300,
    "files": 0,
    "deals": 40,
    "contacts": 40,
    "companies": 20,
    "smart_items": 10,
    "posts": 20,
    "templates": 4,
    "bad_users": 0,
}
TALK: dict[str, object] = {**LITTLE, "chats": 60, "messages": 5_000, "files": 300, "tasks": 60, "latency": 0.1}
CRM: dict[str, object] = {
    **LITTLE,
    "deals": 6_000,
    "contacts": 800,
    "companies": 200,
    "cost": "crm.item.productrow.list=0.09,crm.item.list=0.5",
    "latency": 0.05,
}
PEOPLE: dict[str, object] = {**LITTLE, "users": 2_000, "cost": "user.get=30,crm.item.list=2"}


class Case(NamedTuple):
    """The speed is the fastest at which our own computing, which it makes as much longer, stays a small part."""

    what: str
    company: dict[str, object]
    speed: float
    box_s: float
    billing: str = "batch"
    quick: bool = True


CASES = (
    Case("files and talk", TALK, 2, 0.1),
    Case("a large CRM, batch pays", CRM, 4, 0.1, quick=False),
    Case("many people, a slow method, batch pays", PEOPLE, 12, 0.02),
    Case("a large CRM, methods pay", CRM, 4, 0.1, "inner", quick=False),
    Case("many people, a slow method, methods pay", PEOPLE, 12, 0.02, "inner"),
)


def measured(quick: bool, only: str = "") -> Iterator[Figure]:
    """`only`: of the portals whose names have these words."""
    for case in CASES:
        if only in case.what and (case.quick or not quick or only):
            yield from _compare(case)


def _compare(case: Case) -> list[Figure]:
    speed, box_s, company = case.speed, case.box_s, case.company
    with box(speed=speed, latency=box_s) as target, portal(speed=speed, billing=case.billing, **company) as source:
        forecasts = forecast(source, target, speed=speed, share=SHARE)
    figures = [
        _figure(case.what, forecasts, "get", "reading of all"),
        _figure(case.what, forecasts, "run", "the whole run"),
    ]
    return figures if company is not TALK else [*figures, _enterprise(company, forecasts, speed=speed, box_s=box_s)]


def _figure(what: str, forecasts: dict[str, Any], phase: str, name: str) -> Figure:
    one = forecasts["of_all"][phase]
    shown = f"{one['error']:+.1%}: forecast {one['foretold_s']:,.0f} s, took {one['took_s']:,.0f} s"
    if phase == "run":
        shown += f"; range {forecasts['low_s']:,.0f} to {forecasts['high_s']:,.0f} s"
        shown += f", {forecasts['limited_by']} ({forecasts['method']})"
        shown += f", {forecasts['requests']} requests for the forecast"
    return at_most("i", f"forecast of {name}: {what}", abs(one["error"]), BAR, shown)


def _enterprise(company: dict[str, object], forecasts: dict[str, Any], *, speed: float, box_s: float) -> Figure:
    """What the same company takes with the limits of Enterprise, beside the what-if of the forecast without them."""
    limits = {"requests_per_second": 5, "bucket": 250}
    with box(speed=speed, latency=box_s) as target, portal(speed=speed, **limits, **company) as source:
        took_s = forecast(source, target, speed=speed, share=0, per_second=5, bucket=250)["took_s"]
    told_s = forecasts["what_ifs"]["enterprise"]
    error = told_s / took_s - 1
    shown = f"{error:+.1%}: forecast {told_s:,.0f} s, took {took_s:,.0f} s"
    return at_most("i", "what if Enterprise: files and talk", abs(error), BAR, shown)
