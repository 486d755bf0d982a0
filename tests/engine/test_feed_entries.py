"""Comments that name the entry of their post in the feed: each is migrated under its post, or is counted with the
reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.engine.every_stream import SETTINGS
from tests.engine.world import SMALL, World, world

from b24migrate.entities.feed import entries as feed
from b24migrate.entities.feed.entries import Cursor
from b24migrate.entities.feed.streams import HIDDEN
from b24migrate.model.streams import PHASES
from b24sim import Plan
from b24sim.company.feed import ALL, PUBLISHED
from b24sim.methods.feed import FeedHabits

PLAN = replace(SMALL, posts=90, comments_per_post=6, deals=0, tasks=0)
FEW = replace(PLAN, posts=56, comments_per_post=3)  # two pages of posts
WEBHOOKS = (1, 2, 5)
ENTITIES = ("users", "groups", "feed")


@contextmanager
def company(
    folder: Path, habits: FeedHabits | None = None, webhooks: tuple[int, ...] = WEBHOOKS, plan: Plan = PLAN
) -> Iterator[World]:
    with world(folder, plan, webhooks=webhooks, feed_habits=habits) as made:
        made.settings = {"mapping": dict(SETTINGS["mapping"]), "run": {"user_coverage": 0.5}}
        close_posts(made)
        yield made


def close_posts(made: World) -> None:
    """Users commented on them and may see them no longer: one is shown to no webhook, the other only to the last."""
    feed = made.cloud.portal.company.feed
    rows = [row for row in said_by(made).values() if feed.posts[row["_post_id"]].author not in made.webhooks]
    first = min(row["_post_id"] for row in rows)
    feed.posts[first].dest = ("U9",)
    others = [row["_post_id"] for row in rows if row["_author_id"] != made.webhooks[-1] and row["_post_id"] != first]
    if others:
        feed.posts[min(others)].dest = (f"U{made.webhooks[-1]}",)
    feed.version += 1


def said_by(made: World) -> dict[str, dict[str, Any]]:
    """Comments of those whose webhooks are there, by the key that they should have."""
    rows = made.cloud.portal.company.feed_rows.comments
    mine = [rows.row(number) for number in rows if rows.row(number)["_author_id"] in made.webhooks]
    return {f"{row['_post_id']}:{row['comment_id']}": row for row in mine}


def seen_posts(made: World) -> set[int]:
    company = made.cloud.portal.company
    by_webhook = [company.feed.seen_with(company.access_codes(user)) for user in made.webhooks]
    return {post.id for posts in by_webhook for post in posts if post.status == PUBLISHED}


def aside(made: World) -> Counter[str]:
    prefix = "impossible:feed_comments:"
    rows = made.sql("SELECT Reason FROM SetAside WHERE RowKey LIKE ? || '%'", prefix)
    return Counter(reason for (reason,) in rows)


CURSORS: dict[Cursor, dict[str, Any]] = {
    Cursor.ENTRY: {},
    Cursor.POST: {"cursor_is_post": True},
    Cursor.NONE: {"old": True},
}


# Each two of the three meet.
HABITS = [(names, cursor, names == (cursor is Cursor.POST)) for names, cursor in product((False, True), CURSORS)]


@pytest.mark.parametrize(
    ("names_post", "cursor", "lower"), HABITS, ids=lambda one: one if isinstance(one, Cursor) else str(one)[0]
)
def test_every_comment_is_migrated_or_counted(tmp_path: Path, names_post: bool, cursor: Cursor, lower: bool) -> None:
    habits = FeedHabits(comments_name_post=names_post, lower_keys=lower, **CURSORS[cursor])
    with company(tmp_path, habits, plan=FEW) as made:
        ended = made.run(*ENTITIES)
        ours, readable = said_by(made), seen_posts(made)
        visible = {key for key, row in ours.items() if row["_post_id"] in readable}
        assert visible
        found = made.records("FeedComments")
        unread = aside(made)
        others = unread.pop(HIDDEN)
        assert others == len(made.cloud.portal.company.feed_rows.comments) - len(ours) - of_strangers(made)
        if names_post:
            assert found.keys() == ours.keys()
            assert not unread
        elif cursor is Cursor.ENTRY:
            assert ended.exit_code == 0
            assert found.keys() == visible
            assert unread == {feed.UNSEEN: len(ours) - len(visible)}
            assert len(visible) < len(ours)
        else:
            assert ended.exit_code == 0
            assert not found
            assert unread == {feed.BY_POST if cursor is Cursor.POST else feed.NO_CURSOR: len(ours)}
        imported = made.imported("feed_comments")
        posts = {row["id"]: key for key, row in made.imported("feed_posts").items()}
        for key in visible & found.keys():
            fields = imported[f"source:feed_comments:{key}"]["fields"]
            assert posts[fields["post_id"]] == f"source:feed_posts:{ours[key]['_post_id']}"
            assert bool(fields["text"]) == bool(ours[key]["text"])


@pytest.mark.parametrize("order", ["nearest", "bumped"])
def test_no_comment_goes_to_a_wrong_post_whatever_the_order_of_posts(tmp_path: Path, order: str) -> None:
    with company(tmp_path, FeedHabits(order=order)) as made:
        assert made.run(*ENTITIES).exit_code == 0
        ours, readable = said_by(made), seen_posts(made)
        visible = {key for key, row in ours.items() if row["_post_id"] in readable}
        found = made.records("FeedComments").keys()
        assert found == visible if order == "nearest" else found < visible
        assert aside(made)[feed.UNSEEN] == len(ours) - len(found)


def of_strangers(made: World) -> int:
    """Comments of people who were deleted: nobody can ask for them."""
    rows = made.cloud.portal.company.feed_rows.comments
    return sum(rows.row(number)["_author_id"] not in made.cloud.portal.company.users for number in rows)


def test_entries_are_asked_for_by_the_dozen_and_only_once(tmp_path: Path) -> None:
    def calls() -> Counter[str]:
        stats = made.cloud.portal.stats
        return Counter({"requests": stats.http_requests, "commands": stats.inner[feed.METHOD]})

    spent = {}
    for names_post in (True, False):
        folder = tmp_path / str(names_post)
        folder.mkdir()
        with company(folder, FeedHabits(comments_name_post=names_post)) as made:
            made.run(*ENTITIES)
            entries = {row["_log_id"] for row in said_by(made).values()}
            first = calls()
            made.run("feed")
            spent[names_post] = first, calls() - first
    assert len(entries) >= 2 * feed.ENTRIES_AT_ONCE
    more = spent[False][0] - spent[True][0]
    # up and down, each author's by himself, and what he does not see once more through the first webhook
    assert more["requests"] <= 2 * (2 * len(WEBHOOKS) + len(entries) // feed.ENTRIES_AT_ONCE)
    assert more["commands"] <= 8 * len(entries)
    again = spent[False][1] - spent[True][1]
    assert again["requests"] <= 4 * len(WEBHOOKS)  # those that nobody sees


def test_a_store_of_before_goes_on_without_doubling(tmp_path: Path) -> None:
    """It had set all of them aside under their entries."""
    with company(tmp_path, FeedHabits(old=True)) as made:
        assert made.run(*ENTITIES).exit_code == 0
        keys = [key for (key,) in made.sql("SELECT RowKey FROM SetAside") if ":log" in key]
        assert len(keys) > 100
        made.cloud.portal.feed_habits = FeedHabits()
        assert made.run("feed").exit_code == 0
        ours = said_by(made)
        migrated = made.records("FeedComments").keys()
        assert migrated <= ours.keys()
        assert len(migrated) + aside(made)[feed.UNSEEN] == len(ours)
        made.cloud.portal.feed_habits = FeedHabits(comments_name_post=True, old=True)
        before = made.imported("feed_comments")
        made.run("feed")
        assert before.items() <= made.imported("feed_comments").items()
        assert made.imported("feed_comments").keys() == {f"source:feed_comments:{key}" for key in migrated}


def test_what_was_found_out_before_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    """A job whose time is up leaves the rest to the next, which knows what it knew."""
    with company(tmp_path) as made:
        assert made.run("users", "groups").exit_code == 0
        with made.app() as opened:
            app = opened.with_context(opened.context.with_options(longest_job_s=0.0))
            assert app.runner.run(app.chosen(("feed",)), PHASES, tick=made.leap()).exit_code == 0
        assert made.sql("SELECT count(*) FROM Aliases") == [
            (len({key.partition(":")[0] for key in made.records("FeedComments")}),)
        ]
        assert len(made.records("FeedComments")) + aside(made)[feed.UNSEEN] == len(said_by(made))


@pytest.mark.parametrize("posts", [0, 1, 2, 90])
def test_which_id_the_cursors_take_is_proven(tmp_path: Path, posts: int) -> None:
    with world(tmp_path, replace(PLAN, posts=posts)) as made:
        for post in made.cloud.portal.company.feed.posts.values():
            post.dest = (ALL,)
        for kind, order in product(CURSORS, ("newest", "nearest", "bumped")):
            made.cloud.portal.feed_habits = FeedHabits(**CURSORS[kind], order=order)
            hidden = order == "bumped" and kind is Cursor.POST and posts == PLAN.posts  # some are found and some not
            with made.app() as app:
                found = feed.cursor_kind(app.context.source)
            assert found is (kind if posts and not hidden else Cursor.UNKNOWN), (kind, order)


@pytest.mark.parametrize("kind", CURSORS)
def test_an_entry_with_the_number_of_another_post_is_not_mistaken_for_it(tmp_path: Path, kind: Cursor) -> None:
    """A single comment, on a post whose entry has the number of another post: nothing else proves what cursors count."""
    habits = FeedHabits(**CURSORS[kind])
    with company(tmp_path, habits, webhooks=(1,)) as made:
        posts = made.cloud.portal.company.feed.posts
        for post in posts.values():
            post.dest = (ALL,)
        with made.app() as app:
            taken = [post for post in posts.values() if post.log_id in posts and posts[post.log_id] is not post]
            found = [post for post in taken if post.status == posts[post.log_id].status == PUBLISHED]
            for post in found:
                entries = feed.posts_of_entries(app.context.source, {str(post.log_id): 0})
                assert entries[str(post.log_id)].id == (str(post.id) if kind is Cursor.ENTRY else "")
            assert found


@pytest.mark.parametrize("odd", ["10000-01-01T00:00:00Z", "", "²", "9" * 5000])
def test_an_entry_without_a_number_leaves_the_others_their_posts(tmp_path: Path, odd: str) -> None:
    with company(tmp_path, FeedHabits(), webhooks=(1,)) as made:
        posts = made.cloud.portal.company.feed.posts
        for post in posts.values():
            post.dest = (ALL,)
        chosen = next(post for post in posts.values() if post.status == PUBLISHED)
        with made.app() as app:
            entries = feed.posts_of_entries(app.context.source, {odd: 0, str(chosen.log_id): 0})
    assert (entries[odd].id, entries[str(chosen.log_id)].id) == ("", str(chosen.id))
