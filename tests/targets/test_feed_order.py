"""The feed has no dates but those of the move: who wrote first shows only in the order in which posts arrive."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from tests.targets.everything import moving


def test_posts_and_their_comments_arrive_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", "feed", posts=60, comments_per_post=4) as move:
        move.world.settings["run"] |= {"workers": 8}
        assert move.run().exit_code == 0
        posts = sorted(
            (row["SourceUtc"], int(row["TargetId"])) for row in move.world.table("FeedPosts", "SourceUtc", "TargetId")
        )
        assert [target for _, target in posts] == sorted(target for _, target in posts)
        assert len(posts) > 40
        columns = ("RowKey", "SourceUtc", "TargetId")
        comments = [
            (one["RowKey"], one["SourceUtc"], one["TargetId"]) for one in move.world.table("FeedComments", *columns)
        ]
        for _, answers in groupby(comments, key=lambda one: one[0].partition(":")[0]):
            arrived = [int(target) for _, _, target in sorted(answers, key=lambda one: one[1])]
            assert arrived == sorted(arrived)
