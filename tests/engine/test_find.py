"""Finding a record by id, by e-mail or by words of its title: exact ones first, and the walk misses none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine.world import World, world

from b24migrate.engine.phases.context import RunContext
from b24migrate.engine.phases.stage import write_set_aside
from b24migrate.insight.lookup import Hit, search
from b24migrate.model.errors import BadConfiguration
from b24migrate.model.records import SetAside, Staged

HOSTILE = (
    "<script>alert(1)</script>",
    "' OR 1=1 --",
    '"; DROP TABLE Users; --',
    "%' _ [a-z]* \\",
    "\u202eright-to-left\u2066 שלום",
    "\x1b[31mred\x07",
    "💥 emoji ☃",
    "x" * 1_000_000,
    "İstanbul ẞ ﬁ",
    "a\u0000b",
    'back\\slash "quoted" /path/',
)


@pytest.fixture(scope="module")
def portals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """For stores that nothing is read into."""
    with world(tmp_path_factory.mktemp("portals")) as made:
        yield made


@pytest.fixture
def context(portals: World, tmp_path: Path) -> Iterator[RunContext]:
    """Of a store with nothing in it."""
    with replace(portals, folder=tmp_path).app() as app:
        yield app.context


def stage(context: RunContext, stream: str, rows: dict[str, Any], *, escaped: bool = True) -> None:
    unique = context.streams[stream].natural
    natural = unique.field if unique else ""
    staged = [
        Staged(key, json.dumps(payload, ensure_ascii=escaped).encode(), natural=_natural(payload, natural))
        for key, payload in rows.items()
    ]
    context.store.stage(context.streams[stream].table, staged, run="made", pass_no=1)


def _natural(payload: dict[str, Any], name: str) -> str | None:
    return str(payload[name]).strip().lower() if name and payload.get(name) else None


def every_page(context: RunContext, text: str, **more: Any) -> tuple[list[Hit], int]:
    found: list[Hit] = []
    looked_at, after = 0, ""
    while True:
        page = search(context, text, after=after, **more)
        found += page.hits
        looked_at += page.looked_at
        if page.next is None:
            return found, looked_at
        assert page.next != after
        after = page.next


def places(hits: list[Hit]) -> list[tuple[str, str]]:
    return [(one.stream, one.id) for one in hits]


# ---------------------------------------------------------------- by what


def test_an_id_is_found_in_every_stream_before_anything_else(context: RunContext) -> None:
    stage(context, "users", {"12": {"NAME": "Анна"}, "5": {"NAME": "Комната 12"}})
    stage(context, "groups", {"12": {"NAME": "Группа"}})
    stage(context, "chat_messages", {"3:12": {"text": "привет"}, "12:4": {"text": "пока"}})
    found, _ = every_page(context, " 12 ")
    assert places(found) == [("users", "12"), ("groups", "12"), ("users", "5"), ("chat_messages", "3:12")]
    assert [one.by for one in found] == ["id", "id", "title", "child"]
    assert places(every_page(context, "12:4")[0]) == [("chat_messages", "12:4")]


def test_what_was_set_aside_is_found_by_its_id(context: RunContext) -> None:
    write_set_aside(
        context, [SetAside("chats", "77", "excluded", "belongs to a task"), SetAside("users", "9", "impossible", "?")]
    )
    ((excluded,), _) = every_page(context, "77")
    assert (excluded.stream, excluded.status) == ("chats", "excluded")
    ((impossible,), _) = every_page(context, "9")
    assert (impossible.stream, impossible.status) == ("users", "impossible")


def test_a_person_is_found_by_the_whole_e_mail_at_once_and_by_a_part_of_it_in_the_walk(context: RunContext) -> None:
    stage(context, "users", {str(one): {"NAME": "N", "EMAIL": f"User{one}@Company.example"} for one in range(1, 40)})
    first = search(context, "USER7@company.EXAMPLE", budget_s=0)
    assert places(list(first.hits)) == [("users", "7")]
    assert (first.hits[0].by, first.hits[0].email) == ("email", "User7@Company.example")
    assert len(every_page(context, "user7@company.example")[0]) == 1
    assert len(every_page(context, "@company")[0]) == 39


def test_of_two_people_with_one_e_mail_both_are_found_once(context: RunContext) -> None:
    stage(context, "users", {one: {"NAME": "N", "EMAIL": "same@company.example"} for one in ("3", "8")})
    found, _ = every_page(context, "same@company.example")
    assert places(found) == [("users", "3"), ("users", "8")]
    assert [one.by for one in found] == ["email", "title"]


@pytest.mark.parametrize("fm", [[{"typeId": "EMAIL", "valueType": "WORK", "value": "Ivan@Client.example"}], None])
def test_a_contact_is_found_by_its_e_mail(context: RunContext, fm: object) -> None:
    """Also as the deprecated listing tells it."""
    older = {
        "ID": "5",
        "NAME": "Иван",
        "EMAIL": [{"TYPE_ID": "EMAIL", "VALUE_TYPE": "WORK", "VALUE": "Ivan@Client.example"}],
    }
    stage(
        context,
        "crm_contacts",
        {"5": {"id": 5, "name": "Иван", "fm": fm} if fm else older, "6": {"id": 6, "name": "Пётр"}},
    )
    (found,), _ = every_page(context, "ivan@client.example")
    assert (found.stream, found.id, found.by, found.title, found.email) == (
        "crm_contacts",
        "5",
        "email",
        "Иван",
        "Ivan@Client.example",
    )


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Договор поставки № 12/А", "договор"),
        ("Договор поставки № 12/А", "ПОСТАВКИ договор"),
        ("Приём заявок", "прием"),
        ("Прием заявок", "ПРИЁМ"),
        ("Ёлка", "елка"),
        ("й", "и\u0306"),
        ("Annual Report", "annual rep"),
        ("Straße", "STRASSE"),
        ("12/А", "12/а"),
        ('"кавычки" \\ и /', '"кавычки"'),
    ],
)
def test_a_part_of_the_title_in_either_language_and_any_case(
    context: RunContext, title: str, text: str, escaped: bool
) -> None:
    stage(
        context,
        "crm_deals",
        {"1": {"id": 1, "title": title}, "2": {"id": 2, "title": "что-то другое"}},
        escaped=escaped,
    )
    (found,), _ = every_page(context, text)
    assert (found.id, found.title, found.by) == ("1", title, "title")


def test_names_are_found_in_any_order_and_messages_by_their_text(context: RunContext) -> None:
    stage(
        context, "users", {"1": {"NAME": "Анна", "LAST_NAME": "Петрова"}, "2": {"NAME": "Анна", "LAST_NAME": "Иванова"}}
    )
    stage(context, "chat_messages", {"1:1": {"text": "Анна Петрова придёт"}, "1:2": {"text": "кто?"}})
    assert places(every_page(context, "петрова анна")[0]) == [("users", "1"), ("chat_messages", "1:1")]


def test_an_id_of_the_target_is_found_in_the_walk(small: World) -> None:
    small.run("users")
    ((key, target),) = small.sql("SELECT RowKey, TargetId FROM Users WHERE TargetId IS NOT NULL ORDER BY Ord LIMIT 1")
    with small.app() as app:
        found, _ = every_page(app.context, str(target))
    assert [(one.stream, one.id, one.target_id, one.by) for one in found] == [("users", key, target, "target")]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_titles_are_found_like_any_other(context: RunContext, hostile: str) -> None:
    stage(context, "groups", {"1": {"NAME": hostile}, "2": {"NAME": "plain"}})
    (found,), _ = every_page(context, hostile)
    assert found.id == "1"
    assert len(found.title) <= 201


@pytest.mark.parametrize("text", ["", "  ", "\ud800", "\x00", "a" * 2_000_000, "zzz\n\t", "..", "§"])
def test_no_text_breaks_it(context: RunContext, text: str) -> None:
    stage(context, "groups", {"1": {"NAME": "plain"}})
    assert len(every_page(context, text)[0]) == (not text.strip())


# ---------------------------------------------------------------- where and how far


def test_one_stream_can_be_searched_alone(context: RunContext) -> None:
    stage(context, "users", {"1": {"NAME": "Заря"}})
    stage(context, "groups", {"1": {"NAME": "Заря"}, "2": {"NAME": "Заря"}})
    assert places(every_page(context, "заря", stream="groups")[0]) == [("groups", "1"), ("groups", "2")]
    assert places(every_page(context, "1", stream="groups")[0]) == [("groups", "1")]


@pytest.mark.parametrize(
    "wrong", [{"stream": "nowhere"}, {"after": "zzz"}, {"after": "é"}, {"after": "W10"}, {"after": "e30"}]
)
def test_a_stream_or_a_place_that_does_not_exist_is_refused(context: RunContext, wrong: dict[str, str]) -> None:
    with pytest.raises(BadConfiguration) as refused:
        search(context, "x", **wrong)  # type: ignore[arg-type]
    assert refused.value.code == "USAGE"


def test_a_place_of_another_search_is_refused(context: RunContext) -> None:
    stage(context, "users", {str(one): {"NAME": "N"} for one in range(1, 40)})
    after = search(context, "x", budget_s=0).next
    assert after
    with pytest.raises(BadConfiguration):
        search(context, "x", stream="groups", after=after)


def test_the_walk_ends_in_time_says_how_far_it_came_and_goes_on(
    context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(context, "groups", {str(one): {"NAME": f"group {one}"} for one in range(1, 1001)})
    ticks = iter(range(10_000))
    monkeypatch.setattr(context.clock, "monotonic", lambda: float(next(ticks)))
    page = search(context, "group 999", budget_s=1.5)
    assert page.next
    assert 0 < page.looked_at < 1000
    found, looked_at = every_page(context, "group 999", budget_s=1.5)
    assert places(found) == [("groups", "999")]
    assert looked_at == 1000


def test_whoever_gave_an_id_does_not_wait_for_the_walk(context: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    stage(context, "groups", {str(one): {"NAME": f"group {one}"} for one in range(1, 1001)})
    ticks = iter(range(10_000))
    monkeypatch.setattr(context.clock, "monotonic", lambda: float(next(ticks)))
    page = search(context, "999", budget_s=60)
    assert places(list(page.hits)) == [("groups", "999")]
    assert page.looked_at < 1000
    assert page.next


def test_memory_stays_flat_however_large_the_records_are(context: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small records many are read at once, of large ones few."""
    stage(context, "groups", {str(one): {"NAME": "n"} for one in range(1, 1400)})
    stage(context, "group_members", {f"1:{one}": {"ROLE": "x" * 1_000_000} for one in range(1, 12)})
    sizes: list[tuple[int, int]] = []
    records: Callable[..., Any] = context.store.records

    def noticed(*arguments: Any) -> Any:
        found = records(*arguments)
        sizes.append((len(found), sum(len(one.payload) for one in found)))
        return found

    monkeypatch.setattr(type(context.store), "records", lambda _, *arguments: noticed(*arguments))
    assert every_page(context, "nothing")[1] == 1410
    assert max(count for count, _ in sizes) == 500
    assert sum(1 for _, size in sizes if size > 8 << 20) <= 1


