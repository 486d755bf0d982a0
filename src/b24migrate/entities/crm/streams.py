"""Companies, contacts, deals and items of smart processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from b24migrate.entities import probes
from b24migrate.entities.codes import (
    COMPANY,
    CONTACT,
    DEAL,
    STAGE_CODES,
    crm_code,
    type_id,
)
from b24migrate.entities.crm.fields import (
    CLIENTS,
    EVERY,
    FROM_LEAD,
    LATER_PARENTS,
    MONEY,
    PARENTS,
    UTM,
    in_category,
    late_link,
    link_field,
    picture,
    place_fields,
    type_field,
)
from b24migrate.entities.crm.reader import (
    FILE_KIND,
    MODERN,
    MULTIFIELDS,
    OWNERS_OF_ROWS,
    by_id,
    drop_tokens,
    emails,
    files_of,
    find_refused,
    items,
    legacy,
    legacy_contacts,
    legacy_sold,
    modern_names,
    multifields,
    refetch_items,
    refetch_legacy,
    refetch_smart_items,
    smart_items,
    type_number,
)
from b24migrate.entities.custom_fields import list_fields, type_fields
from b24migrate.entities.readers import fetch_either
from b24migrate.entities.unseen import UNSEEN_COUNTED
from b24migrate.messages import say
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Resolve, flags, texts
from b24migrate.model.readings import Each, Listing
from b24migrate.model.records import Json, Table
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import (
    ChangeRules,
    CustomFields,
    CustomValues,
    DeletionRules,
    Entity,
    Mention,
    Stream,
    Written,
)
from b24migrate.model.values import flag

# Fields that change without an edit of the record: the last activity, and marks that the portal computes
# (api-reference/crm/universal/crm-item-get.md).
VOLATILE = frozenset(
    {"lastActivityBy", "lastActivityTime", "lastCommunicationTime", "stageSemanticId"}
    | {"isReturnCustomer", "isRepeatedApproach", "isNew"}
)
LAST_CHANGE = frozenset({"updatedTime", "updatedBy"})
WRITTEN = (Written("createdBy", "createdTime"), Written("updatedBy", "updatedTime"))
UF = ("UF_", "uf")
RECURRING = say("skip.recurring")
UNSEEN_LINKS, UNSEEN_ROWS = say("delta.unseen.crm_links"), say("delta.unseen.product_rows")
LINKED = frozenset({COMPANY, CONTACT})  # to each other, in the cards of both


def item_stream(
    name: str,
    table: str,
    *,
    number: int,
    page: str,
    fields: tuple[Field, ...],
    fallback: Listing | None = None,
    title: tuple[str, ...] = ("title", "TITLE"),
    exclude: Callable[[SourceRecord], str | None] | None = None,
    mentions: tuple[Mention, ...] = (),
) -> Stream:
    """A kind of record that every portal has."""
    modern = Listing("crm.item.list", by_id("id", "filter"), items=("items",), id="id", **items(number))
    fetch = refetch_items(number)
    return Stream(
        name=name,
        table=Table(table, name),
        read=(modern,) if fallback is None else (fallback, modern),
        fields=fields,
        stamp="createdTime",
        changes=ChangeRules(whole_payload=True, volatile=VOLATILE, noted_in=LAST_CHANGE, lasting=drop_tokens),
        written=WRITTEN,
        view=modern_names,
        files=lambda seen: files_of(seen, number),
        exclude=exclude,
        fetch=fetch if fallback is None else fetch_either(fetch, refetch_legacy(fallback)),
        deletions=DeletionRules(refused=find_refused(number)),
        mentions=(Mention(rf"/crm/{page}/(?:details|show)/(\d+)(?=/?(?:[^\w/?&#-]|$))", link=True), *mentions),
        covered=("companyId", "companyIds", "contactIds"),
        custom=CustomValues(UF, late_types=frozenset({"crm"})),
        title=title,
        emails=emails,
        unseen=(
            *([UNSEEN_LINKS] if number in LINKED else []),
            *([UNSEEN_ROWS] if number in OWNERS_OF_ROWS else []),
            UNSEEN_COUNTED,
        ),
    )


crm_companies = item_stream(
    "crm_companies",
    "CrmCompanies",
    number=COMPANY,
    fallback=legacy("crm.company.list", MULTIFIELDS),
    page="company",
    fields=(
        *texts("title"),
        *EVERY,
        *texts(*UTM, beyond=True),
        in_category(COMPANY),
        Field("fm", Kind.AS_IS, take=multifields),
        type_field("typeId", "COMPANY_TYPE"),
        type_field("industry", "INDUSTRY"),
        type_field("employees", "EMPLOYEES"),
        Field("revenue", Kind.NUMBER, beyond=True),
        *texts("currencyId"),
        *texts("bankingDetails", beyond=True),
        *flags("isMyCompany", beyond=True),
        Field("logo", Kind.FILE, take=picture("logo"), beyond=True),
        FROM_LEAD,
        LATER_PARENTS,
    ),
)

crm_contacts = item_stream(
    "crm_contacts",
    "CrmContacts",
    number=CONTACT,
    fallback=legacy_contacts(),
    title=("name", "NAME", "secondName", "SECOND_NAME", "lastName", "LAST_NAME"),
    page="contact",
    fields=(
        *texts("name", "lastName", "secondName"),
        *texts("post", beyond=True),
        *EVERY,
        *texts(*UTM, beyond=True),
        link_field("companyId", "crm_companies", Kind.REF),
        link_field("companyIds", "crm_companies"),
        in_category(CONTACT),
        Field("fm", Kind.AS_IS, take=multifields),
        type_field("honorific", "HONORIFIC"),
        type_field("typeId", "CONTACT_TYPE"),
        Field("birthdate", Kind.DAY, beyond=True),
        *flags("export", beyond=True),
        Field("photo", Kind.FILE, take=picture("photo"), beyond=True),
        FROM_LEAD,
        LATER_PARENTS,
    ),
)


def recurring_template(seen: SourceRecord) -> str | None:
    """`crm.item.list` shows the templates of recurring deals among the deals, `crm.deal.list` does not. On the box one
    would look like a deal (api-reference/crm/deals/recurring-deals), unless it comes with its schedule."""
    return RECURRING if flag(seen.payload.get("isRecurring")) else None


crm_deals = item_stream(
    "crm_deals",
    "CrmDeals",
    number=DEAL,
    fallback=legacy_sold("crm.deal", "D"),
    page="deal",
    exclude=recurring_template,
    fields=(
        *texts("title"),
        *EVERY,
        *(Field(name, beyond=True, unless="crm_leads") for name in UTM),
        *CLIENTS,
        link_field("leadId", "crm_leads", Kind.REF),
        late_link("quoteId", "crm_quotes"),  # a quote names its deal too
        *place_fields(DEAL),
        *MONEY,
        *flags("closed"),
        *flags("isReturnCustomer", beyond=True),
        Field("isRecurring", Kind.FLAG, take=lambda seen: True if recurring_template(seen) else ABSENT, beyond=True),
        type_field("typeId", "DEAL_TYPE"),
        Field("probability", Kind.NUMBER, beyond=True),
        LATER_PARENTS,
    ),
)


def smart_type(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    return type_id(int(value), resolve)


# Of the types that every portal has, quotes and invoices have such pages too.
SMART_PAGE = r"/crm/type/(?!(?:7|31)/)(\d+)/(?:details|show)/(\d+)(?=/?(?:[^\w/?&#-]|$))"
crm_spitems = Stream(
    name="crm_spitems",
    table=Table("CrmSpItems", "crm_spitems"),
    read=(
        Each(
            of="crm_types",
            method="crm.item.list",
            listing=smart_items,
            prefix=lambda kind: str(type_number(kind)),
        ),
    ),
    fields=(
        Field(
            "entityTypeId",
            Kind.CODED,
            take=lambda seen: seen.parent,
            code=smart_type,
            names=("crm_types",),
            policy=Policy.REQUIRE,
        ),
        *texts("title"),
        *EVERY,
        *texts(*UTM, beyond=True),
        *CLIENTS,
        *place_fields(0),
        *MONEY,
        Field("fm", Kind.AS_IS, take=lambda seen: multifields(seen) or ABSENT),
        replace(PARENTS, policy=Policy.EXISTING, waits=True),
    ),
    stamp="createdTime",
    changes=ChangeRules(whole_payload=True, volatile=VOLATILE, noted_in=LAST_CHANGE, lasting=drop_tokens),
    written=WRITTEN,
    files=files_of,
    fetch=refetch_smart_items,
    deletions=DeletionRules(refused=find_refused()),
    mentions=(Mention(SMART_PAGE, link=True),),
    covered=("companyId", "contactIds", "parentId"),
    custom=CustomValues(UF, late_types=frozenset({"crm"})),
    title=("title",),
    emails=emails,
    unseen=(UNSEEN_ROWS, UNSEEN_COUNTED),
)


def entity(stream: Stream, method: str) -> Entity:
    fields = CustomFields(
        stream.name, "crm", list_fields(method), files=FILE_KIND, codes=crm_code, statuses=STAGE_CODES
    )
    return Entity(
        name=stream.name,
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(stream,),
        custom_fields=fields,
        probes={MODERN: {"entityTypeId": 2, "filter": {"<id": 1}, "select": ["id"], "start": -1}},
        habits=(probes.crm,),
    )


def item_entity(stream: Stream, number: int, methods: str, *, optional_scopes: Mapping[str, str] = {}) -> Entity:
    """Of records that a target need not take; `methods` is `crm.lead`."""
    fields = CustomFields(
        stream.name,
        "crm",
        list_fields(f"{methods}.userfield.list"),
        files=FILE_KIND,
        codes=crm_code,
        statuses=STAGE_CODES,
    )
    return Entity(
        name=stream.name,
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        optional=True,
        streams=(stream,),
        optional_scopes=optional_scopes,
        custom_fields=fields,
        probes={
            MODERN: {"entityTypeId": number, "filter": {"<id": 1}, "select": ["id"], "start": -1},
            f"{methods}.list": {"filter": {"<ID": 1}, "select": ["ID"], "start": -1},
        },
        habits=(probes.crm,),
    )


ENTITIES = (
    entity(crm_companies, "crm.company.userfield.list"),
    entity(crm_contacts, "crm.contact.userfield.list"),
    entity(crm_deals, "crm.deal.userfield.list"),
    Entity(
        name="crm_spitems",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        streams=(crm_spitems,),
        optional_scopes={"userfieldconfig": say("loss.sp_fields")},
        custom_fields=CustomFields(
            "crm_spitems",
            "userfieldconfig",
            type_fields("crm_types"),
            files=FILE_KIND,
            codes=crm_code,
            statuses=STAGE_CODES,
            types="crm_types",
        ),
        habits=(probes.crm,),
    ),
)
