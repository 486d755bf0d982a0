"""crm.currency.list, get, base.get and localizations.get."""

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.phpjson import encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, shown


def currency_list(context: Context, _params: Params) -> Result:
    """The total is 0, whatever there is."""
    rows = context.portal.company.catalog.currencies.values()
    return Result(encode_all(map(shown, context.portal.in_no_order(rows))), total=0)


def currency_get(context: Context, params: Params) -> Result:
    row = _known(context, params)
    return Result(shown(row) | {"LANG": row["_LANG"]})


def base_get(context: Context, _params: Params) -> Result:
    rows = context.portal.company.catalog.currencies.values()
    return Result(next((row["CURRENCY"] for row in rows if row["BASE"] == "Y"), ""))


def localizations_get(context: Context, params: Params) -> Result:
    return Result(_known(context, params)["_LANG"] or [])


def _known(context: Context, params: Params) -> Row:
    code = str(params.get("ID") or "")
    if not code:
        raise RestError("", "The parameter id is invalid or not defined.")
    row = context.portal.company.catalog.currencies.get(code)
    if row is None:
        raise RestError("", "Not found")
    return row


METHODS = [
    Method("crm.currency.list", ("crm",), currency_list, upper=True),
    Method("crm.currency.get", ("crm",), currency_get, upper=True),
    Method("crm.currency.base.get", ("crm",), base_get, upper=True),
    Method("crm.currency.localizations.get", ("crm",), localizations_get, upper=True),
]
