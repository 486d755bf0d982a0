"""crm.deal.recurring.list: some names are in lower case, and the portal reads the whole table for each page."""

from b24sim.context import Context, Method
from b24sim.filters import matching
from b24sim.methods.requisites import ordered
from b24sim.paging import page_by_offset, whole
from b24sim.phpjson import encode
from b24sim.request import Params
from b24sim.result import Result


def listed(context: Context, params: Params) -> Result:
    """A filter by PARAMS is passed over."""
    company = context.portal.company
    table = company.schedules.table
    asked = params["FILTER"] if isinstance(params.get("FILTER"), dict) else {}
    known = {key: value for key, value in asked.items() if "PARAMS" not in key}
    ids = ordered(table, matching(table, table.ids, known, company.moments), params.get("ORDER"))
    own = company.moments_of(context.caller.user)
    page = page_by_offset(ids, whole(params.get("START", 0)), lambda one: encode(company.schedules.shown(one, own)))
    page.read = len(ids)
    return page


METHODS = [Method("crm.deal.recurring.list", ("crm",), listed, upper=True)]
