"""Both languages say everything, and nothing of the other."""

from __future__ import annotations

import re

import pytest
from tests.report.conftest import Troubled

from b24migrate.bitrix.faults import Caller
from b24migrate.bitrix.permissions import Permissions
from b24migrate.entities import chats, feed, messenger, task_comments
from b24migrate.entities.crm import RECURRING
from b24migrate.entities.groups import UNLISTED
from b24migrate.errors import Permanent
from b24migrate.hosts.report.sayings import Sayings, pattern
from b24migrate.hosts.words import words
from b24migrate.phases.custom_fields import WHY_LEFT
from b24migrate.phases.work import MORE_NOTES
from b24migrate.target.imports import ImportTarget

# What stays English in a Russian report: names of files, codes, commands, keys of the configuration, what people wrote.
ENGLISH = re.compile(r"\b(?:the|and|of|is|are|was|were|which|that|records?|did|not)\b")


def test_a_russian_page_speaks_russian(troubled: Troubled) -> None:
    page = troubled.russian.page
    assert page.all("html")[0].attributes["lang"] == "ru"
    for name in (
        "moved",
        "aside",
        "drift",
        "timing",
        "forecast",
        "unresolved",
        "fields",
        "people",
        "files",
        "runs",
        "notes",
    ):
        assert not ENGLISH.search(troubled.russian.section(name)), (
            name,
            ENGLISH.findall(troubled.russian.section(name)),
        )
    headings = [one.text for tag in ("h1", "h2", "figcaption", "caption") for one in page.all(tag)]
    assert all(re.search("[а-яё]", one) for one in headings)


def test_an_english_page_speaks_english(troubled: Troubled) -> None:
    page = troubled.english.page
    assert page.all("html")[0].attributes["lang"] == "en"
    headings = [one.text for tag in ("h1", "h2", "figcaption", "caption") for one in page.all(tag)]
    assert not [one for one in headings if re.search("[а-яё]", one)]


def test_no_place_and_no_key_is_left_open(troubled: Troubled) -> None:
    for found in (troubled.english, troubled.russian):
        text = found.page.text
        assert not re.search(r"\breport\.[a-z]+\.[a-z_]+", text)
        assert not re.search(r"\{[a-z_]+\}", text)


def test_charts_are_described(troubled: Troubled) -> None:
    drawn = [one for one in troubled.russian.page.all("svg") if one.attributes.get("role") == "img"]
    assert len(drawn) >= 2
    for one in drawn:
        assert one.all("title")[0].text
        assert one.all("desc")[0].text
        names = str(one.attributes["aria-labelledby"]).split()
        assert names == [one.all("title")[0].attributes["id"], one.all("desc")[0].attributes["id"]]


DENIED = Permanent("Access denied.", code="ACCESS_DENIED")
PERMISSIONS = Permissions(lambda *_: DENIED, lambda _: Caller("the source webhook of user 1 (a1b2c3)"), lambda _: "")


