"""Ids inside texts."""

from __future__ import annotations

import pytest

from b24migrate.entities import FILES, catalog
from b24migrate.phases.texts import TextRewriter

KNOWN = {
    "users": {"12": "2012"},
    "chats": {"5": "3005"},
    "groups": {"7": "4007"},
    "files": {"disk:9": "5009"},
}


def target_ids(stream: str, ids: set[str]) -> dict[str, str]:
    return {one: KNOWN[stream][one] for one in ids if one in KNOWN.get(stream, {})}


@pytest.fixture
def rewriter() -> TextRewriter:
    streams = [*catalog().streams.values(), FILES]
    return TextRewriter(streams, "https://old.bitrix24.ru/rest/1/x/", "https://box.example")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("no ids at all: [B]bold[/B]", "no ids at all: [B]bold[/B]"),
        ("[USER=12]Ann[/USER], [USER=12 REPLACE]Ann[/USER]", "[USER=2012]Ann[/USER], [USER=2012 REPLACE]Ann[/USER]"),
        ("[CHAT=5]Team[/CHAT] and [CHAT=chat5]it[/CHAT]", "[CHAT=3005]Team[/CHAT] and [CHAT=chat3005]it[/CHAT]"),
        ("[DISK=9] [DISK FILE ID=n9]", "[DISK=5009] [DISK FILE ID=n5009]"),
        ("https://old.bitrix24.ru/workgroups/group/7/", "https://box.example/workgroups/group/4007/"),
        ("https://old.bitrix24.ru/company/personal/user/12/", "https://box.example/company/personal/user/2012/"),
        ("https://other.example/workgroups/group/7/", "https://other.example/workgroups/group/7/"),
    ],
)
def test_what_the_target_has_is_named_by_its_id_there(rewriter: TextRewriter, text: str, wanted: str) -> None:
    assert rewriter.rewrite(text, target_ids) == (wanted, 0)


@pytest.mark.parametrize(
    "text",
    ["[USER=99]Gone[/USER]", "[CHAT=99]", "[DISK=1]", "https://old.bitrix24.ru/workgroups/group/99/tasks/"],
)
def test_what_the_target_does_not_have_stays_as_it_was_and_is_counted(rewriter: TextRewriter, text: str) -> None:
    assert rewriter.rewrite(text, target_ids) == (text, 1)


def test_an_id_is_never_mistaken_for_the_beginning_of_a_longer_one(rewriter: TextRewriter) -> None:
    assert rewriter.rewrite("[USER=123]", target_ids) == ("[USER=123]", 1)
