"""Values that many records share: comments, UTM tags and values of custom fields, in several variants."""

from collections.abc import Callable

from b24sim.company import crm_fields as uf
from b24sim.company.chance import chance
from b24sim.company.crm_fields import Field
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, binding
from b24sim.company.crm_products import php_number
from b24sim.company.crm_world import World, deleted_among, one_of
from b24sim.company.plan import ANCHOR, DAY
from b24sim.phpjson import encode
from b24sim.table import Row

VARIANTS = 64
EMPTY_VARIANTS = 5  # every fifth variant has no custom values
GONE_OPTION_VARIANT = 13


class Shared:
    """The variants of one type, as rows and as JSON without its braces, made when they are first needed."""

    def __init__(self, make: Callable[[int], Row]):
        self._make = make
        self._rows: dict[int, Row] = {}
        self._encoded: dict[int, bytes] = {}

    def row(self, variant: int) -> Row:
        if variant not in self._rows:
            self._rows[variant] = self._make(variant)
        return self._rows[variant]

    def encoded(self, variant: int) -> bytes:
        if variant not in self._encoded:
            self._encoded[variant] = encode(self.row(variant))[1:-1]
        return self._encoded[variant]


def comment(world: World, variant: int) -> str:
    luck = chance(world.seed, "comment", variant)
    user, deal = one_of(world.staff, luck), one_of(world.ids.deal_ids, luck >> 8)
    smart = world.ids.smart_types[0].entity_type_id if world.ids.smart_types else 156
    item = one_of(world.ids.smart_item_ids, luck >> 16)
    firm, person = one_of(world.ids.company_ids, luck >> 24), one_of(world.ids.contact_ids, luck >> 20)
    url = world.portal_url
    texts = (
        "",
        "Позвонить после 15:00",
        f"[B]Важно[/B]: спросить у [USER={user}]коллеги[/USER] 🙂",
        f"См. [URL={url}/crm/deal/details/{deal}/]сделку[/URL] и /crm/type/{smart}/details/{item}/",
        f'<p>Из письма: <a href="{url}/crm/company/details/{firm}/">клиент</a> &amp; Ко</p>',
        f"[P]Контакт {url}/crm/contact/details/{person}/, автор {url}/company/personal/user/{user}/[/P]",
        "Эмодзи 🚀👩‍👩‍👧, кавычки \"'«», слэш \\ и $result[c0][0][ID] как текст",
        "Строка один\nстрока два\r\n\tтабуляция \u2028 разделитель",
    )  # fmt: skip
    return texts[variant % len(texts)]


def marks(variant: int) -> Row:
    """The UTM tags of a client; most have none."""
    names = ("utmSource", "utmMedium", "utmCampaign", "utmContent", "utmTerm")
    if variant % 7 != 3:
        return dict.fromkeys(names)
    return dict(zip(names, ("google", "cpc", "осень & скидки", None, "купить"), strict=True))


def custom_values(world: World, fields: list[Field], variant: int) -> Row:
    """Every custom field but the text, which is each record's own."""
    return {
        field.code: _value(world, field, variant) if variant % EMPTY_VARIANTS else _nothing(field)
        for field in fields
        if field.purpose != uf.TEXT
    }


def _nothing(field: Field) -> object:
    return [] if field.multiple else "N" if field.purpose == uf.FLAG else None


def _value(world: World, field: Field, variant: int) -> object:
    if field.purpose == uf.CHOICE and variant == GONE_OPTION_VARIANT:
        return uf.GONE_OPTION
    made = MAKERS.get(field.purpose)
    return made(world, field, chance(world.seed, field.code, variant)) if made else _nothing(field)


def _links(world: World, luck: int) -> list[str]:
    """Records of several types, one of which may be gone."""
    ids = world.ids
    links = [
        binding(kind, one_of(known, luck))
        for kind, known in ((DEAL, ids.deal_ids), (CONTACT, ids.contact_ids))
        if known
    ]
    if ids.smart_types and ids.smart_item_ids:
        links.append(binding(ids.smart_types[0].entity_type_id, one_of(ids.smart_item_ids, luck >> 7)))
    links += [binding(LEAD, one_of(ids.lead_ids, luck >> 3))] if ids.lead_ids and luck % 3 == 0 else []
    return [*links, binding(COMPANY, deleted_among(ids.company_ids, luck))] if luck % 4 == 0 else links


def _moment(luck: int) -> float:
    return ANCHOR - luck % (800 * DAY)


MAKERS: dict[int, Callable[[World, Field, int], object]] = {
    uf.TEXTS: lambda _world, _field, luck: ["срочно", f"тег {luck % 100} & <i>"],
    uf.WHOLE: lambda _world, _field, luck: luck % 50 - 5,
    uf.NUMBER: lambda _world, _field, luck: php_number((luck % 100_000) / 8),
    uf.FLAG: lambda _world, _field, luck: "Y" if luck % 2 else "N",
    uf.DATE: lambda world, _field, luck: world.midnight(_moment(luck)),
    uf.MOMENT: lambda world, _field, luck: world.moments.iso(_moment(luck)),
    uf.CHOICE: lambda _world, field, luck: field.options[luck % len(field.options)][0],
    uf.CHOICES: lambda _world, field, luck: [number for number, _ in field.options[luck % 3 : luck % 3 + 2]],
    uf.EMPLOYEE: lambda world, _field, luck: one_of(world.staff, luck),
    uf.EMPLOYEES: lambda world, _field, luck: sorted({one_of(world.staff, luck), one_of(world.staff, luck >> 9)}),
    uf.LINKS: lambda world, _field, luck: _links(world, luck),
    uf.LINK: lambda world, _field, luck: str(one_of(world.ids.company_ids, luck)) if world.ids.company_ids else None,
    uf.MONEY: lambda _world, _field, luck: f"{luck % 90_000 / 100}|{('RUB', 'USD')[luck % 2]}",
    uf.SITE: lambda _world, _field, luck: f"https://client{luck % 99}.example/?a=1&b=2",
    uf.PLACE: lambda _world, _field, luck: f"Казань, ул. Баумана, {luck % 90}|55.79;49.11",
    uf.ELEMENT: lambda _world, _field, luck: str(30 + luck % 9),
    uf.WORD: lambda _world, _field, luck: f"слово-{luck % 1000}",
}
