"""crm.currency.add, update and delete."""

from b24sim.company.catalog_dictionaries import localization
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.native.ledger import stamp_of
from b24sim.native.writing import created, flag, iso_now, mapping, require_administrator
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row

LANGUAGES = ("ru", "en")


def currency_add(context: Context, params: Params) -> Result:
    """The code is the id. Missing values of a language are generated."""
    require_administrator(context)
    fields, known = mapping(params, "FIELDS"), context.portal.company.catalog.currencies
    for name in ("CURRENCY", "AMOUNT_CNT", "AMOUNT"):
        if fields.get(name) in (None, ""):
            raise RestError("ERROR_CORE", f'Undefined array key "{name}"')
    code = str(fields["CURRENCY"])
    if len(code) != 3 or code in known:
        raise RestError("ERROR_CORE", f"Валюта {code} уже существует" if code in known else "Код валюты — 3 символа")
    lang = mapping(fields, "LANG")
    row: Row = {"CURRENCY": code, "BASE": "N", "SORT": "100", "LID": "ru", "DATE_UPDATE": iso_now(context)}
    row["_LANG"] = {name: localization(code, "#") | mapping(lang, name) for name in dict.fromkeys((*LANGUAGES, *lang))}
    known[code] = _stored_values(row, fields)
    created(context, "currencies", code, stamp_of(code))
    return Result(code)


def currency_update(context: Context, params: Params) -> Result:
    require_administrator(context)
    row, fields = _known(context, params), mapping(params, "FIELDS")
    lang = {name: row["_LANG"].get(name, {}) | dict(told) for name, told in mapping(fields, "LANG").items()}
    row = row | {"_LANG": row["_LANG"] | lang, "DATE_UPDATE": iso_now(context)}
    context.portal.company.catalog.currencies[row["CURRENCY"]] = _stored_values(row, fields)
    context.portal.native.updated("currencies", row["CURRENCY"])
    return Result(True)


def currency_delete(context: Context, params: Params) -> Result:
    require_administrator(context)
    row = _known(context, params)
    if row["BASE"] == "Y":
        raise RestError("", "Cannot delete base currency.")
    del context.portal.company.catalog.currencies[row["CURRENCY"]]
    context.portal.native.deleted("currencies", row["CURRENCY"])
    return Result(True)


def _stored_values(row: Row, fields: Row) -> Row:
    """In the language of the portal, and numbers as texts."""
    own = {name: fields[name] for name in ("AMOUNT_CNT", "AMOUNT", "SORT") if fields.get(name) is not None}
    shown = row["_LANG"]["ru"]
    names = ("FULL_NAME", "FORMAT_STRING", "DEC_POINT", "THOUSANDS_SEP", "DECIMALS")
    numbers = {name: f"{float(value):.4f}" if name == "AMOUNT" else str(int(value)) for name, value in own.items()}
    if flag(fields.get("BASE")) == "Y":
        raise RestError("ERROR_CORE", "the simulator refuses another base currency: no client may set one")
    return row | numbers | {name: shown[name] for name in names}


def _known(context: Context, params: Params) -> Row:
    row = context.portal.company.catalog.currencies.get(str(params.get("ID") or ""))
    if row is None:
        raise RestError("", "Not found")
    return row


METHODS = [
    Method("crm.currency.add", ("crm",), currency_add, upper=True),
    Method("crm.currency.update", ("crm",), currency_update, upper=True),
    Method("crm.currency.delete", ("crm",), currency_delete, upper=True),
]
