"""im.v2.Import.*: it would keep authors and dates, but wants an application; a webhook is refused whatever it asks."""

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.request import Params
from b24sim.result import Result

ACTS = ("createGroup", "createPrivate", "getFolderId", "abort", "commitGroup", "commitPrivate", "Message.add",
        "Message.update")  # fmt: skip


def for_applications_only(_context: Context, _params: Params) -> Result:
    raise RestError("insufficient_auth_type", "The current authorization type is denied for this method")


METHODS = [Method(f"im.v2.Import.{act}", ("im.import",), for_applications_only) for act in ACTS]
