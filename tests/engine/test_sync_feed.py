"""A delta run brings what happened in the feed, and asks little where nothing did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.migrated import TakeUp, migrated
from tests.engine.world import SMALL, World

from b24migrate.engine.run import RunResult
from b24migrate.model.streams import PHASES
from b24sim.company.feed import Post
from b24sim.context import Context
from b24sim.methods import feed as methods
from b24sim.result import Result

Json = Any
GET = ("custom-fields-get", "get")
PLAN = replace(SMALL, chats=0, messages=0, posts=70, comments_per_post=3)
SETTINGS = {"run": {"entities": ["users", "groups", "feed"]}, "mapping": {"placeholder_user": "1"}}
OWNERS = (1, 2)
NOTHING: Mapping[str, Json] = {}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TakeUp]:
    with migrated(tmp_path_factory.mktemp("feed"), PLAN, webhooks=OWNERS, settings=SETTINGS) as taken_up:
        yield taken_up


@pytest.fixture
def feed(done: TakeUp, tmp_path: Path) -> World:
    return done(tmp_path)


def sync(
    made: World, *, phases: Sequence[str] = PHASES, deep: bool = False, settings: Mapping[str, Json] = NOTHING
) -> RunResult:
    with made.app(**settings) as app:
        return app.runner.run(app.chosen(("feed",)), phases, delta=True, deep=deep, tick=made.leap())


def post(made: World, number: int) -> dict[str, Json]:
    fields: dict[str, Json] = made.imported("feed_posts")[f"source:feed_posts:{number}"]["fields"]
    return fields


def posts(made: World) -> list[int]:
    """Those that anybody sees."""
    known = made.cloud.portal.company.feed.posts
    return [int(key) for key in made.records("FeedPosts") if "UA" in known[int(key)].dest]


def comment_key(made: World, number: int) -> str:
    row = made.cloud.portal.company.feed_rows.comments.row(number)
    return f"{row['_post_id']}:{row['comment_id']}"


def own_comments(made: World) -> list[int]:
    """Of the webhooks' owners."""
    comments, known = made.cloud.portal.company.feed_rows.comments, made.records("FeedComments")
    found = [number for number in comments.ids if comments.row(number)["_author_id"] in OWNERS]
    return [number for number in found if comment_key(made, number) in known]


def is_sound(made: World) -> bool:
    for name in ("feed_posts", "feed_comments"):
        told = made.stream(name)
        assert (told.drift, told.findings, told.failed, told.waiting) == (0, 0, 0, 0), name
    return made.entity("feed").verified


def counted(made: World) -> int:
    """Comments that nobody can read."""
    ((count,),) = made.sql("SELECT count(*) FROM SetAside WHERE RowKey LIKE 'impossible:feed_comments:%'")
    return int(count)


def test_posts_and_comments_follow(feed: World) -> None:
    edited, deleted, commented, *_ = posts(feed)
    first, second, *_ = own_comments(feed)
    erased, rewritten = comment_key(feed, first), comment_key(feed, second)
    group = next(iter(feed.records("Groups")))
    (new,) = feed.change("feed_posts", "add", fields={"DETAIL_TEXT": "Новость", "DEST": [f"SG{group}"]}, files=1)
    feed.change("feed_posts", id=edited, fields={"DETAIL_TEXT": "Правка", "TITLE": ""}, files=1)
    feed.change("feed_posts", "delete", id=deleted)
    feed.change("feed_comments", "delete", id=first)
    feed.change("feed_comments", id=second, fields={"text": "Правка ответа"})
    (answer,) = feed.change("feed_comments", "add", post=commented, fields={"author_id": 2, "text": "Ответ"})
    under = {key for key in feed.records("FeedComments") if key.startswith(f"{deleted}:")}
    feed.take_calls()
    assert sync(feed, phases=GET).exit_code == 0
    assert (
        feed.take_calls()["disk.attachedObject.get"] <= 2 * 3
    )  # of the new files, each time that their posts are listed
    assert sync(feed).exit_code == 0
    assert post(feed, new)["DEST"] == [f"SG{feed.records('Groups')[group]['TargetId']}"]
    assert (post(feed, edited)["DETAIL_TEXT"], len(post(feed, new)["FILES"])) == ("Правка", 1)
    comments = feed.imported("feed_comments")
    assert comments[f"source:feed_comments:{rewritten}"]["fields"]["text"] == "Правка ответа"
    assert comments[f"source:feed_comments:{comment_key(feed, answer)}"]["fields"]["text"] == "Ответ"
    assert feed.deleted("FeedPosts") == {str(deleted)}
    assert feed.deleted("FeedComments") == {erased, *under}
    assert is_sound(feed)


def test_only_own_posts_are_deleted_on_the_target_too(feed: World) -> None:
    """One that is deleted and one whose recipients changed look the same to the API: both stay, with their comments."""
    known = feed.cloud.portal.company.feed.posts
    (own, *_), (gone, hidden, *_) = (
        [one for one in posts(feed) if (known[one].author in OWNERS) == mine] for mine in (True, False)
    )
    commented = [
        feed.change("feed_comments", "add", post=one, fields={"author_id": 1})[0] for one in (own, gone, hidden)
    ]
    sync(feed)
    keys = [comment_key(feed, one) for one in commented]
    for one in (own, gone):
        feed.change("feed_posts", "delete", id=one)
    feed.change("feed_posts", id=hidden, fields={"DEST": ["U5"]})
    assert sync(feed, settings={"run": {"deletions": "delete", "deletions_limit": 100}}).exit_code == 0
    assert feed.deleted("FeedPosts") == {str(one) for one in (own, gone, hidden)}
    there = feed.imported("feed_posts").keys()
    assert [f"source:feed_posts:{one}" in there for one in (own, gone, hidden)] == [False, True, True]
    there = feed.imported("feed_comments").keys()
    assert [f"source:feed_comments:{one}" in there for one in keys] == [False, True, True]
    ((reason,),) = feed.sql("SELECT DISTINCT Reason FROM Deletions WHERE RowKey LIKE 'kept:feed%'")
    assert "hidden" in str(reason)


