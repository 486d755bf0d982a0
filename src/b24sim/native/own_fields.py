"""A custom field as its maker described it."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any

from b24sim.company.crm_fields import FLAG, Choice, Field
from b24sim.context import Context
from b24sim.native.writing import flag, listed
from b24sim.paging import whole
from b24sim.table import Row

LANGUAGES = ("ru", "en")
LONGEST_CODE = 50
CODE = re.compile(r"UF_[A-Z0-9_]+")
# The types whose settings the older methods know; they drop those of others (rest lib/userfieldproxy.php).
WITH_SETTINGS = {
    "string", "integer", "double", "boolean", "date", "datetime", "enumeration", "iblock_section", "iblock_element",
    "crm_status", "crm", "employee",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OwnField(Field):
    """A field of the CRM. Type and multiplicity stay as they were made."""

    type: str = "string"
    several: bool = False
    told: Any = None
    names: dict[str, str] = field(default_factory=dict)
    order: int = 100
    offers: tuple[Choice, ...] = ()
    more: Row = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.type

    @property
    def multiple(self) -> bool:
        return self.several

    @property
    def settings(self) -> Any:
        return self.told or []

    @property
    def labels(self) -> dict[str, str]:
        return self.names

    @property
    def sort(self) -> int:
        return self.order

    @property
    def choices(self) -> list[Choice]:
        return list(self.offers)

    @property
    def traits(self) -> Row:
        return self.more


def is_code(text: str) -> bool:
    return len(text) <= LONGEST_CODE and CODE.fullmatch(text) is not None


def own_field(context: Context, entity: str, code: str, sent: Row) -> OwnField:
    """`sent` has the names of the older methods."""
    kind = str(sent["USER_TYPE_ID"])
    offers = choices(context, sent.get("LIST")) if kind == "enumeration" else ()
    traits = {
        "XML_ID": sent.get("XML_ID"), "MANDATORY": flag(sent.get("MANDATORY")),
        "SHOW_FILTER": str(sent.get("SHOW_FILTER") or "N"), "IS_SEARCHABLE": flag(sent.get("IS_SEARCHABLE")),
    }  # fmt: skip
    return OwnField(
        context.portal.native.number("fields"),
        entity,
        code,
        FLAG if kind == "boolean" else -1,
        tuple((offer.id, offer.value) for offer in offers),
        type=kind,
        several=flag(sent.get("MULTIPLE")) == "Y",
        told=sent.get("SETTINGS") if isinstance(sent.get("SETTINGS"), dict) else {},
        names=labels(sent, code),
        order=whole(sent.get("SORT", 100)),
        offers=offers,
        more=traits,
    )


def as_older(sent: Row) -> Row:
    """The parts of a description that the older methods accept."""
    return sent if sent.get("USER_TYPE_ID") in WITH_SETTINGS else sent | {"SETTINGS": {}}


def labels(sent: Row, code: str) -> dict[str, str]:
    """One text for all languages, or one for each."""
    label = sent.get("EDIT_FORM_LABEL") or sent.get("LABEL") or code
    if isinstance(label, dict):
        return dict.fromkeys(LANGUAGES, code) | {str(name): str(text) for name, text in label.items() if text}
    return dict.fromkeys(LANGUAGES, str(label))


def choices(context: Context, sent: Any) -> tuple[Choice, ...]:
    """Options without an XML_ID get one that cannot be predicted."""
    offers = []
    for entry in listed(sent):
        if isinstance(entry, dict) and entry.get("VALUE") not in (None, ""):
            number = context.portal.native.number("options")
            xml_id = str(entry.get("XML_ID") or hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest())
            sort, default = whole(entry.get("SORT", 500)), flag(entry.get("DEF"))
            offers.append(Choice(number, str(entry["VALUE"]), sort, xml_id, default))
    return tuple(offers)
