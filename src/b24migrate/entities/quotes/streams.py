"""Quotes, which the portal calls estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from b24migrate.entities.codes import QUOTE
from b24migrate.entities.crm.fields import CLIENTS, EVERY, LATER_PARENTS, MONEY, UTM, in_stage, link_field
from b24migrate.entities.crm.reader import files_of, legacy_sold
from b24migrate.entities.crm.streams import UNSEEN_ROWS, item_entity, item_stream
from b24migrate.entities.files import shown_file
from b24migrate.entities.unseen import UNSEEN_COUNTED, UNSEEN_VERSIONS
from b24migrate.messages import say
from b24migrate.model.fields import ABSENT, Field, Kind, days, flags, texts, wholes
from b24migrate.model.records import Json
from b24migrate.model.source_records import FileRef, SourceRecord
from b24migrate.model.streams import Mention
from b24migrate.model.values import references

DISK, ELSEWHERE = "disk", "quote"  # kinds of files
ON_DRIVE = "3"
CLIENT_TEXTS = ("clientTitle", "clientAddr", "clientContact", "clientEmail", "clientPhone", "clientTpId", "clientTpaId")


def attached(seen: SourceRecord) -> list[FileRef]:
    """The files of a quote are Drive objects, unless it says that they are kept in another way: then their ids are
    others, and no method gives them (`storageTypeId` of api-reference/crm/universal/crm-item-add.md)."""
    kind = DISK if str(seen.payload.get("storageTypeId") or ON_DRIVE) == ON_DRIVE else ELSEWHERE
    return [FileRef(kind, number) for number in references(seen.payload.get("storageElementIds"))]


def files(seen: SourceRecord) -> Iterator[FileRef]:
    yield from files_of(seen, QUOTE)
    yield from (one for one in attached(seen) if one.kind == DISK)


def attached_keys(seen: SourceRecord) -> Json:
    return [one.key for one in attached(seen)] if "storageElementIds" in seen.payload else ABSENT


crm_quotes = replace(
    item_stream(
        "crm_quotes",
        "CrmQuotes",
        number=QUOTE,
        fallback=legacy_sold("crm.quote", "Q"),
        page="quote",
        fields=(
            *texts("title", "quoteNumber"),
            *EVERY,
            *texts(*UTM),
            *CLIENTS,
            link_field("leadId", "crm_leads", Kind.REF),
            link_field("dealId", "crm_deals", Kind.REF),
            replace(link_field("mycompanyId", "crm_companies", Kind.REF), beyond=True),
            in_stage(QUOTE),
            *MONEY,
            *days("actualDate"),
            *flags("closed"),
            Field("content", Kind.RICH),
            Field("terms", Kind.RICH),
            *(replace(one, beyond=True) for one in wholes("commentsType", "contentType", "termsType")),
            *texts(*CLIENT_TEXTS, beyond=True),
            Field("storageElementIds", Kind.FILES, take=attached_keys),
            LATER_PARENTS,
        ),
        mentions=(
            Mention(r"/crm/type/7/(?:details|show)/(\d+)(?=/?(?:[^\w/?&#-]|$))", link=True),
            shown_file("crm_quotes", QUOTE),
        ),
    ),
    files=files,
    unseen=(UNSEEN_ROWS, UNSEEN_COUNTED, UNSEEN_VERSIONS),
)

ENTITIES = (item_entity(crm_quotes, QUOTE, "crm.quote", optional_scopes={"disk": say("loss.quote_files")}),)
