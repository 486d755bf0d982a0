"""Probes: who am I, what may I call, what time is it."""

from dataclasses import dataclass

from b24sim.context import Context, Method
from b24sim.paging import truthy
from b24sim.registry import CONTROLLERS
from b24sim.request import Params
from b24sim.result import Result

ALL_SCOPES = (
    "user", "user_basic", "user_brief", "user.userfield", "department", "sonet_group", "socialnetwork", "im",
    "im.import",
    "disk", "log", "task", "crm", "catalog", "userfieldconfig", "bizproc", "telephony", "import",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MethodHabits:
    """How the answers of `method.get` differ between portals.

    Of what a controller serves it compares the first part of the name, the module, with the webhook's scopes, while a
    call takes the scope `task` for the module `tasks`. Older portals compared what the call compares (`by_scope`). It
    keeps its answers for a week: of methods that an update brought since (`stale`) it still says that there are none.
    """

    by_scope: bool = False
    stale: frozenset[str] = frozenset()


def profile(context: Context, _params: Params) -> Result:
    company = context.portal.company
    row = company.users.row(context.caller.user)
    if not row["ACTIVE"]:
        return Result([])
    answer = {
        "ID": row["ID"], "ADMIN": context.caller.admin, "NAME": row["NAME"], "LAST_NAME": row["LAST_NAME"],
        "PERSONAL_GENDER": row.get("PERSONAL_GENDER", ""), "TIME_ZONE": row.get("TIME_ZONE", ""),
        "TIME_ZONE_OFFSET": company.moments_of(context.caller.user).offset_s(context.portal.clock.now()),
    }  # fmt: skip
    if "PERSONAL_PHOTO" in row:
        answer["PERSONAL_PHOTO"] = row["PERSONAL_PHOTO"]
    return Result(answer)


def admin(context: Context, _params: Params) -> Result:
    return Result(context.caller.admin)


def scope(context: Context, params: Params) -> Result:
    if not truthy(params.get("FULL")):
        return Result(list(context.caller.scopes))
    known = (name for name in ALL_SCOPES if name != "import" or context.portal.has_module or not context.portal.is_box)
    return Result(list(known))


def methods(context: Context, params: Params) -> Result:
    wanted = params.get("SCOPE")
    shown = []
    for method in context.portal.methods.public():
        granted = not method.scopes or any(name in context.caller.scopes for name in method.scopes)
        if (wanted and wanted in method.scopes) or (not wanted and (granted or truthy(params.get("FULL")))):
            shown.append(method.name.lower())
    return Result(shown)


def method_get(context: Context, params: Params) -> Result:
    """Knows methods by their lower-case names only; of a controller it looks for the class and not for the action."""
    portal, habits = context.portal, context.portal.method_habits
    name = str(params.get("NAME", ""))
    method = portal.methods.find(name) or portal.methods.by_lower_name(name) or portal.methods.controller_of(name)
    if method is None or name != name.lower() or name in habits.stale:
        return Result({"isExisting": False, "isAvailable": False})
    by_module = name.startswith(CONTROLLERS) and not habits.by_scope
    needed = (name.partition(".")[0],) if by_module else method.scopes
    granted = not needed or any(scope in context.caller.scopes for scope in needed)
    return Result({"isExisting": True, "isAvailable": granted})


def app_info(context: Context, _params: Params) -> Result:
    return Result(
        {"SCOPE": list(context.caller.scopes), "LICENSE": "ru_selfhosted" if context.portal.is_box else "ru_ent250"}
    )


def server_time(context: Context, _params: Params) -> Result:
    return Result(context.portal.company.moments.iso(context.portal.clock.now()))


def feature_get(_context: Context, _params: Params) -> Result:
    return Result({"value": "Y"})


def im_revision(_context: Context, _params: Params) -> Result:
    return Result({"rest": 32, "web": 130, "mobile": 20, "desktop": 5, "im_revision_mobile": 20})


METHODS = [
    Method("profile", (), profile, upper=True),
    Method("user.admin", (), admin, upper=True),
    Method("scope", (), scope, upper=True),
    Method("methods", (), methods, upper=True),
    Method("method.get", (), method_get, upper=True),
    Method("app.info", (), app_info, upper=True),
    Method("server.time", (), server_time, upper=True),
    Method("feature.get", (), feature_get, upper=True),
    Method("im.revision.get", ("im",), im_revision, upper=True),
]
