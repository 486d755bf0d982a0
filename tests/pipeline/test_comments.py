"""Comments of tasks lie in two places, and some in both: each arrives once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.pipeline.every import everything
from tests.pipeline.world import World

from b24sim.dump import dump

ENTITIES = ("users", "groups", "tasks")


@contextmanager
def talkative(folder: Path, **more: Any) -> Iterator[World]:
    """The CRM stays where it is, and tasks go without it."""
    with everything(folder, **more) as made:
        made.settings["mapping"]["policy"] = {"tasks.groupId": "drop", "tasks.ufCrmTask": "drop"}
        yield made


def truth(world: World) -> set[str]:
    return {record["id"] for record in dump(world.cloud.portal, "task_comments")}


def test_each_comment_is_staged_once_whatever_shows_it(tmp_path: Path) -> None:
    with talkative(tmp_path) as made:
        made.run(*ENTITIES)
        staged = set(made.records("TaskComments"))
        assert staged == truth(made)
        assert {key.partition(":")[2][0] for key in staged} == {"f", "m"}
        copies = [
            record for record in dump(made.cloud.portal, "task_comments") if record["forum"] and record["message"]
        ]
        assert made.stream("task_comments").excluded == len(copies) > 0
        aside: dict[str, str] = dict(
            made.sql("SELECT RowKey, Reason FROM SetAside WHERE RowKey LIKE 'excluded:task_comments:%'")
        )
        for copy in copies:
            task = copy["id"].partition(":")[0]
            assert aside[f"excluded:task_comments:{task}:m{copy['message']}"] == f"the same as {copy['id']}"


def test_emoji_that_the_forum_tells_as_digits_arrive_as_emoji(tmp_path: Path) -> None:
    with talkative(tmp_path) as made:
        task = next(iter(made.cloud.portal.company.tasks.table))
        made.change("task_comments", "add", task=task, where="forum", fields={"POST_MESSAGE": "Да 😀👍 :f0:"})
        made.run(*ENTITIES)
        texts = [row["fields"]["text"] for row in made.imported("task_comments").values()]
        assert "Да 😀👍 :f0:" in texts
        assert not [text for text in texts if ":f09f" in str(text)]


def test_the_same_words_twice_are_two_comments(tmp_path: Path) -> None:
    with talkative(tmp_path) as made:
        task = next(iter(made.cloud.portal.company.tasks.table))
        for _ in range(2):
            made.change("task_comments", "add", task=task, where="forum", fields={"POST_MESSAGE": "Да"})
        made.run(*ENTITIES)
        texts = Counter(
            row["fields"]["text"] for key, row in made.imported("task_comments").items() if f":{task}:" in key
        )
        assert texts["Да"] == 2


def test_reading_them_again_finds_the_same_copies(tmp_path: Path) -> None:
    with talkative(tmp_path) as made:
        made.run(*ENTITIES)
        before = set(made.records("TaskComments")), made.stream("task_comments")
        assert made.run(*ENTITIES).exit_code == 0
        assert (set(made.records("TaskComments")), made.stream("task_comments")) == before


def test_a_chat_that_no_webhook_may_read_is_told(tmp_path: Path) -> None:
    with talkative(tmp_path, admins_read_task_chats=False) as made:
        made.run(*ENTITIES)
        about = made.entity("tasks")
        assert about.streams["task_comments"].impossible > 0
        assert [note for note in about.notes if "task_comments" in note or "comments of the task" in note]
        assert set(made.records("TaskComments")) < truth(made)
