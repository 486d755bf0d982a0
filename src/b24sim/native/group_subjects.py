"""sonet_group_subject.get: what groups are about. Registered by the kernel, described nowhere."""

from b24sim.context import Context, Method
from b24sim.native.groups import SUBJECT
from b24sim.paging import page_of_old_core, whole
from b24sim.phpjson import encode
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row


def get(_context: Context, params: Params) -> Result:
    rows: list[Row] = [{"ID": "1", "SITE_ID": "s1", "NAME": SUBJECT, "SORT": "100"}]
    return page_of_old_core(range(len(rows)), whole(params.get("start", 0)), lambda place: encode(rows[place]))


METHODS = [Method("sonet_group_subject.get", ("sonet_group",), get)]
