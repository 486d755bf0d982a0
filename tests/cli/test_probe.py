"""`doctor --probe`: how the source behaves, asked of the source itself, kept, and played again by the simulator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import SOURCE_SECRET, Scene, box

from b24migrate.app import open_app
from b24migrate.bitrix.methods import READS
from b24migrate.clock import SystemClock
from b24migrate.config import load
from b24migrate.engine import probe
from b24migrate.engine.doctor import wait_for_limits
from b24migrate.engine.phases.context import RunContext
from b24migrate.entities import catalog
from b24migrate.model.errors import Limited
from b24migrate.model.streams import Asking, Probe
from b24migrate.ports import Command
from b24sim.options import parser
from b24sim.portal_setup import portal_from
from b24sim.serve import Running, serve

EVERYTHING = '[run]\nentities = ["users", "crm_deals", "tasks", "chats", "feed"]\n'
COMPANY = (
    *("--users", "40", "--groups", "6", "--chats", "30", "--messages", "3000", "--files", "3"),
    *("--companies", "10", "--contacts", "20", "--deals", "40", "--tasks", "20", "--posts", "60"),
    *("--comments-per-post", "5", "--secret", SOURCE_SECRET, "--limits", "off"),
)
# Switches of the simulator, and the answer that shows each.
SWITCHES = [
    (
        (),
        {
            "product_owners": "one",
            "feed_cursor": "entry",
            "user_order": "none",
            "crm_order": "none",
            "first_id": "newest",
            "is_available": "false",
            "message_pages": "full",
        },
    ),
    (("--limits", "on"), {"billing": "batch"}),
    (("--limits", "on", "--billing", "inner"), {"billing": "inner"}),
    (
        (
            *("--many-owners", "--feed-cursor", "post", "--comments-name", "entry", "--first-id", "plain"),
            *("--user-order", "ascending", "--crm-order", "descending", "--message-page", "20", "--recent-page", "10"),
        ),
        {
            "product_owners": "many",
            "feed_cursor": "post",
            "comments_name": "entry",
            "comment_keys": "upper",
            "user_order": "ascending",
            "crm_order": "descending",
            "first_id": "plain",
            "message_page": 20,
            "recent_page": 10,
        },
    ),
    (
        (
            *("--old-feed", "--comments-name", "post", "--comment-keys", "lower"),
            *("--message-order", "oldest", "--available-by-scope"),
        ),
        {
            "feed_cursor": "ignored",
            "comments_name": "post",
            "comment_keys": "lower",
            "message_order": "oldest",
            "is_available": "true",
        },
    ),
    (("--messages", "300"), {"message_count": "drifting"}),
    (("--messages", "300", "--message-count", "exact"), {"message_count": "exact"}),
    (("--message-order", "mixed", "--message-pages", "unread"), {"message_order": "mixed", "message_pages": "unread"}),
    (("--message-pages", "short"), {"message_pages": "short"}),
    (("--message-pages", "stuck"), {"message_pages": "stuck"}),
    (("--without", "crm.item.list"), {"crm_order": None, "product_owners": None, "crm_dates": None}),
    (("--scopes", "user,department,im"), {"feed_cursor": None, "is_available": None, "product_owners": None}),
]


@contextmanager
def cloud(*options: str) -> Iterator[Running]:
    with serve(portal_from(parser().parse_args([*COMPANY, *options]))) as running:
        yield running


def probed(scene: Scene, file: str, *options: str) -> dict[str, Any]:
    """What `doctor --probe` writes of such a portal, with a store that knows nothing yet."""
    with cloud(*options) as source, box() as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        scene.more = f'[store]\nurl = "sqlite:///{file}.db"\n{EVERYTHING}'
        scene.run("doctor", "--probe", "--out", file)
    found: dict[str, Any] = json.loads(Path(file).read_text("utf-8"))
    return found


@pytest.mark.parametrize(("options", "wanted"), SWITCHES)
def test_the_simulator_plays_the_portal_that_was_probed(
    scene: Scene, options: tuple[str, ...], wanted: dict[str, Any]
) -> None:
    first = probed(scene, "first.json", *options)
    assert {key: first["answers"][key] for key in wanted} == wanted
    kept = options[: 2 if options[:1] in (("--scopes",), ("--limits",), ("--messages",)) else 0]  # what is no habit
    again = probed(scene, "again.json", "--like", "first.json", *kept)
    assert again["answers"] == first["answers"]
    assert again["methods"] == first["methods"]


@pytest.mark.parametrize(
    ("switch", "zone", "wanted"),
    [
        ("shifted", "Europe/Lisbon", "shifted"),  # west of the server: changes are lost
        ("shifted", "Asia/Tokyo", "shifted"),
        ("instant", "Europe/Lisbon", "instant"),
        ("shifted", "", None),  # in the server's own zone there is nothing to see
    ],
)
def test_a_shift_of_dates_in_filters_is_seen_from_another_zone(
    scene: Scene, switch: str, zone: str, wanted: str | None
) -> None:
    with cloud("--crm-dates", switch, "--task-dates", switch) as source, box() as target:
        company = source.portal.company
        company.users.put(1, {**company.users.row(1), "TIME_ZONE": zone})
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), EVERYTHING
        answers = scene.run("doctor", "--probe", "--json").json["probe"]["answers"]
    assert (answers["crm_dates"], answers["task_dates"]) == (wanted, wanted)


def test_options_of_the_simulator_win_over_the_file(scene: Scene) -> None:
    probed(scene, "first.json", "--many-owners", "--user-order", "ascending")
    options = parser().parse_args(["--user-order", "none", "--no-many-owners", "--like", "first.json"])
    assert (options.user_order, options.many_owners) == ("none", False)
    assert parser().parse_args(["--like", "first.json"]).many_owners is True


@pytest.mark.parametrize("text", ["", "[]", '{"format": "b24migrate-probe", "version": 2}', '{"version": 1}'])
def test_another_file_is_refused_by_the_simulator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(SystemExit):
        parser().parse_args(["--like", str(tmp_path / "other.json")])
    assert "--like" in capsys.readouterr().err


def test_nothing_of_a_strange_file_becomes_a_switch(tmp_path: Path) -> None:
    answers = {"user_order": "by name", "message_page": 10**9, "crm_dates": None, "feed_cursor": ["post"], "more": 1}
    file = {"format": "b24migrate-probe", "version": 1, "answers": answers, "methods": None}
    (tmp_path / "odd.json").write_text(json.dumps(file))
    plain, like = parser().parse_args([]), parser().parse_args(["--like", str(tmp_path / "odd.json")])
    assert {**vars(like), "like": None} == vars(plain)


def test_the_file_has_no_name_id_address_or_text(scene: Scene) -> None:
    with cloud() as source, box() as target:
        company = source.portal.company
        for number in list(company.users):
            company.users.put(
                number, {**company.users.row(number), **dict.fromkeys(("NAME", "EMAIL"), "canary@bird.net")}
            )
        for chat in company.chats.values():
            chat.name = chat.description = "canary"
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), EVERYTHING
        scene.run("doctor", "--probe", "--out", "first.json")
        ids = {*company.users, *company.chats, *company.feed.posts, *company.tasks.table.ids}
    text = Path("first.json").read_text("utf-8")
    first = json.loads(text)
    assert not [word for word in ("canary", "bird", SOURCE_SECRET, "127.0.0.1", "http", "@") if word in text.lower()]
    all_probes = [*probe.all_probes(catalog().entities), probe.PORTAL]
    known = {"format", "version", "program", "date", "plan", "modules", "answers", "methods", probe.FORMAT}
    known |= {
        "billing",
        "inner",
        "batch",
        *probe.MODULES,
        *probe.REVISIONS.values(),
        first["program"],
        first["date"],
        *READS,
    }
    known |= {key for one in all_probes for key in one.values}
    known |= {
        word for one in all_probes for values in one.values.values() if isinstance(values, tuple) for word in values
    }
    assert set(every_string(first)) <= known
    assert not ids & (set(every_number(first["answers"])) - {50, 200})


def every_string(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from every_string(item)
    elif isinstance(value, str):
        yield value


def every_number(value: dict[str, Any]) -> Iterator[int]:
    return (item for item in value.values() if isinstance(item, int))


def test_a_person_reads_the_answers_in_either_language(scene: Scene) -> None:
    with cloud() as source, box() as target:
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), EVERYTHING
        english, russian = scene.run("doctor", "--probe"), scene.run("doctor", "--probe", "--lang", "ru")
    assert english.code == russian.code == 0
    assert "Feed: what FIRST_ID and LAST_ID refer to" in english.out
    assert "Лента новостей: что означают FIRST_ID и LAST_ID" in russian.out


def test_out_without_probe_is_a_mistake(company: Scene) -> None:
    result = company.run("doctor", "--out", "first.json")
    assert result.code == 2
    assert "doctor --probe --out FILE" in result.err


def test_a_source_that_does_not_answer_leaves_no_file(scene: Scene) -> None:
    with box() as target:
        scene.source, scene.target = "http://127.0.0.1:9/rest/1/abcdefgh12345678/", target.webhook()
        result = scene.run("doctor", "--probe", "--out", "first.json")
    assert result.code == 4
    assert not Path("first.json").exists()


def test_a_portal_without_a_box_can_be_probed(scene: Scene) -> None:
    with cloud() as source:
        scene.source, scene.target, scene.more = (
            source.webhook(),
            "http://127.0.0.1:9/rest/1/abcdefgh12345678/",
            EVERYTHING,
        )
        result = scene.run("doctor", "--probe", "--out", "first.json")
    assert result.code == 4
    found = json.loads(Path("first.json").read_text("utf-8"))
    assert found["answers"]["feed_cursor"] == "entry"
    assert found["methods"]["crm.item.list"] is True


def test_a_look_asks_in_three_more_requests_and_not_again_that_day(scene: Scene) -> None:
    with cloud() as source, box() as target:
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), EVERYTHING
        asked = []
        for _ in range(3):
            before = source.portal.stats.http_requests
            scene.run("doctor")
            asked.append(source.portal.stats.http_requests - before)
    assert asked[1] == asked[2]
    assert 0 < asked[0] - asked[1] <= 3
    with looking(scene) as context:
        kept = probe.load(context.store)
        assert kept["product_owners"] == "one"
        probe.load_habits(context)
        assert context.source.habits["product_owners"] == "one"
        assert None not in context.source.habits.values()


@contextmanager
def looking(scene: Scene) -> Iterator[RunContext]:
    with open_app(load(scene.config, environ={})) as app:
        yield app.context


def test_a_quick_look_forgets_nothing_that_a_closer_one_saw(scene: Scene) -> None:
    def ask_something(wide: bool) -> Asking:
        yield [Command("profile", {})]
        return {"seen": "yes" if wide else None, "never": None}

    one = Probe({"seen": ("yes",), "never": ("yes",)}, ask_something)
    with cloud() as source, box() as target:
        scene.source, scene.target, scene.more = source.webhook(), target.webhook(), EVERYTHING
        scene.run("doctor")
        with looking(scene) as context:
            probe.ask(context, [one], wide=True)
            probe.ask(context, [one])
            assert probe.load(context.store).items() >= {"seen": "yes", "never": None}.items()


def test_a_quick_look_waits_for_no_long_limit() -> None:
    slept: list[float] = []

    def refused() -> None:
        raise Limited("later", wait_s=4)

    class Sleepless(SystemClock):
        def sleep(self, seconds: float) -> None:
            slept.append(seconds)

    with pytest.raises(Limited):
        wait_for_limits(Sleepless(), refused, most_s=probe.WAITED_S)
    assert slept == [4, 4]
