"""log.blogpost.*: what posts look like, who sees them, and in which order they come."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.b24sim.client import call, control, result, send

from b24sim import Company, ManualClock, Plan, Portal, Running, serve
from b24sim.company.attachments import Family, attachment_id
from b24sim.company.feed import CASES, MODERATED
from b24sim.methods.feed import FeedHabits
from b24sim.options import parser
from b24sim.portal_setup import portal_from

PLAN = Plan(users=40, departments=8, groups=12, chats=12, messages=300, files=20, seed=4, posts=240)


def _served(habits: FeedHabits | None = None) -> Portal:
    return Portal(Company(PLAN), webhooks=(1, 2, 7), clock=ManualClock(), feed_habits=habits)


@pytest.fixture(scope="module")
def portal() -> Iterator[Running]:
    """Tests leave it as it is."""
    with serve(_served()) as running:
        yield running


def pages(running: Running, params: dict[str, Any], user: int = 1) -> list[Any]:
    rows: list[Any] = []
    start: int | None = 0
    while start is not None:
        reply = call(running, "log.blogpost.get", params | {"start": start}, user).json
        rows += reply["result"]
        start = reply.get("next")
    return rows


def truth(running: Running, user: int | None = None) -> dict[str, Any]:
    page = "dump?stream=feed_posts" + (f"&visible_to={user}" if user else "")
    return {record["id"]: record["fields"] for record in control(running, page)["records"]}


@pytest.mark.parametrize("user", [1, 2])
def test_pages_give_every_post_the_caller_may_see_and_no_other(portal: Running, user: int) -> None:
    found = [row["ID"] for row in pages(portal, {}, user)]
    assert len(found) == len(set(found))
    assert set(found) == set(truth(portal, user))
    assert len(found) < len(truth(portal))


def test_being_administrator_reveals_neither_private_posts_nor_closed_groups(portal: Running) -> None:
    found = {row["ID"] for row in pages(portal, {})}
    groups = portal.portal.company.groups_by_id
    records = truth(portal)
    for number, fields in records.items():
        for code in fields["hidden"]["DEST"]:
            if code.startswith("SG") and len(fields["hidden"]["DEST"]) == 1 and fields["AUTHOR_ID"] != "1":
                assert (number in found) == (1 in groups[int(code[2:])].roles and fields["PUBLISH_STATUS"] == "P")
    private = [n for n, f in records.items() if f["hidden"]["DEST"][0][0] == "U" and "U1" not in f["hidden"]["DEST"]]
    private = [n for n in private if not set(records[n]["hidden"]["DEST"]) & {"UA"}]
    assert private
    assert not [n for n in private if n in found]


def test_a_comment_brings_its_post_to_the_top() -> None:
    with serve(_served()) as running:
        last = pages(running, {})[-1]["ID"]
        control(running, "clock", {"advance": 10**9})
        control(running, "mutate", {"stream": "feed_comments", "op": "add", "post": last})
        first = pages(running, {})[0]
        assert (first["ID"], truth(running)[last]["NUM_COMMENTS"]) == (last, first["NUM_COMMENTS"])


def test_ids_and_dates_are_not_in_the_same_order(portal: Running) -> None:
    rows = sorted(pages(portal, {}), key=lambda row: int(row["ID"]))
    dates = [row["DATE_PUBLISH"] for row in rows]
    assert dates != sorted(dates)


def test_pages_run_short_where_a_post_waits_for_its_moderator() -> None:
    company = Company(PLAN)
    waiting = [post for post in company.feed.posts.values() if post.status == MODERATED]
    assert waiting
    for post in waiting:
        post.dest = ("UA",)
    with serve(Portal(company, clock=ManualClock())) as running:
        total = call(running, "log.blogpost.get").json["total"]
        assert total == len(pages(running, {})) + len(waiting)
        everything = result(running, "log.blogpost.get", {"FIRST_ID": 0, "LIMIT": 200})
        assert {row["PUBLISH_STATUS"] for row in everything} == {"P"}


def test_a_start_beyond_the_end_gives_the_first_page_again(portal: Running) -> None:
    first, beyond = (result(portal, "log.blogpost.get", {"start": start}) for start in (0, 10_000))
    assert first == beyond


def test_cursors_walk_up_and_down_over_everything_in_no_order(portal: Running) -> None:
    with serve(_served(FeedHabits(order="nearest"))) as running:
        walk_up_and_down(running)
    assert len(result(portal, "log.blogpost.get", {"FIRST_ID": 0, "LIMIT": 1000})) <= 200


def walk_up_and_down(portal: Running) -> None:
    entries = {n: f["hidden"]["LOG_ID"] for n, f in truth(portal, 1).items()}
    for name, furthest in (("FIRST_ID", max), ("LAST_ID", min)):
        found: list[str] = []
        cursor, sorted_pages = 0, []
        while True:
            reply = call(portal, "log.blogpost.get", {name: cursor, "LIMIT": 20, "start": 50}).json
            assert "next" not in reply
            if not reply["result"]:
                break
            assert len(reply["result"]) <= 20
            page = [row["ID"] for row in reply["result"]]
            sorted_pages.append(page == sorted(page, key=lambda number: entries[number], reverse=furthest is min))
            found += page
            cursor = furthest(entries[number] for number in page)
        assert len(found) == len(set(found))
        assert set(found) == set(entries)
        assert not all(sorted_pages)


@pytest.mark.parametrize("cursor_is_post", [False, True])
def test_a_cursor_is_an_entry_of_the_feed_or_on_some_portals_a_post(cursor_is_post: bool) -> None:
    with serve(_served(FeedHabits(cursor_is_post=cursor_is_post, order="nearest"))) as running:
        numbers = {n: int(n) if cursor_is_post else f["hidden"]["LOG_ID"] for n, f in truth(running, 1).items()}
        for number, cursor in numbers.items():
            (first,) = result(running, "log.blogpost.get", {"FIRST_ID": cursor - 1, "LIMIT": 1})
            behind = result(running, "log.blogpost.get", {"FIRST_ID": cursor, "LIMIT": 1})
            (last,) = result(running, "log.blogpost.get", {"LAST_ID": cursor + 1, "LIMIT": 1})
            assert first["ID"] == last["ID"] == number
            assert [row["ID"] for row in behind] != [number]


@pytest.mark.parametrize("order", ["newest", "nearest", "bumped"])
def test_no_order_of_what_lies_beyond_a_cursor_is_documented(order: str) -> None:
    with serve(_served(FeedHabits(order=order))) as running:
        entries = {n: f["hidden"]["LOG_ID"] for n, f in truth(running, 1).items()}
        ordered = sorted(entries, key=lambda number: entries[number])
        middle = entries[ordered[len(ordered) // 2]]
        (up,) = result(running, "log.blogpost.get", {"FIRST_ID": middle, "LIMIT": 1})
        (down,) = result(running, "log.blogpost.get", {"LAST_ID": middle, "LIMIT": 1})
        nearest = ordered[len(ordered) // 2 + 1], ordered[len(ordered) // 2 - 1]
        bumped = [row["ID"] for row in pages(running, {}) if row["ID"] in entries]
        last = [next(n for n in bumped if (entries[n] - middle) * side > 0) for side in (1, -1)]
        wanted = {"newest": (ordered[-1], nearest[1]), "nearest": nearest, "bumped": tuple(last)}
        assert (up["ID"], down["ID"]) == wanted[order]


def test_windows_of_publication_cover_every_post_once(portal: Running) -> None:
    everything = truth(portal, 1)
    dates = sorted(fields["DATE_PUBLISH"] for fields in everything.values())
    middle = dates[len(dates) // 2]
    early = pages(portal, {"LOG_DATE_TO": middle})
    late = pages(portal, {"LOG_DATE_FROM": middle})
    assert {row["ID"] for row in early + late} == set(everything)
    assert len(early) + len(late) == len(everything) + 1
    reply = call(portal, "log.blogpost.get", {"LOG_DATE_FROM": "yesterday-ish"})
    assert (reply.status, reply.json["error"]) == (400, "ERROR_ARGUMENT")


def test_an_older_portal_ignores_what_it_does_not_know() -> None:
    with serve(_served(FeedHabits(old=True))) as running:
        asked = {"LOG_DATE_FROM": "rubbish", "LOG_DATE_TO": "2001-01-01", "FIRST_ID": 10**6, "LIMIT": 3}
        reply = call(running, "log.blogpost.get", asked).json
        assert (len(reply["result"]) > 40, reply["next"]) == (True, 50)


def test_recipients_can_be_found_out_only_by_asking_for_them(portal: Running) -> None:
    everything = truth(portal, 1)
    assert not any("DEST" in row for row in pages(portal, {}))
    for code in ("UA", "U1", next(c for f in everything.values() for c in f["hidden"]["DEST"] if c.startswith("SG"))):
        found = {row["ID"] for row in pages(portal, {"LOG_RIGHTS": [code]})}
        addressed = {n for n, f in everything.items() if code in f["hidden"]["DEST"]}
        # The author may view his post too, so more is found than was addressed.
        written = {n for n, f in everything.items() if code == f"U{f['AUTHOR_ID']}"}
        assert found == addressed | written
    one = next(n for n, f in everything.items() if f["HAS_SOCNET_ALL"] == "N")
    assert [row["ID"] for row in pages(portal, {"POST_ID": one, "LOG_RIGHTS": ["UA"]})] == [one]


def test_a_post_that_may_not_be_seen_is_simply_not_there(portal: Running) -> None:
    mine = truth(portal, 1)
    hidden = next(n for n in truth(portal) if n not in mine)
    reply = call(portal, "log.blogpost.get", {"POST_ID": hidden}).json
    assert (reply["result"], reply["total"]) == ([], 0)


def test_custom_fields_are_descriptions_with_a_value_or_are_not_there_at_all(portal: Running) -> None:
    rows = pages(portal, {})
    assert {row["HAS_PROPS"] for row in rows} == {"Y", "N"}
    for row in rows:
        fields = {name: value for name, value in row.items() if name.startswith("UF_")}
        if row["HAS_PROPS"] == "N":
            assert not fields
            assert "FILES" not in row
            continue
        assert all(field["FIELD_NAME"] == name for name, field in fields.items())
        assert fields["UF_BLOG_POST_FILE"]["VALUE"] == row.get("FILES", False)
    important = [row for row in rows if row.get("UF_BLOG_POST_IMPRTNT", {}).get("VALUE") == "1"]
    assert {bool(row["UF_IMPRTANT_DATE_END"]["VALUE"]) for row in important} == {True, False}
    assert any(row["UF_BLOG_POST_VOTE"]["VALUE"] for row in rows if row["HAS_PROPS"] == "Y")
    assert any(row["UF_GRATITUDE"]["VALUE"] for row in rows if row["HAS_PROPS"] == "Y")


def test_every_unpleasant_case_occurs(portal: Running) -> None:
    everything = list(truth(portal).values())
    texts = [fields["DETAIL_TEXT"] for fields in everything]
    assert {post.case for post in portal.portal.company.feed.posts.values()} == set(CASES)
    for sign in ("[DISK FILE ID=", "[USER=", "[TAG]", "#", "/blog/", "/workgroups/group/", "🎉", "$result["):
        assert any(sign in text for text in texts), sign
    assert max(map(len, texts)) > 65_536
    assert {fields["MICRO"] for fields in everything} == {"Y", "N"}
    users = portal.portal.company.users
    assert any(int(fields["AUTHOR_ID"]) not in users for fields in everything)
    assert any(
        not portal.portal.company.is_active(int(f["AUTHOR_ID"])) for f in everything if int(f["AUTHOR_ID"]) in users
    )
    tagged = [fields for fields in everything if fields["HAS_TAGS"] == "Y"]
    assert any(tag not in fields["DETAIL_TEXT"] for fields in tagged for tag in fields["hidden"]["TAGS"])


def test_files_are_attachments_that_lead_to_the_drive(portal: Running) -> None:
    rows = [row for row in pages(portal, {}) if row.get("FILES")]
    objects: list[str] = []
    refused = 0
    for row in rows:
        for number in row["FILES"]:
            about = result(portal, "disk.attachedObject.get", {"id": number})
            assert about["ENTITY_ID"] == row["ID"]
            objects.append(about["OBJECT_ID"])
            file = call(portal, "disk.file.get", {"id": about["OBJECT_ID"]}).json
            if "error" in file:
                assert file["error"] == "ACCESS_DENIED"
                refused += 1
                file = {"result": about}
            body = send(file["result"]["DOWNLOAD_URL"], headers={"User-Agent": "test/1"}).body
            assert len(body) == int(about["SIZE"])
    assert refused
    assert any(int(number) < 2_000_000 for number in objects), "a file of a chat"
    inline = next(row for row in rows if "[DISK FILE ID=" in row["DETAIL_TEXT"])
    assert f"[DISK FILE ID={inline['FILES'][0]}]" in inline["DETAIL_TEXT"]


def test_the_same_file_hangs_on_two_posts(portal: Running) -> None:
    company = portal.portal.company
    found: dict[int, set[int]] = {}
    for post in company.feed.posts.values():
        for number in company.feed_files.of_post(post.place):
            attachment = company.attachments.find(number)
            assert attachment is not None
            found.setdefault(attachment.object_id, set()).add(post.id)
    assert any(len(posts) > 1 for posts in found.values())


def test_a_file_hangs_on_a_task_as_well() -> None:
    company = Company(replace(PLAN, tasks=60))
    objects = {
        attachment.object_id
        for post in company.feed.posts.values()
        for number in company.feed_files.of_post(post.place)
        if (attachment := company.attachments.find(number))
    }
    tasks = filter(None, (company.attachments.find(attachment_id(Family.TASK, place)) for place in range(60)))
    assert objects & {attachment.object_id for attachment in tasks}


def test_files_of_posts_one_may_not_see_are_refused(portal: Running) -> None:
    mine = truth(portal, 1)
    hidden = next(f for n, f in truth(portal).items() if n not in mine and f.get("FILES"))
    assert call(portal, "disk.attachedObject.get", {"id": hidden["FILES"][0]}).json["error"] == "ACCESS_DENIED"


def test_who_read_an_important_post(portal: Running) -> None:
    important = [n for n, f in truth(portal).items() if f["hidden"]["IMPORTANT"]]
    mine = truth(portal, 1)
    readable = next(n for n in important if n in mine)
    readers = result(portal, "log.blogpost.getusers.important", {"POST_ID": readable})
    assert readers
    assert all(isinstance(user, str) and portal.portal.company.is_active(int(user)) for user in readers)
    hidden = next(n for n in important if n not in mine)
    assert result(portal, "log.blogpost.getusers.important", {"POST_ID": hidden}) == []


def test_posts_come_change_and_go(small: Running) -> None:
    wish = {"stream": "feed_posts", "op": "add", "files": 2, "fields": {"DETAIL_TEXT": "fresh", "DEST": ["U2"]}}
    number = str(control(small, "mutate", wish)["ids"][0])
    row = result(small, "log.blogpost.get", {"POST_ID": number}, user=2)[0]
    assert (row["DETAIL_TEXT"], row["TITLE"], row["MICRO"], len(row["FILES"])) == ("fresh", "fresh", "Y", 2)
    assert result(small, "disk.attachedObject.get", {"id": row["FILES"][1]})["ENTITY_ID"] == number
    control(small, "mutate", {"stream": "feed_posts", "id": number, "fields": {"TITLE": "T", "DETAIL_TEXT": "edited"}})
    row = result(small, "log.blogpost.get", {"POST_ID": number}, user=2)[0]
    assert (row["TITLE"], row["DETAIL_TEXT"], row["MICRO"]) == ("T", "edited", "N")
    grown = next(n for n, f in truth(small, 1).items() if int(f["NUM_COMMENTS"]))
    before = control(small, "company")["counts"]
    gone = int(truth(small)[grown]["NUM_COMMENTS"])
    control(small, "mutate", [{"stream": "feed_posts", "op": "delete", "id": n} for n in (grown, number)])
    after = control(small, "company")["counts"]
    assert before["feed_posts"] - after["feed_posts"] == 2
    assert before["feed_comments"] - after["feed_comments"] == gone
    assert result(small, "log.blogpost.get", {"POST_ID": grown}) == []
    assert control(small, "mutate", {"stream": "feed_posts", "op": "update", "id": 10**6})["error"] == "ERROR_NOT_FOUND"


def test_the_same_seed_gives_the_same_feed_whoever_joins_in_between() -> None:
    with serve(_served()) as first, serve(_served()) as second:
        control(first, "mutate", {"stream": "groups", "op": "add", "fields": {"NAME": "New"}})
        group = first.portal.company.groups.ids[0]
        control(first, "mutate", {"stream": "group_members", "op": "add", "group": group, "user": 39})
        for stream in ("feed_posts", "feed_comments"):
            rows = [str(control(r, f"dump?stream={stream}")).replace(r.url, "") for r in (first, second)]
            assert rows[0] == rows[1]


def test_a_company_may_do_without_a_feed() -> None:
    with serve(Portal(Company(Plan(posts=0)), clock=ManualClock())) as running:
        assert call(running, "log.blogpost.get").json["result"] == []
        assert result(running, "log.blogcomment.user.get", {"USER_ID": 2}) == {"COMMENTS": [], "FILES": []}
        silent = Company(Plan(posts=30, comments_per_post=0))
        assert (len(silent.feed.posts), len(silent.feed_rows.comments)) == (30, 0)
        lonely = Company(Plan(users=1, departments=1, groups=0, chats=0, messages=0, files=0, posts=40))
        assert len([lonely.feed_rows.posts.row(number) for number in lonely.feed_rows.posts]) == 40


def test_options_describe_the_feed_and_its_habits() -> None:
    asked = (
        "--users 9 --posts 7 --comments-per-post 2 --templates 4 --old-feed --feed-cursor post --comments-name post"
        " --comment-keys lower --feed-order nearest"
    )
    portal = portal_from(parser().parse_args(asked.split()))
    assert (len(portal.company.feed.posts), len(portal.company.workflows.templates)) == (7, 4)
    assert portal.feed_habits == FeedHabits(True, True, True, True, "nearest")
    plain = portal_from(parser().parse_args(["--users", "9"]))
    assert (len(plain.company.feed.posts), plain.feed_habits) == (18, FeedHabits())
    box = portal_from(parser().parse_args(["--role", "box"]))
    assert (len(box.company.feed.posts), box.feed_habits) == (0, FeedHabits(comments_name_post=True))