@pytest.mark.parametrize(
    "sentence",
    [
        chats.PRIVATE,
        feed.OWN_FEED,
        feed.REACTIONS,
        feed.UNPUBLISHED,
        feed.HIDDEN,
        feed.NAMELESS,
        feed.BY_POST,
        feed.NO_CURSOR,
        feed.UNSEEN,
        task_comments.UNSEEN,
        MORE_NOTES,
        *WHY_LEFT.values(),
        messenger.OF_A_TASK,
        messenger.OPEN_LINE,
        messenger.COPILOT,
        messenger.COPILOT_UNREAD.format(why="STRANGE_RESULT"),
        messenger.NOTIFICATIONS,
        messenger.NOT_BEGUN,
        messenger.UNKNOWN_KIND.format(kind="9"),
        f"chats: {messenger.COMMENTS} (2): 2024 1, 2025 1",
        f"chats: 4 skipped by rule: {messenger.OPEN_LINE}",
        "the same as 20011:f5",
        f"group_members: {UNLISTED} (3): Продажи 2, HR 1",
        f"crm_deals: 2 skipped by rule: {RECURRING}",
        f"values of the custom field UF_CRM_1 stay behind: {WHY_LEFT['crm']}",
        f"{chats.PRIVATE} (2): Анна, Пётр",
        f"feed_comments: {feed.HIDDEN} (3): Анна 3",
        "users: 3 failed; group_members: 6 failed, 2 findings; crm_deals: drift of -3; files of users: 1 failed",
        "chats: the source reports 12, 11 were retrieved",
        "crm_deals: 2 incomplete; chats: 1 failed, 3 incomplete",
        str(PERMISSIONS._everything(DENIED, 0)),
        str(PERMISSIONS._method_lost(DENIED, "crm.item.list", 0)),
        str(PERMISSIONS._refusal(DENIED, "crm.item.productrow.list", 0, sure=True).gate),
        str(PERMISSIONS._blocked(0)),
        str(ImportTarget._unserved("import.users.batch", DENIED)),
        "chats: the portal's counters say 12, 11 were read (parent records: 2). All were read to the end",
        "tasks 5: the tags and participants could not be read: ACCESS_DENIED: closed",
        "tasks 5: the tags and participants could not be read: x; the chat of the task could not be read: y",
        "tasks 5: the chat of the task could not be read: x",
        "crm_deals 3: the product rows could not be read: x",
        "chats 12: the participants could not be read",
        "crm_deals 3: the linked contacts could not be read: x; the product rows could not be read: y",
        "crm_contacts 3: the linked companies could not be read: x",
        "groups 3: the group type could not be read: x",
        "the chat is in the list of user 7 but cannot be read (ACCESS_ERROR)",
        "Unexpected error KeyError: a bug in b24migrate. Details: /home/a b/b24migrate-bug-0.txt",
        "Unexpected error KeyError. Details: b24migrate-bug-0.txt (users 5)",
        "tasks 5: late references are not written: x",
        "custom field UF_CRM_1 is not read completely: userfieldconfig.get gives an answer of the wrong type",
        "a custom field is not read: userfieldconfig.get gives an answer of the wrong type",
        "user.get: a record without a readable ID is left out",
        "user.get: a record is left out, its id '../x' is not a number",
        "LAST_NAME has a value of the wrong type on the source",
        "the record cannot be read from the store",
        "users 5 cannot be read: the source gives values that cannot be read",
    ],
)
def test_what_the_program_keeps_in_english_is_told_in_russian(sentence: str) -> None:
    told = str(Sayings(words("ru"))(sentence))
    assert told != sentence
    assert not ENGLISH.search(told)
    assert Sayings(words("en"))(sentence) == sentence


@pytest.mark.parametrize(
    "sentence", ["", "hello", "made_up: 3 failed", "a (1): b", "=cmd", "{0.__class__}", "users: anything", "(" * 5000]
)
def test_what_is_not_ours_stays_as_it_is(sentence: str) -> None:
    assert Sayings(words("ru"))(sentence) == sentence


def test_what_was_filled_in_is_kept() -> None:
    found = pattern("{stream} {id} cannot be read: {why}").fullmatch("chats 12 cannot be read: {x} <b>")
    assert found is not None
    assert found.groupdict() == {"stream": "chats", "id": "12", "why": "{x} <b>"}
    assert "{x} <b>" in str(Sayings(words("ru"))("chats 12 cannot be read: {x} <b>"))


def test_a_thousand_commas_are_looked_at_once() -> None:
    """What is not ours is known by its first part."""
    told = Sayings(words("ru"))
    looked_at: list[str] = []
    whole = told._told
    told._told = lambda text, deep: looked_at.append(text) or whole(text, deep)  # type: ignore[method-assign,func-returns-value]
    for text in ("a, " * 1300, "a; b, " * 600, ", " * 2000):
        assert told(text) == text
    assert len(looked_at) < 100
