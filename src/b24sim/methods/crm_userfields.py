"""Custom fields of the CRM, by the old methods of each entity and by userfieldconfig.*."""

from collections.abc import Callable

from b24sim.company.crm_fields import ENTITY_OF, Field, config_details, config_row, legacy_row
from b24sim.company.crm_ids import COMPANY, CONTACT, DEAL, LEAD, QUOTE
from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.methods.crm_items import required
from b24sim.methods.crm_structure import chosen, in_order, in_some_order
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import Parts, encode, encode_all
from b24sim.request import Params
from b24sim.result import Result


def _legacy(entity_type_id: int) -> Callable[[Context, Params], Result]:
    def listed(context: Context, params: Params) -> Result:
        if not context.caller.admin:
            raise RestError("", "Access denied.")
        asked = dict(params["FILTER"]) if isinstance(params.get("FILTER"), dict) else {}
        language = str(asked.pop("LANG", "") or "")
        fields = [field for field in _fields(context) if field.entity == ENTITY_OF[entity_type_id]]
        rows = chosen(context, [legacy_row(field, language) for field in fields], asked)
        rows = in_order(context.portal.in_no_order(rows), params.get("ORDER"))
        return Result(encode_all(rows), total=len(rows))

    return listed


def config_list(context: Context, params: Params) -> Result:
    _allowed(context, params)
    rows = chosen(context, [config_row(field) for field in _fields(context)], params.get("filter"))
    rows = in_order(in_some_order(rows, "id"), params.get("order"))
    page = page_by_offset(range(len(rows)), whole(params.get("start", 0)), lambda place: encode(rows[place]))
    return Result(Parts({"fields": page.value}), page.total, page.next)


def config_get(context: Context, params: Params) -> Result:
    """Options and labels in every language are told here only."""
    _allowed(context, params)
    number = whole(required(params, "id"))
    for field in _fields(context):
        if field.id == number:
            return Result(Parts({"field": encode(config_details(field))}))
    raise RestError("", "Поле не найдено")


def require_module(context: Context, params: Params) -> None:
    """Two scopes at once: that of the method, and that of the module whose fields they are."""
    if required(params, "moduleId") != "crm":
        raise RestError("", f"Модуль {params['moduleId']} не поддерживается")
    if "crm" not in context.caller.scopes:
        message = "The request requires higher privileges than provided by the webhook token"
        raise RestError("insufficient_scope", message, 401)


def _allowed(context: Context, params: Params) -> None:
    require_module(context, params)
    if not context.caller.admin:
        raise RestError("ACCESS_DENIED", "Доступ запрещен")


def _fields(context: Context) -> list[Field]:
    return [field for items in context.portal.company.crm.items.values() for field in items.fields]


METHODS = [
    Method("crm.deal.userfield.list", ("crm",), _legacy(DEAL), upper=True),
    Method("crm.contact.userfield.list", ("crm",), _legacy(CONTACT), upper=True),
    Method("crm.company.userfield.list", ("crm",), _legacy(COMPANY), upper=True),
    Method("crm.lead.userfield.list", ("crm",), _legacy(LEAD), upper=True),
    Method("crm.quote.userfield.list", ("crm",), _legacy(QUOTE), upper=True),
    Method("userfieldconfig.list", ("userfieldconfig",), config_list),
    Method("userfieldconfig.get", ("userfieldconfig",), config_get),
]
