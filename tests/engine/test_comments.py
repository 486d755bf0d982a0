"""Comments of tasks lie in two places, and some in both: each arrives once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.every_stream import tasks_of
from tests.engine.world import World

from b24sim.dump import dump

ENTITIES = ("users", "groups", "tasks")


def truth(world: World) -> set[str]:
    return {record["id"] for record in dump(world.cloud.portal, "task_comments")}


EMOJI, TWICE = "Да 😀👍 :f0:", "Да"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """With some comments in the forum that are like no others."""
    with tasks_of(tmp_path_factory.mktemp("moved")) as made:
        task = next(iter(made.cloud.portal.company.tasks.table))
        for text in (EMOJI, TWICE, TWICE):
            made.change("task_comments", "add", task=task, where="forum", fields={"POST_MESSAGE": text})
        made.run(*ENTITIES)
        yield made


def test_each_comment_is_staged_once_whatever_shows_it(moved: World) -> None:
    staged = set(moved.records("TaskComments"))
    assert staged == truth(moved)
    assert {key.partition(":")[2][0] for key in staged} == {"f", "m"}
    copies = [record for record in dump(moved.cloud.portal, "task_comments") if record["forum"] and record["message"]]
    assert moved.stream("task_comments").excluded == len(copies) > 0
    aside: dict[str, str] = dict(
        moved.sql("SELECT RowKey, Reason FROM SetAside WHERE RowKey LIKE 'excluded:task_comments:%'")
    )
    for copy in copies:
        task = copy["id"].partition(":")[0]
        assert aside[f"excluded:task_comments:{task}:m{copy['message']}"] == f"the same as {copy['id']}"


def test_emoji_that_the_forum_tells_as_digits_arrive_as_emoji(moved: World) -> None:
    texts = [row["fields"]["text"] for row in moved.imported("task_comments").values()]
    assert EMOJI in texts
    assert not [text for text in texts if ":f09f" in str(text)]


def test_the_same_words_twice_are_two_comments(moved: World) -> None:
    task = next(iter(moved.cloud.portal.company.tasks.table))
    texts = Counter(row["fields"]["text"] for key, row in moved.imported("task_comments").items() if f":{task}:" in key)
    assert texts[TWICE] == 2


def test_reading_them_again_finds_the_same_copies(moved: World) -> None:
    before = set(moved.records("TaskComments")), moved.stream("task_comments")
    assert moved.run(*ENTITIES).exit_code == 0
    assert (set(moved.records("TaskComments")), moved.stream("task_comments")) == before


def test_a_chat_that_no_webhook_may_read_is_told(tmp_path: Path) -> None:
    with tasks_of(tmp_path, admins_read_task_chats=False) as made:
        made.run(*ENTITIES)
        about = made.entity("tasks")
        assert about.streams["task_comments"].impossible > 0
        assert [note for note in about.notes if "task_comments" in note or "task comments" in note]
        assert set(made.records("TaskComments")) < truth(made)
