"""Files of a post that come and go after it was moved, on a box without the module."""

from __future__ import annotations

from pathlib import Path

from tests.targets.everything import Move, moving


def files(move: Move, post: str) -> list[int]:
    """Attachments of the post on the box."""
    target = int(move.world.records("FeedPosts")[post]["TargetId"])
    return list(move.world.box.portal.company.feed.posts[target].extra.get("FILES", []))


def test_files_of_a_post_come_and_go(tmp_path: Path) -> None:
    with moving(tmp_path, "users", "groups", "feed") as move:
        assert move.run().exit_code == 0
        post = next(one for one in move.world.records("FeedPosts") if not files(move, one))
        move.world.change("feed_posts", id=post, fields={"DETAIL_TEXT": "С двумя файлами"}, files=2)
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        both = files(move, post)
        assert len(both) == 2
        shown = move.world.cloud.portal.company.feed.posts[int(post)].extra["FILES"]
        move.world.change("feed_posts", id=post, fields={"DETAIL_TEXT": "С одним", "FILES": shown[1:]})
        assert move.run().exit_code == 0
        assert move.unforeseen == []
        assert files(move, post) == both[1:]
        move.world.change("feed_posts", id=post, fields={"DETAIL_TEXT": "И так же"})
        assert move.run().exit_code == 0
        assert files(move, post) == both[1:]
