"""What arrives later than a record that names it, where a box does not let the record be changed any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.targets.everything import Move, moving

from b24migrate.engine import requeue

TASKS_AND_FEED = ("users", "groups", "tasks", "feed")


def own_comment(move: Move, **fields: Any) -> str:
    """One of the webhook's owner, since nobody else's are read; changed on the source. The end of its key."""
    comments = move.world.cloud.portal.company.feed_rows.comments
    number = next(one for one in comments if comments.row(one)["_author_id"] == 1)
    move.world.change("feed_comments", id=number, fields=fields)
    return f":{comments.row(number)['comment_id']}"


def there(move: Move, end: str) -> dict[str, Any]:
    """The comment on the box."""
    rows = move.world.table("FeedComments", "RowKey", "TargetId")
    (target,) = [row["TargetId"] for row in rows if row["RowKey"].endswith(end)]
    comments = move.world.box.portal.company.feed_rows.comments
    (found,) = [row for row in map(comments.row, comments) if str(row["comment_id"]) == target]
    return dict(found)


def test_a_comment_of_the_feed_goes_when_the_task_is_there_that_it_names(tmp_path: Path) -> None:
    with moving(tmp_path, *TASKS_AND_FEED, posts=6, tasks=3) as move:
        task = next(iter(move.world.cloud.portal.company.tasks.table))
        comment = own_comment(move, text=f"see /company/personal/user/1/tasks/task/view/{task}/")
        assert move.run().exit_code == 0
        new = move.world.records("Tasks")[str(task)]["TargetId"]
        assert f"/tasks/task/view/{new}/" in there(move, comment)["text"]
        assert move.unforeseen == []


def test_verify_tells_of_a_comment_that_came_before_what_it_names(tmp_path: Path) -> None:
    with moving(tmp_path, *TASKS_AND_FEED, posts=6, tasks=3) as move:
        task = next(iter(move.world.cloud.portal.company.tasks.table))
        comment = own_comment(move, text=f"see /company/personal/user/1/tasks/task/view/{task}/")
        assert move.run("users", "groups", "feed").exit_code == 0
        assert move.unforeseen == []
        assert move.run().exit_code == 5
        ((stream, fate, source_id, *_),) = move.unforeseen
        assert (stream, fate, source_id.endswith(comment)) == ("feed_comments", "differs", True)
        assert f"/tasks/task/view/{task}/" in there(move, comment)["text"]


def move_without_files_first(move: Move) -> None:
    """They cannot be fetched, and are completed by a retry."""
    move.world.strike_cloud({"method": "download", "kind": "500"})
    assert move.run().exit_code == 5
    assert move.unforeseen == []
    move.world.strike_cloud()
    with move.app() as app:
        requeue.run_requeued(app.runner, requeue.requeue(app.context, app.chosen()), move.world.leap())


def test_verify_tells_of_a_comment_whose_file_came_only_by_a_retry(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", "feed", posts=20, comments_per_post=4) as move:
        move_without_files_first(move)
        found = {one[2].partition(":")[2] for one in move.unforeseen if one[0] == "feed_comments"}
        with_files = [row for row in comments_with_files(move) if row["_author_id"] == 1]
        assert found == {str(row["comment_id"]) for row in with_files} != set()


def test_a_chat_gets_a_picture_that_came_only_by_a_retry_and_verify_tells_of_messages_without_files(
    tmp_path: Path,
) -> None:
    """The picture can be put right."""
    with moving(tmp_path, "users", "groups", "chats") as move:
        move_without_files_first(move)
        found = {one[2] for one in move.unforeseen if one[:2] == ("chat_messages", "differs") and one[3] == "files"}
        payloads = move.world.table("ChatMessages", "RowKey", "Payload")
        assert found == {row["RowKey"] for row in payloads if "FILE_ID" in str(row["Payload"])} != set()
        pictures = [one for one in move.world.box.portal.company.pictures if one[0] == "im"]
        pictured = [one for one in move.world.sql("SELECT RowKey FROM Files") if one[0].startswith("chat:")]
        assert len(pictures) == len(pictured) > 0


def comments_with_files(move: Move) -> list[dict[str, Any]]:
    comments = move.world.cloud.portal.company.feed_rows.comments
    return [dict(row) for row in map(comments.row, comments) if row.get("attach")]


# ---------------------------------------------------------------- what can be put right


def test_posts_are_shown_to_their_groups_although_those_came_only_later(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", "feed", posts=20) as move:
        posts = move.world.box.portal.company.feed.posts
        assert move.run("users", "feed").exit_code == 0
        assert not any(code.startswith("SG") for post in posts.values() for code in post.dest)
        assert move.run().exit_code == 0
        assert any(code.startswith("SG") for post in posts.values() for code in post.dest)
        assert move.unforeseen == []