def test_nothing_changed_costs_little_and_sends_nothing(feed: World) -> None:
    before = counted(feed)
    sync(feed)
    feed.box.portal.stats.reset()
    feed.take_calls()
    assert sync(feed, phases=(*GET, "set")).exit_code == 0
    calls = feed.take_calls()
    assert (calls["disk.attachedObject.get"], calls["disk.file.get"]) == (0, 0)
    assert calls["log.blogcomment.user.get"] == 2 * len(OWNERS)  # a page of each, and the empty one behind it
    assert not [name for name in feed.box.portal.stats.methods if name.endswith(".batch")]
    assert counted(feed) == before > 0


def test_comments_of_others_are_counted_by_a_deep_run(feed: World) -> None:
    before = counted(feed)
    feed.change("feed_comments", "add", post=posts(feed)[0], fields={"author_id": 5})
    assert sync(feed, phases=GET).exit_code == 0
    assert counted(feed) == before
    assert sync(feed, phases=GET, deep=True).exit_code == 0
    assert counted(feed) == before + 1


def test_a_recipient_of_an_old_post_is_found_far_down_a_list(feed: World) -> None:
    """The total tells of it: the first page shows nothing new."""
    group = next(iter(feed.records("Groups")))
    code, old = f"SG{group}", posts(feed)[0]
    feed.change("feed_posts", "add", count=60, fields={"DEST": ["UA", code]})
    sync(feed, phases=GET)
    feed.take_calls()
    sync(feed, phases=GET)
    quiet = feed.take_calls()["log.blogpost.get"]
    feed.change("feed_posts", id=old, fields={"DEST": ["UA", code]})
    assert sync(feed, phases=GET).exit_code == 0
    assert feed.take_calls()["log.blogpost.get"] == quiet + len(
        OWNERS
    )  # the second page of that list, for each webhook
    assert f"{old}:{code}" in feed.records("FeedRecipients")


def test_new_posts_at_the_top_of_a_long_list_do_not_make_it_be_read_whole(feed: World) -> None:
    """As many are new on the first page as the total has grown by. Two lists show them, the author's too; the second
    webhook finds them staged already and reads its lists whole."""
    group = next(iter(feed.records("Groups")))
    code = f"SG{group}"
    feed.change("feed_posts", "add", count=120, fields={"DEST": ["UA", code]})
    sync(feed, phases=GET)
    feed.take_calls()
    sync(feed, phases=GET)
    quiet = feed.take_calls()["log.blogpost.get"]
    new = feed.change("feed_posts", "add", count=3, fields={"DEST": ["UA", code]})
    assert sync(feed, phases=GET).exit_code == 0
    of_posts, of_second_webhook = len(OWNERS), 2 * 2
    assert feed.take_calls()["log.blogpost.get"] <= quiet + of_posts + of_second_webhook
    assert {f"{one}:{code}" for one in new} <= feed.records("FeedRecipients").keys()


@pytest.mark.parametrize("others", [0, 60])
def test_posts_that_come_first_while_pages_are_read_are_not_missed(
    feed: World, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    """All pages share a request, with the first one once more. Where that is not enough, it goes on."""
    by_page = methods._by_page
    shown_to = {user: [one.id for one in feed_of(feed, user)] for user in OWNERS}
    left = {user: only_for(user, shown_to) for user in OWNERS}
    ends = list(left.values())

    def bump(context: Context, shown: Sequence[Post], start: int) -> Result:
        user = context.caller.user
        if start and user in left:
            one = left.pop(user)
            feed.change("feed_posts", id=one, fields={"DETAIL_TEXT": "Поздняя правка"})
            feed.change("feed_comments", "add", post=one, fields={"author_id": 5})
            if others:
                feed.change("feed_posts", "add", count=others, fields={"DEST": ["UA"]})
            shown = feed_of(feed, user)
        return by_page(context, shown, start)

    sync(feed)
    monkeypatch.setattr(methods, "_by_page", bump)
    assert sync(feed).exit_code == 0
    assert not left
    assert {post(feed, one)["DETAIL_TEXT"] for one in ends} == {"Поздняя правка"}


def only_for(user: int, shown_to: Mapping[int, Sequence[int]]) -> int:
    """The last one of his feed that the others do not see."""
    others = {one for other, posts in shown_to.items() if other != user for one in posts}
    return next(one for one in reversed(shown_to[user]) if one not in others)


def feed_of(made: World, user: int) -> Sequence[Post]:
    company = made.cloud.portal.company
    return company.feed.seen_with(company.access_codes(user))


def test_the_pages_of_a_short_feed_share_a_request(feed: World) -> None:
    sync(feed)
    carried = feed.cloud.portal.stats.carried
    before = carried["log.blogpost.get"]
    assert sync(feed, phases=GET).exit_code == 0
    lists = 3  # of groups, departments and users
    assert carried["log.blogpost.get"] - before == len(OWNERS) * (1 + lists)
