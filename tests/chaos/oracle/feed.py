"""Posts of the feed, and the comments of the webhook's owner: the portal shows no other texts."""

from __future__ import annotations

from tests.chaos.oracle.ids import Ids, utc
from tests.chaos.oracle.source import ME, Fields, Source
from tests.chaos.oracle.texts import rewritten


def streams(source: Source, ids: Ids) -> dict[str, dict[str, Fields]]:
    return {
        "feed_posts": {number: _post(row, source, ids) for number, row in source["feed_posts"].items()},
        "feed_comments": {number: _comment(row, ids) for number, row in source["feed_comments"].items()},
    }


def attachments(row: Fields) -> list[str]:
    return [str(one) for one in row.get("FILES") or []]


def _post(row: Fields, source: Source, ids: Ids) -> Fields:
    hidden = row["hidden"]
    files = {one: source.attached(one).key for one in attachments(row)}
    return {
        "TITLE": row["TITLE"],
        "DETAIL_TEXT": rewritten(ids, row["DETAIL_TEXT"], files),
        "AUTHOR_ID": ids.author(row["AUTHOR_ID"]),
        "DATE_PUBLISH": utc(row["DATE_PUBLISH"]),
        "DEST": set(_recipients(row, ids)),
        "IMPORTANT": hidden["IMPORTANT"],
        # Only the text contains a tag's name.
        "TAGS": [tag for tag in hidden["TAGS"] if tag in row["DETAIL_TEXT"]],
        "FILES": ids.files(files.values()),
    }


def _recipients(row: Fields, ids: Ids) -> list[str]:
    """The portal does not tell an author who addressed himself from one who did not; and of a post for all not to which
    people it was addressed besides. A post for its author alone stays between him and the webhook's owner."""
    codes, own = row["hidden"]["DEST"], f"U{row['AUTHOR_ID']}"
    if "UA" in codes:
        codes_shown = [code for code in codes if code == "UA" or not code.startswith("U")]
    else:
        codes_shown = [code for code in codes if code != own] or [own, f"U{ME}"]
    return [one for one in (_recipient(code, ids) for code in codes_shown) if one]


def _recipient(code: str, ids: Ids) -> str | None:
    letters = code.rstrip("0123456789")
    number = code.removeprefix(letters)
    if not number:
        return code
    found = ids.user(number) if letters == "U" else ids.record({"SG": "groups", "DR": "departments"}[letters], number)
    return found and letters + found


def _comment(row: Fields, ids: Ids) -> Fields:
    return {
        "post_id": ids.record("feed_posts", row["hidden"]["post_id"]),
        "author_id": ids.author(row["hidden"]["author_id"]),
        "date": utc(row["date"]),
        "text": rewritten(ids, row["text"]),
        "files": ids.files(f"disk:{one}" for one in row["attach"]),
    }
