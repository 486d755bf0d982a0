"""l: how many requests a first full get of the further CRM entities takes, and activities at flat memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from bench.bounds import full, pages
from bench.deals import MEMORY_BAR, MEMORY_LIMIT_MB, NOTHING_ELSE
from bench.figures import Figure, at_most
from bench.processes import box, ours, portal
from bench.side_by_side import UNLIMITED

BAR = 1.05
QUICK = 10  # so many times smaller
FEW, MANY, MANY_QUICK = 50_000, 500_000, 100_000
OWNERS = ("crm_leads", "crm_deals", "crm_contacts", "crm_companies", "crm_quotes", "crm_invoices")
Records = Mapping[str, int]  # by stream


def listed(staged: Records, *streams: str) -> int:
    """Full chains of pages."""
    return sum(full(pages(staged[name])) for name in streams)


def sold(stream: str) -> Callable[[Records], int]:
    """And one question for the product rows of every page."""
    return lambda staged: 2 * listed(staged, stream)


def catalog(staged: Records) -> int:
    """And the information blocks, the names of currencies, the options of properties."""
    small = ("crm_currencies", "crm_measures", "crm_vats", "crm_price_types", "crm_product_props")
    return listed(staged, *small, "crm_catalog_sections", "crm_products", "crm_prices") + 3


def requisites(staged: Records) -> int:
    """And the fields of each template."""
    records = ("crm_requisites", "crm_bank_details", "crm_addresses", "crm_requisite_links")
    return listed(staged, "crm_requisite_presets", *records) + full(staged["crm_requisite_presets"])


def activities(staged: Records) -> int:
    """And one question for the owners of each activity that no rule leaves out."""
    return full(pages(staged["all activities"])) + full(staged["crm_activities"])


def comments(staged: Records) -> int:
    """One question for each CRM record, and one for the owners of each comment."""
    return full(owners(staged)) + full(staged["crm_comments"])


def notes(staged: Records) -> int:
    """One question for each activity, for each comment, and for the entries of each CRM record."""
    return full(staged["crm_activities"]) + full(staged["crm_comments"]) + full(owners(staged))


def owners(staged: Records) -> int:
    return sum(staged[name] for name in OWNERS)


class Part(NamedTuple):
    """Entities that one portal is measured with; those without a formula only come first."""

    sizes: Mapping[str, int]
    fewest: Mapping[str, Callable[[Records], int] | None]


AROUND = {name.removeprefix("crm_"): 8_000 for name in OWNERS}
PARTS = (
    Part(
        {"leads": 250_000, "quotes": 250_000, "invoices": 250_000},
        {name: sold(name) for name in ("crm_leads", "crm_quotes", "crm_invoices")},
    ),
    Part({"products": 300_000}, {"crm_catalog": catalog}),
    Part(
        {"requisites": 200_000, "deals": 30_000, "contacts": 30_000, "companies": 30_000},
        {"crm_requisites": requisites},
    ),
    Part({"schedules": 120_000}, {"crm_recurring": lambda staged: listed(staged, "crm_recurring")}),
    Part(
        {**AROUND, "calls": 200_000, "crm_activities": 80_000, "crm_comments": 40_000, "log_entries": 20_000},
        {
            **dict.fromkeys(OWNERS),
            "crm_calls": lambda staged: listed(staged, "crm_calls"),
            "crm_activities": activities,
            "crm_comments": comments,
            "crm_notes": notes,
        },
    ),
)


def measured(quick: bool) -> Iterator[Figure]:
    for part in PARTS:
        yield from requests(part, QUICK if quick else 1)
    yield from memory(MANY_QUICK if quick else MANY)


def requests(part: Part, scale: int) -> Iterator[Figure]:
    sizes = {name: size // scale for name, size in part.sizes.items()}
    staged = {"all activities": sizes.get("crm_activities", 0)}
    for entity, done in read(sizes, *part.fewest).items():
        staged |= done["records"]
        formula = part.fewest[entity]
        if formula is None:
            continue
        took, needed = sum(done["source_calls"].values()), formula(staged)
        by_method = ", ".join(f"{name} {count}" for name, count in sorted(done["carried"].items()))
        shown = f"{took / needed:.3f}: {took:,} requests, {needed:,} are needed ({by_method})"
        what = f"requests of {entity.replace('_', '-')}-get"
        # In a small company what is asked once weighs too much for a bar.
        yield Figure("l", what, shown) if scale > 1 else at_most("l", what, took / needed, BAR, shown)


def memory(many: int) -> Iterator[Figure]:
    few_mb, many_mb = (
        read({"crm_activities": count, "deals": 1_000}, "crm_activities")["crm_activities"]["peak_mb"]
        for count in (FEW, many)
    )
    growth = many_mb / few_mb
    grown = f"{growth:.2f} ×: {many_mb:.0f} against {few_mb:.0f} MB"
    yield at_most("l", f"memory of crm-activities-get, {many:,} against {FEW:,}", growth, MEMORY_BAR, grown)
    yield at_most("l", f"memory of crm-activities-get, {many:,}", many_mb, MEMORY_LIMIT_MB, f"{many_mb:.0f} MB")


def read(sizes: Mapping[str, int], *entities: str) -> dict[str, dict[str, Any]]:
    """Figures by entity."""
    company = {**NOTHING_ELSE, "deals": 0, **sizes}
    with box() as target, portal(many_owners=True, crm_notes=True, cheap_rows=True, limits="off", **company) as source:
        steps = [("users", "get"), ("users", "set"), *((entity, "get") for entity in entities)]
        done = dict(zip(entities, ours(source, target, *steps, **UNLIMITED)[2:], strict=True))
    staged = {name: count for one in done.values() for name, count in one["records"].items()}
    wanted = {f"crm_{name.removeprefix('crm_')}": size for name, size in sizes.items() if name != "crm_activities"}
    for stream, size in wanted.items():
        if stream in staged and staged[stream] < size:  # with products come their offers
            raise RuntimeError(f"{staged[stream]} of {size} {stream} came")
    return done
