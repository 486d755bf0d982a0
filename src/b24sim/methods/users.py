"""user.*, user.userfield.list and department.get."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from b24sim.context import Context, Method
from b24sim.errors import RestError
from b24sim.filters import condition, matching, split
from b24sim.habits import DESCENDING, NO_ORDER, as_read
from b24sim.paging import page_by_offset, page_of_old_core, truthy, whole
from b24sim.phpjson import encode, encode_all
from b24sim.request import Params
from b24sim.result import Result
from b24sim.table import Row, shown

BRIEF = ("ID", "XML_ID", "ACTIVE", "NAME", "LAST_NAME", "SECOND_NAME", "TITLE", "IS_ONLINE", "TIME_ZONE", "TIMESTAMP_X",
         "LAST_ACTIVITY_DATE", "DATE_REGISTER", "PERSONAL_GENDER", "PERSONAL_PHOTO", "UF_DEPARTMENT", "USER_TYPE",
         "WORK_POSITION", "PERSONAL_BIRTHDAY", "UF_EMPLOYMENT_DATE", "UF_TIMEMAN")  # fmt: skip
CONTACTS = ("EMAIL", "PERSONAL_MOBILE", "PERSONAL_PHONE", "WORK_PHONE", "UF_PHONE_INNER", "PERSONAL_WWW", "UF_SKYPE")
FILTER_EXTRAS = ("IS_ONLINE", "NAME_SEARCH", "HAS_DEPARTAMENT", "EXTERNAL_AUTH_ID", "TIMESTAMP_X", "LAST_ACTIVITY_DATE")
NOT_FILTERS = {"SORT", "ORDER", "SELECT", "FILTER", "ADMIN_MODE", "IMAGE_RESIZE", "START", "AUTH", "FIND"}
TIMES = {"TIMESTAMP_X", "LAST_ACTIVITY_DATE", "DATE_REGISTER", "LAST_LOGIN"}
SIZES = {"small": 150, "medium": 300, "large": 1000}
# The answer of `user.fields`, whether or not a user has a value (user/user-fields.md).
FIELDS = (
    *("ID", "XML_ID", "ACTIVE", "NAME", "LAST_NAME", "SECOND_NAME", "TITLE", "EMAIL", "LAST_LOGIN", "DATE_REGISTER"),
    *("TIME_ZONE", "IS_ONLINE", "TIMESTAMP_X", "LAST_ACTIVITY_DATE"),
    *(f"PERSONAL_{name}" for name in (
        "GENDER", "PROFESSION", "WWW", "BIRTHDAY", "PHOTO", "ICQ", "PHONE", "FAX", "MOBILE", "PAGER", "STREET", "CITY",
        "STATE", "ZIP", "COUNTRY", "MAILBOX", "NOTES")),
    *(f"WORK_{name}" for name in (
        "PHONE", "COMPANY", "POSITION", "DEPARTMENT", "WWW", "FAX", "PAGER", "STREET", "MAILBOX", "CITY", "STATE",
        "ZIP", "COUNTRY", "PROFILE", "LOGO", "NOTES")),
    *(f"UF_{name}" for name in (
        "SKYPE_LINK", "ZOOM", "EMPLOYMENT_DATE", "TIMEMAN", "DEPARTMENT", "INTERESTS", "SKILLS", "WEB_SITES", "XING",
        "LINKEDIN", "TWITTER", "SKYPE", "DISTRICT", "PHONE_INNER")),
    "USER_TYPE",
)  # fmt: skip
LABELS = {
    "ID": "ID",
    "XML_ID": "Внешний код",
    "ACTIVE": "Активность",
    "NAME": "Имя",
    "LAST_NAME": "Фамилия",
    "EMAIL": "E-Mail",
}


def get(context: Context, params: Params) -> Result:
    conditions = params.get("FILTER")
    if not isinstance(conditions, dict):
        conditions = {key: value for key, value in params.items() if key not in NOT_FILTERS}
    return _list(context, params, conditions)


def search(context: Context, params: Params) -> Result:
    conditions = dict(params["FILTER"]) if isinstance(params.get("FILTER"), dict) else {}
    if params.get("FIND"):
        return _list(context, params, conditions | {"NAME_SEARCH": params["FIND"]})
    words = {f"%{key}": params[key] for key in ("NAME", "LAST_NAME", "WORK_POSITION") if params.get(key)}
    return _list(context, params, conditions | words)


def current(context: Context, _params: Params) -> Result:
    company = context.portal.company
    row = company.users.row(context.caller.user)
    shape = shown(row) | {
        "TIMESTAMP_X": company.moments.culture(row.get("_TIMESTAMP_X", 0)),
        "LAST_ACTIVITY_DATE": company.moments.plain(row.get("_LAST_ACTIVITY_DATE", 0)),
    }
    return Result(_visible_fields(context, shape))


def fields(context: Context, _params: Params) -> Result:
    company = context.portal.company
    names = dict.fromkeys(FIELDS) | shown(company.users.row(context.caller.user))
    return Result({name: LABELS.get(name, name) for name in _visible_fields(context, names)})


def _list(context: Context, params: Params, conditions: dict[str, Any]) -> Result:
    company = context.portal.company
    ids: Sequence[int] = _visible_users(context, params)
    known = as_read(context, _known(conditions), context.portal.habits.other_dates, TIMES)
    ids = matching(company.users, ids, known, company.moments)
    for key, value in conditions.items():
        ids = _special(context, ids, key, value)
    start = whole(params.get("START", 0))
    result = page_by_offset(_sorted(context, ids, params), start, _encoder(context, params))
    return result if result.value else Result(result.value)


def _visible_users(context: Context, params: Params) -> Sequence[int]:
    """Everybody for an administrator in ADMIN_MODE; otherwise people with a department, and extranet acquaintances."""
    company = context.portal.company
    if truthy(params.get("ADMIN_MODE")) and context.caller.admin:
        return company.users.ids
    return company.users_visible_to(context.caller.user)


def _known(conditions: dict[str, Any]) -> dict[str, Any]:
    """Unknown names are ignored silently, as are those handled on their own."""
    known: dict[str, Any] = {}
    for key, value in conditions.items():
        _, field = split(key)
        if field in {"NAME_SEARCH", "HAS_DEPARTAMENT", "ACTIVE"}:
            continue
        if (
            field in FILTER_EXTRAS
            or field in BRIEF
            or field in CONTACTS
            or field.startswith(("PERSONAL_", "WORK_", "UF_"))
        ):
            known[key] = value
    return known


def _special(context: Context, ids: Sequence[int], key: str, value: Any) -> Sequence[int]:
    users = context.portal.company.users
    operator, field = split(key)
    if field == "ACTIVE":
        # Only JSON false, 0 and "N" mean dismissed: the string "false" is true to PHP.
        wanted = (truthy(value) and value != "N") != operator.startswith("!")
        return [number for number in ids if users.row(number)["ACTIVE"] is wanted]
    if field == "NAME_SEARCH":
        tests = [condition("%", name, value, context.portal.company.moments) for name in ("NAME", "LAST_NAME", "EMAIL")]
        return [number for number in ids if any(test(users.row(number)) for test in tests)]
    if field == "HAS_DEPARTAMENT":
        return [number for number in ids if bool(users.row(number)["UF_DEPARTMENT"]) == (value in (True, "Y"))]
    return ids


def _sorted(context: Context, ids: Sequence[int], params: Params) -> Sequence[int]:
    sort, order = params.get("SORT"), params.get("ORDER")
    if not (isinstance(sort, str) and isinstance(order, str)):
        # Without both there is no ORDER BY.
        if context.portal.habits.user_order == NO_ORDER:
            return context.portal.company.users.in_no_order(ids)
        sort, order = "ID", "DESC" if context.portal.habits.user_order == DESCENDING else "ASC"
    descending = order.upper() == "DESC"
    if sort.upper() == "ID":
        return ids[::-1] if descending else ids
    users = context.portal.company.users
    return sorted(ids, key=lambda number: str(users.row(number).get(sort.upper(), "")), reverse=descending)


def _encoder(context: Context, params: Params) -> Any:
    users = context.portal.company.users
    select, resize = params.get("SELECT"), SIZES.get(str(params.get("IMAGE_RESIZE", "")))
    if "user" in context.caller.scopes and not isinstance(select, list) and not resize:
        return users.encoded

    def reduced(number: int) -> bytes:
        row = _visible_fields(context, shown(users.row(number)))
        if isinstance(select, list):
            row = {name: row[name] for name in row if any(fnmatchcase(name, str(mask)) for mask in select)}
        if resize and "PERSONAL_PHOTO" in row:
            row["PERSONAL_PHOTO"] += f"?size={resize}"
        return encode(row)

    return reduced


def _visible_fields(context: Context, row: Row) -> Row:
    scopes = context.caller.scopes
    if "user" in scopes:
        return row
    names = BRIEF + (CONTACTS if "user_basic" in scopes else ())
    return {name: value for name, value in row.items() if name in names}


def userfields(context: Context, params: Params) -> Result:
    if not context.caller.admin:
        raise RestError("", "Access denied.")
    asked = params.get("FILTER") if isinstance(params.get("FILTER"), dict) else {}
    conditions = {key: value for key, value in (asked or {}).items() if key != "LANG"}
    moments = context.portal.company.moments
    tests = [condition(*split(key), value, moments) for key, value in conditions.items()]
    rows = [row for row in context.portal.company.user_fields if all(test(row) for test in tests)]
    rows = context.portal.in_no_order(rows)
    for name, way in reversed(_wish(params.get("ORDER"))):
        rows.sort(key=lambda row: _department_key(row, name), reverse=str(way).upper() == "DESC")
    language = str((asked or {}).get("LANG", ""))
    return Result(encode_all(_labelled(row, language) for row in rows), total=len(rows))


def _wish(order: Any) -> list[tuple[str, Any]]:
    return list(order.items()) if isinstance(order, dict) else []


def _labelled(row: Row, language: str) -> Row:
    if not language:
        return shown(row)
    label = row.get("_LABELS", {}).get(language)
    names = ("EDIT_FORM_LABEL", "LIST_COLUMN_LABEL", "LIST_FILTER_LABEL")
    return shown(row) | dict.fromkeys(names, label) | {"ERROR_MESSAGE": None, "HELP_MESSAGE": None}


def departments(context: Context, params: Params) -> Result:
    company = context.portal.company
    asked = params.get("FILTER") if isinstance(params.get("FILTER"), dict) else {}
    conditions = {
        key: value for key, value in (params | (asked or {})).items() if key in {"ID", "NAME", "PARENT", "UF_HEAD"}
    }
    if "SORT" in params:
        conditions["SORT"] = whole(params["SORT"])
    ids: Sequence[int] = company.departments.in_no_order(company.departments.ids)
    for key, value in conditions.items():
        test = condition("=", key, value, company.moments)
        ids = [number for number in ids if test(company.departments.row(number))]
    sort, order = params.get("sort"), str(params.get("order", "ASC")).upper()
    if isinstance(sort, str):
        rows = company.departments
        ids = sorted(ids, key=lambda number: _department_key(rows.row(number), sort.upper()), reverse=order == "DESC")
    return page_of_old_core(ids, whole(params.get("START", params.get("start", 0))), company.departments.encoded)


def _department_key(row: Row, name: str) -> tuple[int, str]:
    value = row.get(name, "")
    return (int(value), "") if str(value).isdigit() else (0, str(value))


USER_SCOPES = ("user", "user_basic", "user_brief")
METHODS = [
    Method("user.get", USER_SCOPES, get, upper=True),
    Method("user.search", USER_SCOPES, search, upper=True),
    Method("user.current", USER_SCOPES, current, upper=True),
    Method("user.fields", USER_SCOPES, fields, upper=True),
    Method("user.userfield.list", ("user.userfield",), userfields, upper=True),
    Method("department.get", ("department",), departments),
]
