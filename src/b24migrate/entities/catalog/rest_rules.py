"""Rules: catalog data that a box does not keep without the import module."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.messages import say
from b24migrate.model.fidelity import EMPTY, Draft, Judge, Keeping, Rule
from b24migrate.model.records import Args, Json
from b24migrate.targets.rest.box import Box

CHANGED = say("reason.rest_product_changed")
COPIED = say("reason.rest_picture")
RANGES = say("reason.rest_price_ranges")
CODES = say("reason.rest_section_code")
REQUIRED = say("reason.rest_not_required")
SERVICES = say("reason.rest_service")
# Services have none of these (api-reference/catalog/product/service/catalog-product-service-add.md).
NOT_OF_SERVICES = ("measure", "weight", "width", "height", "length", "purchasingPrice", "purchasingCurrency")


def product_rules(_: Box) -> Sequence[Rule]:
    return [
        Rule("crm_products", "timestampX", Keeping.APPROXIMATED, CHANGED),
        code_rule("crm_products"),
        *(Rule("crm_products", name, Keeping.LOST, SERVICES, filled_service(name)) for name in NOT_OF_SERVICES),
        *(
            Rule("crm_products", name, Keeping.TRANSFORMED, COPIED)
            for name in ("previewPicture", "detailPicture", "morePhoto")
        ),
    ]


def filled_service(name: str) -> Judge:
    return lambda draft: draft.get("kind") == "service" and draft.get(name) not in EMPTY


def code_rule(stream: str) -> Rule:
    return Rule(stream, "code", Keeping.APPROXIMATED, CODES, running=is_repeated)


def is_repeated() -> Judge:
    """Whether an earlier record has the same code."""
    seen: set[Json] = set()

    def judge(draft: Draft) -> bool:
        code = draft.get("code")
        known = code in seen
        seen.update({code} if code not in EMPTY else ())
        return known

    return judge


def section_rules(_: Box) -> Sequence[Rule]:
    return [code_rule("crm_catalog_sections")]


def property_rules(_: Box) -> Sequence[Rule]:
    return [
        Rule(
            "crm_product_props",
            "isRequired",
            Keeping.APPROXIMATED,
            REQUIRED,
            lambda draft: bool(draft.get("isRequired")),
        )
    ]


def price_rules(_: Box) -> Sequence[Rule]:
    return [
        Rule("crm_prices", "", Keeping.LOST, RANGES, is_for_more),
        Rule("crm_prices", "quantityTo", Keeping.LOST, RANGES, lambda draft: not is_for_more(draft) and has_end(draft)),
    ]


def is_for_more(fields: Draft | Args) -> bool:
    """A price that holds from a quantity on; that of the first range is the price of one."""
    start = fields.get("quantityFrom")
    return start is not None and float(start) > 1


def has_end(draft: Draft) -> bool:
    return draft.get("quantityTo") not in EMPTY
