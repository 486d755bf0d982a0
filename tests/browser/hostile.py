"""A company whose people are malicious: names and texts that want to be more than text."""

from __future__ import annotations

from tests.browser.server import Desk

SCRIPT = "<script>window.hacked = 'script'; alert(1)</script>"
IMAGE = '"><img src=x onerror="window.hacked = \'image\'">'
BREAKOUT = "'\"`</title></textarea></style></script><svg onload=\"window.hacked = 'svg'\"></svg>"
ADDRESS = "javascript:window.hacked='address'"
BRACES = "{{7*7}} ${7*7} {% raw %} #{7*7} {0.__class__} %(a)s %s"
BACKWARDS = "\u202egnp.exe\u202c \u2066\u2067 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u200f\u200b"
CONTROL = "nul\u0000bell\u0007escape\u001b[31mred\u0085\u2028line\u007f"
LONG = "Ж" * 1_000_000
ALL = (SCRIPT, IMAGE, BREAKOUT, ADDRESS, BRACES, BACKWARDS, CONTROL)
EVERYTHING = " ".join(ALL)


def poison(made: Desk) -> dict[str, str]:
    """Changes the company before it is read. Returns stream -> the id of a record that is worth looking at."""
    company = made.source.portal.company
    people = sorted(company.users.ids)
    for number, text in zip(people[2:], ALL, strict=False):
        made.change("users", id=number, fields={"NAME": text, "LAST_NAME": EVERYTHING, "PERSONAL_WWW": ADDRESS})
    made.change("users", id=people[1], fields={"NAME": LONG, "WORK_POSITION": EVERYTHING})
    group, other = sorted(company.groups.ids)[:2]
    made.change("groups", id=group, fields={"NAME": EVERYTHING, "DESCRIPTION": SCRIPT})
    made.change("groups", id=other, fields={"NAME": LONG})
    department = sorted(company.departments.ids)[-1]
    made.change("departments", id=department, fields={"NAME": EVERYTHING})
    made.change("chat_messages", "add", fields={"text": EVERYTHING})
    first = min(company.crm.company_ids)
    made.change("crm_companies", id=first, fields={"title": EVERYTHING})
    return {
        "users": str(people[1]),
        "groups": str(group),
        "departments": str(department),
        "crm_companies": str(first),
    }
