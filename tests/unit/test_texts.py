"""Ids inside texts."""

from __future__ import annotations

import pytest

from b24migrate.engine.phases.texts import TextRewriter
from b24migrate.entities import FILES, catalog

KNOWN = {
    "users": {"12": "2012"},
    "chats": {"5": "3005"},
    "chat_messages": {"5:1003": "61003", "6:1003": "62003"},
    "groups": {"7": "4007"},
    "files": {"disk:9": "5009"},
    "crm_activities": {"31": "6031"},
}
SHOWN = "/bitrix/tools/crm_show_file.php?fileId="


def target_ids(stream: str, ids: set[str]) -> dict[str, str]:
    return {one: KNOWN[stream][one] for one in ids if one in KNOWN.get(stream, {})}


def rewritten(rewriter: TextRewriter, text: str) -> tuple[str, int]:
    """And how many of its ids have no target."""
    found = rewriter.rewrite(text, target_ids)
    return found.text, len(found.missing)


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
        ("[user=12]Ann[/user] in [chat=5]", "[user=2012]Ann[/user] in [chat=3005]"),
        ("[CONTEXT=chat5/1003]quote[/CONTEXT]", "[CONTEXT=chat3005/61003]quote[/CONTEXT]"),
        (
            f"{SHOWN}9&amp;ownerTypeId=6&amp;ownerId=31&preview=Y",
            f"{SHOWN}5009&amp;ownerTypeId=6&amp;ownerId=6031&preview=Y",
        ),
        (
            f"https://old.bitrix24.ru{SHOWN}9&ownerTypeId=6&ownerId=31",
            f"https://box.example{SHOWN}5009&ownerTypeId=6&ownerId=6031",
        ),
        (f"{SHOWN}9&ownerTypeId=5&ownerId=31", f"{SHOWN}5009&ownerTypeId=5&ownerId=31"),
    ],
)
def test_what_the_target_has_is_named_by_its_id_there(rewriter: TextRewriter, text: str, wanted: str) -> None:
    assert rewritten(rewriter, text) == (wanted, 0)


@pytest.mark.parametrize(
    "text",
    [
        "[USER=99]Gone[/USER]",
        "[CHAT=99]",
        "[DISK=1]",
        "https://old.bitrix24.ru/workgroups/group/99/tasks/",
        "https://old.bitrix24.ru/online/?IM_DIALOG=99",
        "[DISK FILE ID=9]",  # an attachment; the Drive object of that number is another file
        "[CONTEXT=chat5/1]",
        "[CONTEXT=chat6/1003]",  # the message without its chat
        f"{SHOWN}9&amp;ownerTypeId=6&amp;ownerId=99",  # the box shows a file with the record that has it, or not at all
    ],
)
def test_what_the_target_does_not_have_stays_as_it_was_and_is_counted(rewriter: TextRewriter, text: str) -> None:
    assert rewritten(rewriter, text) == (text, 1)


def test_a_text_names_each_record_and_of_a_pair_the_parent_as_well(rewriter: TextRewriter) -> None:
    assert set(rewriter.mentioned("[USER=12]Ann[/USER] has [DISK=9]")) == {("users", "12"), ("files", "disk:9")}
    assert set(rewriter.mentioned("[CONTEXT=chat5/1003]quote[/CONTEXT]")) == {
        ("chat_messages", "5:1003"),
        ("chats", "5"),
    }


OLD, NEW = "https://old.bitrix24.ru", "https://box.example"


@pytest.mark.parametrize(
    ("page", "wanted"),
    [
        ("/company/personal/user/12", "/company/personal/user/2012"),
        ("/workgroups/group/7", "/workgroups/group/4007"),
        ("/workgroups/group/7/tasks/", "/workgroups/group/4007/tasks/"),
        ("/online/?IM_DIALOG=12", "/online/?IM_DIALOG=2012"),
        ("/online/?IM_DIALOG=chat5", "/online/?IM_DIALOG=chat3005"),
    ],
)
@pytest.mark.parametrize("around", ["{}", "see {}, please", "[URL={}]it[/URL]", "({})", "{}\n{}"])
def test_a_page_is_found_however_the_text_goes_on(rewriter: TextRewriter, page: str, wanted: str, around: str) -> None:
    text = around.format(OLD + page, OLD + page)
    assert rewritten(rewriter, text) == (around.format(NEW + wanted, NEW + wanted), 0)


@pytest.mark.parametrize(
    "page",
    [
        "/company/personal/user/12/tasks/task/view/5/",
        "/company/personal/user/12/blog/7/",
        "/workgroups/group/7/tasks/task/view/5/",
        "/online/?IM_DIALOG=12&IM_MESSAGE=1003",
        "/online/?IM_DIALOG=chat5&IM_MESSAGE=1003",
    ],
)
def test_a_page_with_another_id_in_its_address_stays_as_it_was(rewriter: TextRewriter, page: str) -> None:
    """Half of its ids rewritten, it would lead to a stranger's page."""
    assert rewriter.rewrite(f"{OLD}{page} …", target_ids).text == f"{OLD}{page} …"


def test_an_id_is_never_mistaken_for_the_beginning_of_a_longer_one(rewriter: TextRewriter) -> None:
    assert rewritten(rewriter, "[USER=123]") == ("[USER=123]", 1)


def test_letters_that_a_pattern_takes_for_others_are_found_too(rewriter: TextRewriter) -> None:
    """What cannot match is passed by its first characters: these must be compared as the pattern compares them."""
    text = "Привет, [U\u017fER=12], [D\u0130SK=9], [D\u0131\u017f\u212a=9]"
    wanted = "Привет, [U\u017fER=2012], [D\u0130SK=5009], [D\u0131\u017f\u212a=5009]"
    assert rewriter.rewrite(text, target_ids).text == wanted
