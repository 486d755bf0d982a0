"""Fields that items of the CRM share: links, stages, clients, amounts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from b24migrate.entities.codes import (
    DEAL,
    OWNER_STREAMS,
    STAGE_CODES,
    dictionary_entry,
    pipeline,
    record_of,
    stage_dictionary,
    type_id,
)
from b24migrate.entities.crm.reader import (
    FILE_KIND,
    files_of,
    product_rows,
)
from b24migrate.entities.user_refs import person
from b24migrate.model.fields import (
    ABSENT,
    EMPTIED,
    Code,
    Field,
    Kind,
    Policy,
    Resolve,
    Take,
    Unresolved,
    days,
    flags,
    texts,
    times,
)
from b24migrate.model.records import Args, Json
from b24migrate.model.source_records import SourceRecord


def kind_of(seen: SourceRecord, number: int) -> int:
    """The type of an item: of a smart process it is in its id."""
    return number or int(seen.parent)


def category(number: int) -> Code:
    def code(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
        kind = kind_of(seen, number)
        if value in (None, "") or (kind != DEAL and str(value) == "0"):
            return None
        return pipeline(kind, str(value), resolve)

    return code


def stage(number: int) -> Code:
    """By what the target calls it, were it there already under the same name."""

    def code(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
        if value in (None, ""):
            return None
        return resolve(
            STAGE_CODES, f"{stage_dictionary(kind_of(seen, number), seen.payload.get('categoryId'))}:{value}"
        )

    return code


def parents(seen: SourceRecord) -> Args:
    return {
        name: value
        for name, value in seen.payload.items()
        if name.startswith("parentId") and name[len("parentId") :].isdecimal()
    }


def parent(seen: SourceRecord, pair: Json, resolve: Resolve) -> Args:
    """Both sides: the parent's type in the name, and the parent itself. One that it had before is taken away."""
    name, value = pair
    number = int(name.removeprefix("parentId"))
    if value not in (None, "", 0, "0"):
        return {f"parentId{type_id(number, resolve)}": record_of(number, str(value), resolve)}
    try:
        return {f"parentId{type_id(number, resolve)}": None} if name in seen.extras.get(EMPTIED, ()) else {}
    except Unresolved:  # of a type that the target does not have there is no parent either
        return {}


def picture(name: str) -> Take:
    def take(seen: SourceRecord) -> Json:
        if name not in seen.payload:
            return ABSENT
        return [ref.key for ref in files_of(seen) if ref.key in set(keys_in(seen.payload[name]))]

    return take


def keys_in(value: Json) -> Iterable[str]:
    many = value if isinstance(value, list) else [value]
    return (f"{FILE_KIND}:{one['id']}" for one in many if isinstance(one, dict) and one.get("id"))


def link_field(name: str, to: str, kind: Kind = Kind.REFS) -> Field:
    """A link to another record of the CRM: required where the source has it, dropped where it has it no longer."""
    return Field(name, kind, take=take_bound(name), to=to, policy=Policy.EXISTING, undated=True)


def take_bound(name: str) -> Take:
    """By the record itself, or by another method if the record has the first one only."""
    return lambda seen: seen.payload.get(name, seen.extras.get(name, ABSENT))


def late_link(name: str, to: str) -> Field:
    """A link that is written last. A record without one is not sent twice."""

    def take(seen: SourceRecord) -> Json:
        value = seen.payload.get(name)
        return ABSENT if value in (None, "", 0, "0") else value

    return replace(link_field(name, to, Kind.REF), take=take, late=True)


PEOPLE = (
    person("assignedById", Policy.PLACEHOLDER),
    person("createdBy", Policy.PLACEHOLDER),
    person("updatedBy"),
    person("movedBy"),
    Field("observers", Kind.REFS, to="users"),
)
EVERY = (
    *PEOPLE,
    *times("createdTime", "updatedTime", "movedTime"),
    *flags("opened"),
    Field("comments", Kind.RICH),
    Field("sourceId", Kind.CODED, code=dictionary_entry("SOURCE"), names=("crm_stages",)),
    Field("sourceDescription", Kind.RICH, beyond=True),
    *texts("originatorId", "originId", "xmlId", beyond=True),
)
UTM = ("utmSource", "utmMedium", "utmCampaign", "utmContent", "utmTerm")
CLIENTS = (
    link_field("companyId", "crm_companies", Kind.REF),
    replace(link_field("contactId", "crm_contacts", Kind.REF), beyond=True),
    link_field("contactIds", "crm_contacts"),
)
AMOUNT = (Field("opportunity", Kind.NUMBER), *texts("currencyId"), *flags("isManualOpportunity"))
# Rows keep their name and price without the product. Targets of the first contract know neither product nor discount.
SOLD = Field(
    "productRows",
    Kind.ROWS,
    take=product_rows,
    inside={"productId": "crm_products"},
    beyond_keys=frozenset({"productId", "discountTypeId", "discountSum"}),
    unless="crm_products",
)
MONEY = (*AMOUNT, *days("begindate", "closedate"), SOLD)
# The relations of a deleted record are removed in a table of their own (kernel crm, Cleaning\Cleaner::cleanup and
# Model\Dynamic\PrototypeItem::onAfterDelete).
PARENTS = Field("parentId", Kind.FAMILY, take=parents, code=parent, names=OWNER_STREAMS, undated=True)
# A deal may have a parent among the items of smart processes, which come after the deals.
LATER_PARENTS = replace(PARENTS, late=True, beyond=True)
# The lead that became the client; a lead names its clients too, so this link is written last.
FROM_LEAD = late_link("leadId", "crm_leads")


def in_category(number: int) -> Field:
    return Field("categoryId", Kind.CODED, code=category(number), names=("crm_categories",), policy=Policy.REQUIRE)


def in_stage(number: int) -> Field:
    return Field("stageId", Kind.CODED, code=stage(number), names=("crm_stages",), policy=Policy.REQUIRE)


def place_fields(number: int) -> tuple[Field, ...]:
    return in_category(number), in_stage(number)


def type_field(name: str, dictionary: str) -> Field:
    return Field(name, Kind.CODED, code=dictionary_entry(dictionary), names=("crm_stages",), beyond=True)
