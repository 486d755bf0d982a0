"""Requisites: their templates, the requisites of clients, bank details, addresses, and which of them records chose."""

from __future__ import annotations

from collections.abc import Sequence

from b24migrate.entities.codes import (
    COMPANY,
    CONTACT,
    DEAL,
    RECORDS_OF,
    SMART_INVOICE,
    crm_code,
    is_smart_type,
    record_of,
    type_id,
)
from b24migrate.entities.custom_fields import list_fields
from b24migrate.entities.readers import fetch_one_by_one, fetch_together, mark_unread
from b24migrate.entities.unseen import UNSEEN_COUNTED
from b24migrate.entities.user_refs import person
from b24migrate.messages import say
from b24migrate.model.answers import open_list, row_in
from b24migrate.model.errors import Permanent
from b24migrate.model.fields import ABSENT, Field, Kind, Policy, Resolve, Rest, flags, texts, times, wholes
from b24migrate.model.readings import Changes, Enrichment, Keyset, Listing, Offset
from b24migrate.model.records import Args, Json, Row, Table
from b24migrate.model.source_records import Fetch, SourceRecord
from b24migrate.model.streams import ChangeRules, CustomFields, CustomValues, Entity, Stream, Written
from b24migrate.model.values import OddValue, flag, text, whole
from b24migrate.ports import Command, Source

PRESETS, REQUISITES = "crm.requisite.preset.list", "crm.requisite.list"
BANK_DETAILS, ADDRESSES, LINKS = "crm.requisite.bankdetail.list", "crm.address.list", "crm.requisite.link.list"
PRESET_FIELDS = "crm.requisite.preset.field.list"
LEAD, QUOTE, REQUISITE = 1, 7, 8
CLIENTS = (CONTACT, COMPANY)
ADDRESS_KEY, LINK_KEY = ("ENTITY_TYPE_ID", "ENTITY_ID", "TYPE_ID"), ("ENTITY_TYPE_ID", "ENTITY_ID")
UF = "UF_"
NO_CLIENT, NO_REQUISITE = say("skip.requisite_owner"), say("skip.bank_detail_owner")
OLD_ADDRESS, OLD_LINK = say("skip.address_owner"), say("skip.requisite_link_owner")

BY_ID = Keyset("filter", "ID", {"order": {"ID": "ASC"}}, {"order": {"ID": "DESC"}})
# Empty until the first change, also in the answer (crm-requisite-get.md): what is new is found by its id.
CHANGED = Changes("DATE_MODIFY", {"order": {"DATE_MODIFY": "DESC"}}, {"select": ["ID", "DATE_MODIFY"]})
WRITTEN = (Written("CREATED_BY_ID", "DATE_CREATE"), Written("MODIFY_BY_ID", "DATE_MODIFY"))
LAST_CHANGE = frozenset({"DATE_MODIFY", "MODIFY_BY_ID"})


def kind_of(seen: SourceRecord) -> int:
    """The type of the record that it belongs to; 0 where it cannot be read, which the record is then refused for."""
    try:
        return whole(seen.payload.get("ENTITY_TYPE_ID")) or 0
    except OddValue:
        return 0