KEYS = st.one_of(
    st.integers(1, 2000).map(str),
    st.tuples(st.integers(1, 30), st.integers(1, 500)).map(lambda pair: f"{pair[0]}:{pair[1]}"),
    st.text("abcXYZ_~й", min_size=1, max_size=6),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    st.dictionaries(
        st.sampled_from(["users", "groups", "chats", "chat_messages", "files"]), st.sets(KEYS, max_size=60)
    ),
    st.sampled_from(["", "7", "a", "заря"]),
    st.tuples(st.integers(1, 9), st.sampled_from([0.0, 1.0])),
)
def test_the_pages_together_look_at_every_record_once(
    portals: World,
    tmp_path_factory: pytest.TempPathFactory,
    staged: dict[str, set[str]],
    text: str,
    step: tuple[int, float],
) -> None:
    limit, budget_s = step
    with replace(portals, folder=tmp_path_factory.mktemp("walk")).app() as app:
        for stream, keys in staged.items():
            titles = {key: "заря" if len(key) % 3 else "утро" for key in keys}
            stage(app.context, stream, {key: {**about(stream), **title(stream, titles[key])} for key in keys})
        found, looked_at = every_page(app.context, text, limit=limit, budget_s=budget_s)
        alone, _ = every_page(app.context, text, limit=10_000, budget_s=60)
    assert looked_at == sum(map(len, staged.values()))
    assert len(set(places(found))) == len(found)
    assert sorted(places(found)) == sorted(places(alone))
    if not text:
        assert len(found) == looked_at


def about(stream: str) -> dict[str, str]:
    return {"kind": "disk", "id": "1", "entity": "chats", "stream": "chats"} if stream == "files" else {}


def title(stream: str, text: str) -> dict[str, str]:
    return {"users": {"NAME": text}, "groups": {"NAME": text}, "chat_messages": {"text": text}}.get(
        stream, {"name": text}
    )
