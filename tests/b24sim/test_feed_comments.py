"""log.blogcomment.user.get: by author, without the words of others."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.methods.feed import FeedHabits

PLAN = Plan(users=30, groups=8, seed=4, posts=200, comments_per_post=6)


@pytest.fixture(scope="module")
def portal() -> Iterator[Running]:
    with serve(Portal(Company(PLAN), webhooks=(1, 2), clock=ManualClock())) as running:
        yield running


def comments_by(running: Running, author: int, user: int = 1, **more: Any) -> list[Any]:
    return list(result(running, "log.blogcomment.user.get", {"USER_ID": author} | more, user)["COMMENTS"])


def posts(running: Running) -> list[dict[str, Any]]:
    return list(control(running, "dump?stream=feed_posts")["records"])


def truth(running: Running) -> list[dict[str, Any]]:
    return [record["fields"] for record in control(running, "dump?stream=feed_comments")["records"]]


def test_own_comments_have_their_text_and_those_of_others_none(portal: Running) -> None:
    own = {row["id"]: row["text"] for row in comments_by(portal, 2, user=2)}
    assert any(own.values())
    assert own.items() <= {row["id"]: row["text"] for row in truth(portal)}.items()
    assert {row["text"] for row in comments_by(portal, 2)} == {""}
    assert len(comments_by(portal, 2)) == len(own)
    assert len(result(portal, "log.blogcomment.user.get", {}, 2)["COMMENTS"]) == len(own)


def test_only_administrators_ask_about_others(portal: Running) -> None:
    reply = call(portal, "log.blogcomment.user.get", {"USER_ID": 3}, user=2)
    assert (reply.status, reply.json["error"]) == (403, "ACCESS_DENIED")


def test_the_newest_come_first_and_cursors_go_both_ways(portal: Running) -> None:
    ids = sorted(row["id"] for row in truth(portal) if row["hidden"]["author_id"] == 3)
    assert [row["id"] for row in comments_by(portal, 3)] == ids[::-1][:100]
    assert {row["id"] for row in comments_by(portal, 3, FIRST_ID=ids[1], LIMIT=3)} == set(ids[-3:])
    assert {row["id"] for row in comments_by(portal, 3, FIRST_ID=0, LIMIT=2)} == set(ids[-2:])
    assert [row["id"] for row in comments_by(portal, 3, LAST_ID=ids[4], LIMIT=2)] == [ids[3], ids[2]]
    reply = call(portal, "log.blogcomment.user.get", {"USER_ID": 3}).json
    assert "total" not in reply
    assert "next" not in reply


def test_a_page_has_at_most_a_hundred() -> None:
    with serve(Portal(Company(Plan(users=3, posts=200, comments_per_post=6)), clock=ManualClock())) as running:
        assert len(comments_by(running, 2, LIMIT=1000)) == 100


def test_by_way_of_all_authors_every_comment_is_found_but_those_of_the_deleted(portal: Running) -> None:
    found = set()
    for author in portal.portal.company.users:
        last = 2**31
        while rows := comments_by(portal, author, LAST_ID=last):
            found |= {row["id"] for row in rows}
            last = min(row["id"] for row in rows)
    lost = [row for row in truth(portal) if row["id"] not in found]
    assert lost
    assert all(row["hidden"]["author_id"] not in portal.portal.company.users for row in lost)


def test_comments_of_posts_that_cannot_be_seen_are_told_nevertheless(portal: Running) -> None:
    records = control(portal, "dump?stream=feed_posts&visible_to=1")["records"]
    found = {record["fields"]["hidden"]["LOG_ID"] for record in records}
    assert {row["log_id"] in found for author in range(2, 12) for row in comments_by(portal, author)} == {True, False}


def test_comments_name_the_entry_of_their_post_and_on_some_portals_the_post(portal: Running) -> None:
    habits = FeedHabits(comments_name_post=True)
    entries = {int(record["id"]): record["fields"]["hidden"]["LOG_ID"] for record in posts(portal)}
    with serve(Portal(Company(PLAN), clock=ManualClock(), feed_habits=habits)) as other:
        for row, same in zip(comments_by(other, 3), comments_by(portal, 3), strict=True):
            assert "post_id" not in same
            assert "log_id" not in row
            assert same["log_id"] == entries[row["post_id"]]


def test_entries_have_gaps_and_numbers_of_other_posts(portal: Running) -> None:
    entries = {int(record["id"]): record["fields"]["hidden"]["LOG_ID"] for record in posts(portal)}
    assert len(set(entries.values())) == len(entries)
    assert max(entries.values()) - min(entries.values()) > 3 * len(entries)
    assert [number for number, entry in entries.items() if entry in entries and entry != number]


def test_keys_are_capitals_or_as_the_documentation_has_them(portal: Running) -> None:
    asked = ("log.blogcomment.user.get", {"USER_ID": 3})
    with serve(Portal(Company(PLAN), clock=ManualClock(), feed_habits=FeedHabits(lower_keys=True))) as other:
        lower, upper = result(other, *asked), result(portal, *asked)
    assert (sorted(lower), sorted(upper)) == (["comments", "files"], ["COMMENTS", "FILES"])
    assert lower["comments"] == upper["COMMENTS"]


def test_somebody_says_plus_one_twice_under_the_same_post(portal: Running) -> None:
    authors = [(row["hidden"]["post_id"], row["hidden"]["author_id"]) for row in truth(portal) if row["text"] == "+1"]
    assert len(set(authors)) < len(authors)


def test_files_are_those_of_the_drive_and_their_links_need_a_session(portal: Running) -> None:
    answer = next(
        answer for author in range(2, 30)
        if (answer := result(portal, "log.blogcomment.user.get", {"USER_ID": author}))["FILES"]
    )  # fmt: skip
    named = {str(number) for row in answer["COMMENTS"] for number in row["attach"]}
    assert set(answer["FILES"]) == named
    opened = 0
    for number, about in answer["FILES"].items():
        page = send(about["urlDownload"], headers={"User-Agent": "test/1"})
        assert (page.status, page.body[:9]) == (200, b"<!DOCTYPE")
        file = call(portal, "disk.file.get", {"id": number}).json
        if "result" in file:
            body = send(file["result"]["DOWNLOAD_URL"], headers={"User-Agent": "test/1"}).body
            assert len(body) == about["size"] == int(file["result"]["SIZE"])
            opened += 1
    assert opened


def test_the_method_hides_from_the_list_of_methods(portal: Running) -> None:
    names = result(portal, "methods")
    assert "log.blogpost.get" in names
    assert "log.blogcomment.user.get" not in names
    portal.portal.scopes_of[2] = ("user",)
    assert call(portal, "log.blogcomment.user.get", user=2).json["error"] == "insufficient_scope"
    del portal.portal.scopes_of[2]


def test_comments_come_change_and_go(small: Running) -> None:
    wish = {"stream": "feed_comments", "op": "add", "files": 1, "fields": {"text": "hello", "author_id": 2}}
    number = control(small, "mutate", wish)["ids"][0]
    first = comments_by(small, 2, user=2)[0]
    assert (first["id"], first["text"], len(first["attach"])) == (number, "hello", 1)
    control(small, "mutate", {"stream": "feed_comments", "id": number, "fields": {"text": "edited"}})
    assert comments_by(small, 2, user=2)[0]["text"] == "edited"
    control(small, "mutate", {"stream": "feed_comments", "op": "delete", "id": number})
    assert number not in [row["id"] for row in comments_by(small, 2, user=2)]
    assert control(small, "mutate", {"stream": "feed_comments", "id": 1})["error"] == "ERROR_NOT_FOUND"