def owner(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """A client, a requisite, or a record that a requisite is chosen in."""
    if value in (None, "", 0, "0"):
        return None
    number = kind_of(seen)
    if not number:
        raise OddValue("ENTITY_TYPE_ID")
    return resolve("crm_requisites", str(value)) if number == REQUISITE else record_of(number, str(value), resolve)


def owner_type(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    return int(type_id(whole(value) or 0, resolve))


def owner_fields(*streams: str) -> tuple[Field, Field]:
    return (
        Field("ENTITY_TYPE_ID", Kind.CODED, code=owner_type, names=("crm_types",), policy=Policy.REQUIRE),
        Field("ENTITY_ID", Kind.CODED, code=owner, names=streams, policy=Policy.REQUIRE),
    )


def list_by_id(method: str, **only: Json) -> Listing:
    """All fields come where none are named, custom ones too (crm-requisite-list.md)."""
    return Listing(method, BY_ID, params={"filter": only} if only else {}, changes=CHANGED)


def by_id(method: str, **only: Json) -> Fetch:
    return fetch_together(method, lambda ids: {"filter": {**only, "@ID": ids if isinstance(ids, list) else [ids]}})


def list_by_owner(method: str, key: Sequence[str]) -> Listing:
    """Without an id and without dates: all of them, in an order in which no two are equal."""
    return Listing(method, Offset(), params={"order": dict.fromkeys(key, "ASC")}, id=":".join(key))


def by_owner(method: str, key: Sequence[str]) -> Fetch:
    def asked(row_key: str) -> Args:
        return {"filter": dict(zip(key, row_key.split(":", len(key) - 1), strict=True))}  # an odd one may have more

    return fetch_one_by_one(method, asked, id_field=":".join(key))


# ---------------------------------------------------------------- templates


def read_fields(source: Source, rows: Sequence[Row]) -> list[Row]:
    """The fields of each template. One that is deleted meanwhile is refused."""
    answers = source.batch([Command(PRESET_FIELDS, {"preset": {"ID": row.source_id}}) for row in rows])
    done = []
    for row, answer in zip(rows, answers, strict=True):
        if isinstance(answer.error, Permanent):
            done.append(mark_unread(row, say("part.preset_fields"), answer.error))
            continue
        found = [row_in(raw, PRESET_FIELDS) for raw in open_list(answer.require(), (), PRESET_FIELDS).items]
        done.append(row._replace(extras={**(row.extras or {}), "fields": found}))
    return done


def fields_of(seen: SourceRecord) -> Json:
    return seen.extras.get("fields", ABSENT)


def preset_field(_: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """A custom field that the target does not have is omitted."""
    name = text(value.get("FIELD_NAME")) if isinstance(value, dict) else None
    if not name:
        raise OddValue("fields")
    code = resolve.field(name) if name.startswith(UF) else name
    if code is None:
        return None
    return {
        "FIELD_NAME": code,
        "FIELD_TITLE": text(value.get("FIELD_TITLE")),
        "SORT": whole(value.get("SORT")),
        "IN_SHORT_LIST": flag(value.get("IN_SHORT_LIST")),
    }


crm_requisite_presets = Stream(
    name="crm_requisite_presets",
    table=Table("CrmRequisitePresets", "crm_requisite_presets"),
    read=(
        Listing(
            PRESETS,
            Offset(),
            params={"order": {"ID": "ASC"}},
            enrich=Enrichment(read_fields, "crm"),
        ),
    ),
    fields=(
        *texts("NAME"),
        *wholes("COUNTRY_ID"),
        *flags("ACTIVE"),
        *wholes("SORT"),
        *texts("XML_ID"),
        Field("fields", Kind.CODED, take=fields_of, code=preset_field),
    ),
    stamp="DATE_CREATE",
    changes=ChangeRules(noted_in=LAST_CHANGE),
    written=WRITTEN,
    adopted=lambda _: True,
    fetch=by_id(PRESETS),
)

# ---------------------------------------------------------------- requisites and bank details

COMMON = (
    *texts("NAME"),
    *flags("ACTIVE"),
    *wholes("SORT"),
    *texts("XML_ID"),
    *texts("CODE", "ORIGINATOR_ID", beyond=True),
    *times("DATE_CREATE", "DATE_MODIFY"),
    person("CREATED_BY_ID", Policy.PLACEHOLDER),
    person("MODIFY_BY_ID"),
)


def without_client(seen: SourceRecord) -> str | None:
    """A requisite belongs to a contact or a company (crm-requisite-add.md)."""
    return None if kind_of(seen) in (0, *CLIENTS) else NO_CLIENT


crm_requisites = Stream(
    name="crm_requisites",
    table=Table("CrmRequisites", "crm_requisites"),
    read=(list_by_id(REQUISITES),),
    fields=(
        *owner_fields("crm_contacts", "crm_companies"),
        Field("PRESET_ID", Kind.REF, to="crm_requisite_presets", policy=Policy.REQUIRE),
        *COMMON,
        *flags("ADDRESS_ONLY"),
    ),
    rest=Rest(("RQ_",)),
    stamp="DATE_CREATE",
    changes=ChangeRules(noted_in=LAST_CHANGE),
    written=WRITTEN,
    exclude=without_client,
    fetch=by_id(REQUISITES),
    covered=("ENTITY_ID", "PRESET_ID"),
    custom=CustomValues((UF,)),
    title=("NAME", "RQ_COMPANY_NAME", "RQ_LAST_NAME", "RQ_FIRST_NAME"),
    unseen=(UNSEEN_COUNTED,),
)


def without_requisite(seen: SourceRecord) -> str | None:
    """Some portals name the type of the owner (crm-requisite-bank-detail-get.md); it can only be a requisite."""
    return None if kind_of(seen) in (0, REQUISITE) else NO_REQUISITE


# Those of requisites in the recycle bin are listed with the others, by another type of owner, which no answer shows
# (kernel crm 24.1300, RequisiteControllerMixin and EntityBankDetail::getFieldsInfo).
crm_bank_details = Stream(
    name="crm_bank_details",
    table=Table("CrmBankDetails", "crm_bank_details"),
    read=(list_by_id(BANK_DETAILS, ENTITY_TYPE_ID=REQUISITE),),
    fields=(
        Field("ENTITY_ID", Kind.REF, to="crm_requisites", policy=Policy.REQUIRE),
        *wholes("COUNTRY_ID"),
        *COMMON,
        *texts("COMMENTS"),
    ),
    rest=Rest(("RQ_",)),
    stamp="DATE_CREATE",
    changes=ChangeRules(noted_in=LAST_CHANGE),
    written=WRITTEN,
    exclude=without_requisite,
    fetch=by_id(BANK_DETAILS, ENTITY_TYPE_ID=REQUISITE),
    covered=("ENTITY_ID",),
    unseen=(UNSEEN_COUNTED,),
    title=("NAME", "RQ_BANK_NAME"),
)

# ---------------------------------------------------------------- addresses


def anchor(seen: SourceRecord, value: Json, resolve: Resolve) -> Json:
    """The client or lead that an address is shown with."""
    number = whole(seen.payload.get("ANCHOR_TYPE_ID")) or 0
    return None if value in (None, "", 0, "0") or number not in RECORDS_OF else record_of(number, str(value), resolve)


def old_address(seen: SourceRecord) -> str | None:
    """Of requisites and leads; old portals may keep some of clients themselves (crm-address-list.md)."""
    return None if kind_of(seen) in (0, REQUISITE, LEAD) else OLD_ADDRESS


crm_addresses = Stream(
    name="crm_addresses",
    table=Table("CrmAddresses", "crm_addresses"),
    read=(list_by_owner(ADDRESSES, ADDRESS_KEY),),
    fields=(
        *owner_fields("crm_requisites", RECORDS_OF[LEAD]),
        *wholes("TYPE_ID", "ANCHOR_TYPE_ID"),
        Field(
            "ANCHOR_ID",
            Kind.CODED,
            code=anchor,
            names=("crm_contacts", "crm_companies", RECORDS_OF[LEAD]),
            policy=Policy.EXISTING,
        ),
        *texts("ADDRESS_1", "ADDRESS_2", "CITY", "POSTAL_CODE", "REGION", "PROVINCE", "COUNTRY", "COUNTRY_CODE"),
    ),
    exclude=old_address,
    fetch=by_owner(ADDRESSES, ADDRESS_KEY),
    covered=("ENTITY_ID",),
    title=("CITY", "ADDRESS_1", "ADDRESS_2"),
)

# ---------------------------------------------------------------- what records chose


def chosen(name: str, to: str) -> Field:
    """`"0"` means that there is none."""
    return Field(name, Kind.REF, to=to, policy=Policy.EXISTING)


def old_owner(seen: SourceRecord) -> str | None:
    """Old invoices, for one, are not migrated (crm-requisite-link-list.md)."""
    number = kind_of(seen)
    return None if number in (0, DEAL, QUOTE, SMART_INVOICE) or is_smart_type(number) else OLD_LINK


crm_requisite_links = Stream(
    name="crm_requisite_links",
    table=Table("CrmRequisiteLinks", "crm_requisite_links"),
    read=(list_by_owner(LINKS, LINK_KEY),),
    fields=(
        *owner_fields("crm_deals", RECORDS_OF[QUOTE], RECORDS_OF[SMART_INVOICE], "crm_spitems"),
        chosen("REQUISITE_ID", "crm_requisites"),
        chosen("BANK_DETAIL_ID", "crm_bank_details"),
        chosen("MC_REQUISITE_ID", "crm_requisites"),
        chosen("MC_BANK_DETAIL_ID", "crm_bank_details"),
    ),
    exclude=old_owner,
    fetch=by_owner(LINKS, LINK_KEY),
    covered=("ENTITY_ID",),
)

NOTHING = {"filter": {"<ID": 1}, "start": -1}
NOBODY = {"filter": {"<ENTITY_ID": 1}, "start": -1}

ENTITIES = (
    Entity(
        name="crm_requisites",
        wire="crm",
        scopes=("crm",),
        needs_admin=True,
        optional=True,
        streams=(crm_requisite_presets, crm_requisites, crm_bank_details, crm_addresses, crm_requisite_links),
        custom_fields=CustomFields(
            "crm_requisites", "crm", list_fields("crm.requisite.userfield.list"), codes=crm_code
        ),
        probes={PRESETS: NOTHING, REQUISITES: NOTHING, BANK_DETAILS: NOTHING, ADDRESSES: NOBODY, LINKS: NOBODY},
    ),
)
