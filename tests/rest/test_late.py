"""What arrives later than a record that names it, where a box does not let the record be changed any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.rest.everything import Move, moving

SMALL: dict[str, Any] = {"companies": 2, "contacts": 2, "deals": 2, "smart_items": 1, "posts": 6, "templates": 0}


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
    with moving(tmp_path, **SMALL) as move:
        task = next(iter(move.world.cloud.portal.company.tasks.table))
        comment = own_comment(move, text=f"see /company/personal/user/1/tasks/task/view/{task}/")
        assert move.run().exit_code == 0
        new = move.world.records("Tasks")[str(task)]["TargetId"]
        assert f"/tasks/task/view/{new}/" in there(move, comment)["text"]
        assert move.unforeseen == []
