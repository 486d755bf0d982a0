"""Behave like a probed portal: the answers of `b24migrate doctor --probe --out FILE` as switches.

The file's format is described in docs/probe.md. What it does not know stays as the worst case, which is the default.
"""

import json
from pathlib import Path
from typing import Any

FORMAT, VERSION = "b24migrate-probe", 1
LARGEST_PAGE = 1000
# Answers that are switches by the same name and values; the others have a row for each answer.
SAME = (
    "billing",
    "comment_keys",
    "first_id",
    "message_order",
    "message_pages",
    "message_count",
    "user_order",
    "crm_order",
    "crm_dates",
    "task_dates",
)
PAGES = ("message_page", "recent_page")
SWITCHES: dict[str, dict[str, dict[str, Any]]] = {
    "product_owners": {"many": {"many_owners": True}, "one": {"many_owners": False}},
    "is_available": {"true": {"available_by_scope": True}, "false": {"available_by_scope": False}},
    "feed_cursor": {
        "post": {"feed_cursor": "post", "old_feed": False},
        "entry": {"feed_cursor": "entry", "old_feed": False},
        "ignored": {"old_feed": True},
    },
    "comments_name": {"post": {"comments_name": "post"}, "entry": {"comments_name": "entry"}},
}
LISTING = "im.chat.message.list"


def switches(path: str, choices: dict[str, Any]) -> dict[str, Any]:
    """Options and their values; `choices` are those of each option. Raises ValueError with a message for people."""
    try:
        probed = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as complaint:
        raise ValueError(f"--like: {complaint}") from None
    if not isinstance(probed, dict) or probed.get("format") != FORMAT or probed.get("version") != VERSION:
        raise ValueError(f"--like: {path} is not version {VERSION} of {FORMAT}")
    answers, methods = (probed[name] if isinstance(probed.get(name), dict) else {} for name in ("answers", "methods"))
    found = {key: answers[key] for key in SAME if answers.get(key) in choices[key]}
    found |= {key: answers[key] for key in PAGES if _is_size(answers.get(key))}
    for key, values in SWITCHES.items():
        found |= values.get(str(answers.get(key)), {})
    found["listing_chats"] = methods.get(LISTING) is True
    lacking = sorted(name for name, exists in methods.items() if exists is False and name != LISTING)
    return found | ({"without": ",".join(lacking)} if lacking else {})


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_PAGE
