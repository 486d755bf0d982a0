"""Requisites of a company's clients: templates, the requisites themselves, bank details, addresses, and which of them
deals and items of smart processes chose. A company has as many as its plan says; every box has the stock templates."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from b24sim.company.chance import chance
from b24sim.company.crm_deals import is_template
from b24sim.company.crm_fields import FLAG, MOMENT, NUMBER, TEXT, Field
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, spread, spread_at
from b24sim.company.crm_world import Times, one_of, place_of
from b24sim.table import Row, Table

if TYPE_CHECKING:
    from b24sim.company.crm import Crm

REQUISITE, SUSPENDED_REQUISITE = 8, 26
ENTITY = "CRM_REQUISITE"
RUSSIA, UKRAINE = 1, 14
PRIMARY, REGISTERED = 1, 6  # types of addresses (crm-enum-address-type.md)
# crm-requisite-get.md, crm-requisite-bank-detail-get.md: every field is in every answer
COMPANY_FIELDS = ("COMPANY_NAME", "COMPANY_FULL_NAME", "INN", "KPP", "OGRN", "DIRECTOR", "ACCOUNTANT")
PERSON_FIELDS = ("LAST_NAME", "FIRST_NAME", "SECOND_NAME", "INN", "IDENT_DOC", "IDENT_DOC_NUM")
RQ_FIELDS = tuple(
    f"RQ_{name}"
    for name in (
        *("NAME", "FIRST_NAME", "LAST_NAME", "SECOND_NAME", "COMPANY_ID", "COMPANY_NAME", "COMPANY_FULL_NAME"),
        *("COMPANY_REG_DATE", "DIRECTOR", "ACCOUNTANT", "CEO_NAME", "CEO_WORK_POS", "CONTACT", "EMAIL", "PHONE", "FAX"),
        *("IDENT_TYPE", "IDENT_DOC", "IDENT_DOC_SER", "IDENT_DOC_NUM", "IDENT_DOC_PERS_NUM", "IDENT_DOC_DATE"),
        *("IDENT_DOC_ISSUED_BY", "IDENT_DOC_DEP_CODE", "INN", "KPP", "USRLE", "IFNS", "OGRN", "OGRNIP", "OKPO"),
        *("OKTMO", "OKVED", "EDRPOU", "DRFO", "KBE", "IIN", "BIN", "ST_CERT_SER", "ST_CERT_NUM", "ST_CERT_DATE"),
        *("VAT_PAYER", "VAT_ID", "VAT_CERT_SER", "VAT_CERT_NUM", "VAT_CERT_DATE", "RESIDENCE_COUNTRY", "BASE_DOC"),
        *("REGON", "KRS", "PESEL", "LEGAL_FORM", "SIRET", "SIREN", "CAPITAL", "RCS", "CNPJ", "STATE_REG", "MNPL_REG"),
        "CPF",
    )
)
BANK_FIELDS = tuple(
    f"RQ_{name}"
    for name in (
        *("BANK_NAME", "BANK_CODE", "BANK_ADDR", "BANK_ROUTE_NUM", "BIK", "MFO", "ACC_NAME", "ACC_NUM", "ACC_TYPE"),
        *("IIK", "ACC_CURRENCY", "COR_ACC_NUM", "IBAN", "SWIFT", "BIC", "CODEB", "CODEG", "RIB", "AGENCY_NAME"),
    )
)
ADDRESS_FIELDS = ("ADDRESS_1", "ADDRESS_2", "CITY", "POSTAL_CODE", "REGION", "PROVINCE", "COUNTRY", "COUNTRY_CODE")
LINK_FIELDS = ("REQUISITE_ID", "BANK_DETAIL_ID", "MC_REQUISITE_ID", "MC_BANK_DETAIL_ID")
# name, country, external code, names of fields
STOCK = (
    ("Организация", RUSSIA, "#CRM_REQUISITE_PRESET_DEF_RU_COMPANY#", COMPANY_FIELDS),
    ("ИП", RUSSIA, "#CRM_REQUISITE_PRESET_DEF_RU_INDIVIDUAL#", (*PERSON_FIELDS, "OGRNIP")),
    ("Физ. лицо", RUSSIA, "#CRM_REQUISITE_PRESET_DEF_RU_PERSON#", PERSON_FIELDS),
)
OWN = (
    ("Филиал <№ 2> & Ко", RUSSIA, None, ("COMPANY_NAME", "INN", "KPP")),
    ("Організація", UKRAINE, "", ("COMPANY_NAME", "EDRPOU", "VAT_PAYER")),
)
FIRST_FIELD = 240
PURPOSES = (TEXT, NUMBER, FLAG, MOMENT)  # the types that requisites have (crm-requisite-userfield-list.md)
LINKED_EVERY = 3
KEYS = {
    "crm_addresses": ("ENTITY_TYPE_ID", "ENTITY_ID", "TYPE_ID"),
    "crm_requisite_links": ("ENTITY_TYPE_ID", "ENTITY_ID"),
}


def key_of(stream: str, row: Row) -> str:
    """Records without an id are called by what they belong to."""
    return ":".join(str(row[name]) for name in KEYS.get(stream, ("ID",)))


class Requisites:
    """Tables by number. What has no id of its own has one here that no method returns."""

    def __init__(self, crm: "Crm", count: int, *, box: bool = False) -> None:
        self.crm = crm
        self.count = count
        # What went with something else: streams and keys of records, and of links that named them.
        self.gone: list[tuple[str, str]] = []
        self.unlinked: list[str] = []
        self.recycled_accounts: dict[int, Row] = {}
        presets = (*STOCK, *OWN) if count else STOCK if box else ()
        self.fields = [_field(purpose) for purpose in PURPOSES] if count else []
        self.presets = Table(spread(len(presets)), lambda number: self._preset(presets, number))
        self.preset_fields = {
            number: list(_preset_fields(presets[place][3], self.fields if place % 2 else ()))
            for place, number in enumerate(self.presets)
        }
        self.requisites = Table(spread(count), self._requisite)
        self.bank_details = Table(spread(count // 2), self._bank_detail)
        self.addresses = Table(range(1, count + 1 + count // 2), self._address)
        chosen = list(self._choosing()) if count else []
        self.links = Table(range(1, len(chosen) + 1), lambda number: self._link(*chosen[number - 1]))

    @cached_property
    def by_client(self) -> dict[tuple[int, int], list[int]]:
        """The requisites that clients began with."""
        found: dict[tuple[int, int], list[int]] = {}
        for number in spread(self.count):
            found.setdefault(self._client(number), []).append(number)
        return found

    @cached_property
    def accounts(self) -> dict[int, int]:
        """The bank details that requisites began with."""
        return {spread_at(2 * place_of(one)): one for one in spread(self.count // 2)}

    @property
    def tables(self) -> dict[str, Table]:
        return {
            "crm_requisite_presets": self.presets,
            "crm_requisites": self.requisites,
            "crm_bank_details": self.bank_details,
            "crm_addresses": self.addresses,
            "crm_requisite_links": self.links,
        }

    # ------------------------------------------------------------ what is deleted with something else

    def forget_record(self, entity_type_id: int, number: int) -> None:
        """The requisites of a client go with it, and so does what another record chose."""
        gone = (str(entity_type_id), str(number))
        for one in _of_owner(self.requisites, *gone):
            self._recycle_accounts(one)
            self.forget_requisite(one)
        for one in _of_owner(self.addresses, *gone):
            self._remove("crm_addresses", one)
        for one in _of_owner(self.links, *gone):
            self._remove("crm_requisite_links", one)

    def listed_accounts(self) -> Table:
        """Bank details of requisites in the recycle bin are listed like all others, by a type of owner that no answer
        shows (kernel crm 24.1300, RequisiteControllerMixin, EntityBankDetail::getFieldsInfo)."""
        if not self.recycled_accounts:
            return self.bank_details
        every = Table([], lambda _number: {})
        for number in self.bank_details:
            every.put(number, self.bank_details.row(number))
        for number, row in self.recycled_accounts.items():
            every.put(number, row)
        return every

    def _recycle_accounts(self, requisite: int) -> None:
        for one in self.bank_details:
            row = self.bank_details.row(one)
            if row["ENTITY_ID"] == str(requisite):
                self.recycled_accounts[one] = row | {"_ENTITY_TYPE_ID": str(SUSPENDED_REQUISITE)}

    def forget_requisite(self, number: int) -> None:
        """With all that belongs to it (crm-requisite-delete.md); links name it no more."""
        self._remove("crm_requisites", number)
        for one in [one for one in self.bank_details if self.bank_details.row(one)["ENTITY_ID"] == str(number)]:
            self._remove("crm_bank_details", one)
            self._unlink(("BANK_DETAIL_ID", "MC_BANK_DETAIL_ID"), one)
        for one in _of_owner(self.addresses, str(REQUISITE), str(number)):
            self._remove("crm_addresses", one)
        self._unlink(("REQUISITE_ID", "MC_REQUISITE_ID"), number)

    def forget_bank_detail(self, number: int) -> None:
        self.bank_details.remove(number)
        self._unlink(("BANK_DETAIL_ID", "MC_BANK_DETAIL_ID"), number)

    def _remove(self, stream: str, number: int) -> None:
        table = self.tables[stream]
        self.gone.append((stream, key_of(stream, table.row(number))))
        table.remove(number)

    def _unlink(self, names: Sequence[str], number: int) -> None:
        for one in list(self.links):
            row = self.links.row(one)
            named = [name for name in names if row[name] == str(number)]
            if named:
                self.links.put(one, row | dict.fromkeys(named, "0"))
                self.unlinked.append(key_of("crm_requisite_links", row))

    # ------------------------------------------------------------ rows

    def _preset(self, presets: Sequence[tuple[str, int, str | None, Sequence[str]]], number: int) -> Row:
        place = place_of(number)
        name, country, code, _ = presets[place]
        return {
            "ID": str(number), "ENTITY_TYPE_ID": str(REQUISITE), "COUNTRY_ID": str(country), **self._dates(number, 1),
            "NAME": name, "XML_ID": code, "ACTIVE": "N" if place == len(presets) - 1 else "Y",
            "SORT": str(500 + 10 * place),
        }  # fmt: skip

    def _client(self, number: int) -> tuple[int, int]:
        place, ids = place_of(number), self.crm.ids
        luck = chance(self.crm.world.seed, "requisites", place)
        person = bool(ids.contact_ids) and (place % 3 == 1 or not ids.company_ids)
        return (CONTACT, one_of(ids.contact_ids, luck)) if person else (COMPANY, one_of(ids.company_ids, luck))

    def _requisite(self, number: int) -> Row:
        kind, client = self._client(number)
        place = place_of(number)
        luck = chance(self.crm.world.seed, "requisites", place)
        preset = self.presets.ids[2 if kind == CONTACT else (0, 0, 3)[place % 3]]
        bare = place % 11 == 5
        row: Row = {
            "ID": str(number), "ENTITY_TYPE_ID": str(kind), "ENTITY_ID": str(client), "PRESET_ID": str(preset),
            **self._dates(number, luck), "NAME": "Адрес" if bare else f"Реквизиты 'А' & <{number}>", "CODE": None,
            "XML_ID": f"{luck:016x}" if place % 4 == 1 else None, "ORIGINATOR_ID": None, "ACTIVE": "Y",
            "ADDRESS_ONLY": "Y" if bare else "N", "SORT": str(500 + place % 3), **dict.fromkeys(RQ_FIELDS),
        }  # fmt: skip
        if not bare:
            names = PERSON_FIELDS if kind == CONTACT else COMPANY_FIELDS
            row |= {f"RQ_{name}": f"{name.title()} «{luck >> at & 0xFFF}»" for at, name in enumerate(names)}
            row |= {"RQ_INN": f"77{luck % 10**8:08d}", "RQ_VAT_PAYER": "N"}
        return row | self._custom_values(luck, filled=place % 2 == 0)

    def _custom_values(self, luck: int, *, filled: bool) -> Row:
        values = (f"Договор <{luck % 100}> &", str(luck % 1_000 / 8), str(luck % 2), self._iso(luck % 400))
        empty = (None, None, "0", "")
        return {one.code: value for one, value in zip(self.fields, values if filled else empty, strict=False)}

    def _bank_detail(self, number: int) -> Row:
        place = place_of(number)
        luck = chance(self.crm.world.seed, "bank_details", place)
        owner = spread_at(2 * place)
        return {
            "ID": str(number), "ENTITY_ID": str(owner), "_ENTITY_TYPE_ID": str(REQUISITE), "COUNTRY_ID": str(RUSSIA),
            **self._dates(number, luck), "NAME": f"Счёт <{number}>", "CODE": None, "XML_ID": None,
            "ORIGINATOR_ID": None, "ACTIVE": "Y", "SORT": "500", **dict.fromkeys(BANK_FIELDS),
            "RQ_BANK_NAME": 'ПАО "Банк & Ко"',
            "RQ_BIK": f"04{luck % 10**7:07d}", "RQ_ACC_NUM": f"40702{luck % 10**15:015d}", "RQ_ACC_CURRENCY": "RUB",
            "COMMENTS": "Основной\nсчёт" if place % 2 else None,
        }  # fmt: skip

    def _address(self, number: int) -> Row:
        """Each has one, and every second another one of another type."""
        first = number <= self.count
        owner = spread_at(number - 1 if first else 2 * (number - self.count - 1))
        luck = chance(self.crm.world.seed, "addresses", number)
        kind, client = self._client(owner)
        return {
            "TYPE_ID": str(PRIMARY if first else REGISTERED), "ENTITY_TYPE_ID": str(REQUISITE), "ENTITY_ID": str(owner),
            "ADDRESS_1": f"ул. Баумана, {luck % 90}", "ADDRESS_2": f"оф. {luck % 40}" if luck % 3 else "",
            "CITY": "Казань", "POSTAL_CODE": f"{420_000 + luck % 200}", "REGION": "", "PROVINCE": "Татарстан",
            "COUNTRY": "Россия", "COUNTRY_CODE": None, "LOC_ADDR_ID": str(900 + number),
            "ANCHOR_TYPE_ID": str(kind), "ANCHOR_ID": str(client),
        }  # fmt: skip

    def _choosing(self) -> Iterator[tuple[int, int]]:
        """The records that chose; templates of recurring deals are none."""
        for kind in (DEAL, *(smart.entity_type_id for smart in self.crm.smart_types[:1])):
            numbers = self.crm.ids.item_ids(kind)[::LINKED_EVERY]
            yield from ((kind, number) for number in numbers if kind != DEAL or not is_template(number))

    def _link(self, entity_type_id: int, number: int) -> Row:
        """Requisites of the company or contact in the record; none where these have none."""
        row = self.crm.items[entity_type_id].row(number)
        clients = ((COMPANY, row.get("companyId")), (CONTACT, row.get("contactId")))
        found = [one for kind, client in clients if client for one in self.by_client.get((kind, client), ())]
        requisite = found[0] if found else 0
        values = (requisite, self.accounts.get(requisite, 0), 0, 0)
        owner = {"ENTITY_TYPE_ID": str(entity_type_id), "ENTITY_ID": str(number)}
        return owner | {name: str(value) for name, value in zip(LINK_FIELDS, values, strict=True)}

    def _dates(self, number: int, luck: int) -> Row:
        """Those that were never changed have no date of a change."""
        times = Times(self.crm.world.seed, "requisites", max(1, self.count))
        place, staff = place_of(number), self.crm.world.staff
        created, changed = times.created(place, luck), place % 3 == 2
        return {
            "DATE_CREATE": self.crm.world.moments.iso(created),
            "DATE_MODIFY": self.crm.world.moments.iso(times.updated(place, luck)) if changed else "",
            "CREATED_BY_ID": str(one_of(staff, luck) or 1),
            "MODIFY_BY_ID": str(one_of(staff, luck >> 7) or 1) if changed else None,
        }

    def _iso(self, days: int) -> str:
        times = Times(self.crm.world.seed, "requisites", 1)
        return self.crm.world.moments.iso(times.created(0, 0) + days * 86_400)


def _of_owner(table: Table, entity_type_id: str, number: str) -> list[int]:
    rows = ((one, table.row(one)) for one in table)
    return [one for one, row in rows if (row["ENTITY_TYPE_ID"], row["ENTITY_ID"]) == (entity_type_id, number)]


def _preset_fields(names: Sequence[str], custom: Sequence[Field]) -> Iterator[Row]:
    codes = (*(f"RQ_{name}" for name in names), *(one.code for one in custom))
    for place, code in enumerate(codes, 1):
        title = "Номер & дата" if code.startswith("UF_") else ""
        yield {
            "ID": place,
            "FIELD_NAME": code,
            "FIELD_TITLE": title,
            "IN_SHORT_LIST": "Y" if place < 3 else "N",
            "SORT": 500 + 10 * place,
        }


def _field(purpose: int) -> Field:
    return Field(FIRST_FIELD + purpose, ENTITY, f"UF_CRM_{1_700_000_800 + purpose}", purpose)
