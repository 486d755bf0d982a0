"""What the probes make of answers, without a portal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from b24migrate.bitrix.methods import READS
from b24migrate.engine import probe
from b24migrate.entities import catalog, probes
from b24migrate.entities.feed import entries
from b24migrate.messages import LANGUAGES, words
from b24migrate.model.errors import Limited, Permanent, Transient
from b24migrate.model.records import Json
from b24migrate.model.streams import Probe
from b24migrate.ports import Answer, Command

Portal = Callable[[Command], Json]
EVERY = [*probe.all_probes(catalog().entities), probe.PORTAL]


def run_probe(one: Probe, portal: Portal, *, wide: bool = False) -> tuple[dict[str, Any], list[list[Command]]]:
    """The answers of one probe by such a portal, and what was asked in each round."""
    rounds: list[list[Command]] = []

    class Scripted:
        def batch(self, commands: list[Command]) -> list[Answer]:
            rounds.append(commands)
            return [answer(portal(command)) for command in commands]

    return probe.ask_probes(Scripted(), [one], None, wide=wide), rounds  # type: ignore[arg-type]


def answer(value: Json) -> Answer:
    if isinstance(value, Exception):
        return Answer(None, value)
    total = value.pop("total", None) if isinstance(value, dict) else None
    return Answer(json.dumps(value).encode(), None, total)


def chats(
    pages: Callable[[list[int], Mapping[str, Any]], list[int]], counts: Mapping[str, int] | None = None, of: int = 30
) -> Portal:
    """Three chats of so many messages, whose pages are put together by a function."""
    ids = list(range(101, 101 + of))

    def portal(command: Command) -> Json:
        if command.method == "im.recent.list":
            return {"items": [{"id": f"chat{number}"} for number in (1, 2, 3)], "hasMore": False}
        if command.method == "im.dialog.get":
            return {"message_count": (counts or {}).get(command.params["DIALOG_ID"], of)}
        return {"messages": [{"id": number} for number in pages(ids, command.params)]}

    return portal


def modest(ids: list[int], asked: Mapping[str, Any]) -> list[int]:
    """As documented."""
    if "FIRST_ID" in asked:
        return [number for number in ids if number > asked["FIRST_ID"]][: asked["LIMIT"]]
    return [number for number in ids[::-1] if not asked["LAST_ID"] or number < asked["LAST_ID"]][: asked["LIMIT"]]


def test_a_portal_as_documented_is_seen_as_such() -> None:
    habits, rounds = run_probe(probes.messages, chats(modest))
    assert habits == {
        "first_id": "plain",
        "message_order": "newest",
        "message_count": None,  # of three chats only
        "message_page": None,
        "message_pages": None,
        "recent_page": None,
    }
    assert len(rounds) == 3


def test_the_newest_message_beside_the_oldest_is_seen() -> None:
    def pages(ids: list[int], asked: Mapping[str, Any]) -> list[int]:
        return [*modest(ids, asked), ids[-1]] if asked.get("FIRST_ID") == 0 else modest(ids, asked)

    assert run_probe(probes.messages, chats(pages))[0]["first_id"] == "newest"


@pytest.mark.parametrize(("order", "wanted"), [(sorted, "oldest"), (lambda ids: [*ids[1:], *ids[:1]], "mixed")])
def test_the_order_of_a_page_is_seen(order: Callable[[list[int]], list[int]], wanted: str) -> None:
    habits, _ = run_probe(probes.messages, chats(lambda ids, asked: order(modest(ids, asked))))
    assert habits["message_order"] == wanted


def test_one_count_that_is_wrong_makes_counts_drift_and_chats_that_were_not_seen_whole_say_nothing() -> None:
    assert run_probe(probes.messages, chats(modest, {"chat2": 31}))[0]["message_count"] == "drifting"
    habits, _ = run_probe(probes.messages, chats(modest, of=51))
    assert (habits["message_count"], habits["message_page"]) == (None, 50)


def rows(*owners: int) -> Json:
    return {"productRows": [{"id": owner, "ownerId": owner} for owner in owners]}


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        ([rows(1, 2), rows(2, 1)], "many"),
        ([rows(1), rows(2)], "one"),  # the first of the list counts
        ([rows(), rows()], None),
        ([Permanent("no"), Permanent("no")], "one"),
        ([Limited("later", wait_s=1), Permanent("no")], None),
    ],
)
def test_lists_of_owners_are_proven_by_the_rows(answers: list[Json], wanted: str | None) -> None:
    assert probes.owner_lists([1, 2], [answer(one) for one in answers]) == wanted


@pytest.mark.parametrize("one", EVERY)
@pytest.mark.parametrize(
    "value",
    [
        None, [], {}, 7, "canary", False, [[]], {"items": 5}, {"items": [None, 1, {"id": None}]}, {"messages": "canary"},
        {"items": [{"id": "canary"}], "messages": [{"id": "canary"}], "comments": [{"log_id": "canary"}], "rest": "canary"},
        [{"ID": "5", "AUTHOR_ID": "canary"}], {"LICENSE": "canary"}, {"isExisting": True, "isAvailable": "canary"},
        Permanent("no"), Transient("later"),
    ],
)  # fmt: skip
def test_strange_answers_are_no_answers(one: Probe, value: Json) -> None:
    for wide in (False, True):
        habits, rounds = run_probe(one, lambda _: value, wide=wide)
        assert set(habits) == set(one.values)
        assert "canary" not in json.dumps(habits)
        assert {command.method for commands in rounds for command in commands} <= READS


def test_the_handbook_and_both_languages_name_every_answer() -> None:
    """docs/probe.md defines the format, so its table is checked against the probes."""
    line = re.compile(r"^\| `(\w+)` \| (`.*?`|1 to 1000) \|", re.MULTILINE)
    handbook = (Path(__file__).parents[2] / "docs" / "probe.md").read_text("utf-8").partition("## The answers")[2]
    documented = {key: set(re.findall(r"`(\w+)`", values)) or {"number"} for key, values in line.findall(handbook)}
    known: dict[str, tuple[str, ...] | range] = {"billing": ("inner", "batch")}
    known |= {key: values for one in EVERY for key, values in one.values.items() if one is not probe.PORTAL}
    assert documented == {
        key: set(values) if isinstance(values, tuple) else {"number"} for key, values in known.items()
    }
    for language in LANGUAGES:
        assert not [key for key in known if f"probe.key.{key}" not in words(language)]


@pytest.mark.parametrize("kind", ["post", "entry", "ignored"])
def test_the_feed_takes_the_kind_of_cursor_that_the_probes_saw_without_a_request(kind: str) -> None:
    class Silent:
        habits: Mapping[str, str] = {"feed_cursor": kind}

    assert entries.cursor_kind(Silent()) == kind  # type: ignore[arg-type]
