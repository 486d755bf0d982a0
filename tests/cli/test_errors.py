"""`errors`: what failed by cause, readable and harmless whatever portals say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO

import pytest
from rich.console import Console
from tests.cli.command import SOURCE_SECRET, Scene, box, cloud

from b24migrate.cli.errors import print_groups, print_page
from b24migrate.insight.causes import Cause, group_causes
from b24migrate.messages.pages import PAGES
from b24migrate.messages.terminal import harmless, harmless_json
from b24migrate.model.records import Status

HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07\x9b2J\r\nnew\u202eright-to-left\u2066 שלום <script>alert(1)</script> [bold]x[/] " * 9
)
REFUSE = json.dumps(
    [
        {"method": "import.groups.batch", "item": {"key": "source:groups:*", "code": "VALIDATION"}, "count": 1},
        {"method": "import.chats.batch", "item": {"key": "source:chat:*", "code": "VALIDATION"}, "count": 1},
        {"method": "import.chats.batch", "item": {"key": "source:chat:msg:*", "code": "BOX_IS_MOODY"}, "count": 1},
    ]
)


def cause(place: str, code: str, count: int, status: str = Status.IMPORT_ERR, message: str = "no") -> Cause:
    return Cause(place, code, count, status, "17", message, "Do something about it.")


def printed(found: list[Cause], width: int = 80) -> str:
    out = StringIO()
    print_groups(group_causes(found), Console(file=out, width=width, force_terminal=True, no_color=True), harmless)
    return out.getvalue()


def test_causes_are_grouped_over_streams_the_most_frequent_first_and_what_waits_last() -> None:
    groups = group_causes(
        [
            cause("tasks", "INTERNAL", 900, Status.ERROR_RETRY),
            cause("users", "VALIDATION", 2),
            cause("groups", "DUPLICATE_EMAIL", 4),
            cause("chats", "VALIDATION", 3),
        ]
    )
    assert [(group.code, group.count, group.waits) for group in groups] == [
        ("VALIDATION", 5, False),
        ("DUPLICATE_EMAIL", 4, False),
        ("INTERNAL", 900, True),
    ]
    assert [one.place for one in groups[0].causes] == ["chats", "users"]


def test_a_group_says_where_how_many_what_to_do_and_where_to_read_more() -> None:
    text = printed([cause("chats", "VALIDATION", 1200), cause("users", "VALIDATION", 3)])
    assert "1 203 × VALIDATION" in text.replace("\x1b[1m", "").replace("\x1b[0m", "")
    for part in ("A value cannot be imported", "chats 1 200", "users 3", "chats 17: no", "Do something"):
        assert part in text
    assert "b24migrate errors CODE" in text


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_longer_than_the_terminal_and_no_control_character_gets_through(width: int) -> None:
    text = printed([cause("workflow_templates", "X\x1b[2J", 9_999_999, message=HOSTILE)], width)
    plain = text.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")
    assert max(map(len, plain.splitlines())) <= width
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066"} & set(plain)
    assert "\\u001b[31mred" in plain
    assert "שלום" in plain


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_every_page_is_readable_at_80_columns(page: object) -> None:
    out = StringIO()
    print_page(page, Console(file=out, width=80))  # type: ignore[arg-type]
    assert max(map(len, out.getvalue().splitlines())) <= 80


def test_harmless_json_is_the_same_json() -> None:
    fields = {"a": HOSTILE, "b": "\U000e0001\x7f"}
    text = harmless_json(json.dumps(fields, ensure_ascii=False))
    assert json.loads(text) == fields
    assert text.isprintable()


@pytest.fixture
def failed(scene: Scene) -> Iterator[Scene]:
    with cloud() as source, box("--faults", REFUSE) as target:
        scene.source, scene.target = source.webhook(), target.webhook()
        assert scene.run("run").code == 5
        yield scene


def test_errors_of_a_run_by_cause_and_by_stream(failed: Scene) -> None:
    result = failed.run("errors")
    assert result.code == 0
    assert re.match(r"\d+ failed: \d causes\.", result.out)
    assert "2 × VALIDATION" in result.out
    assert re.search(r"Where    (chats 1, groups 1|groups 1, chats 1)\n", result.out)
    assert "1 × BOX_IS_MOODY" in result.out
    groups = failed.run("errors", "--stream", "groups")
    assert "1 × VALIDATION" in groups.out
    assert "BOX_IS_MOODY" not in groups.out
    data = failed.run("errors", "--stream", "chat-messages", "--json").json["errors"]
    assert {one["place"] for one in data} == {"chat_messages"}
    assert ("BOX_IS_MOODY", "docs/errors.md#unknown") in [(one["code"], one["page"]) for one in data]
    wrong = failed.run("errors", "--stream", "gruops")
    assert (wrong.code, "Did you mean groups?" in wrong.err) == (2, True)
    assert SOURCE_SECRET not in "".join(failed.heard)


def test_errors_name_the_record_that_others_wait_for(failed: Scene) -> None:
    data = failed.run("errors", "--json").json
    chains = {chain["stream"]: chain for chain in data["chains"]}
    group, chat = chains["groups"], chains["chats"]
    assert (group["code"], list(group["streams"])) == ("VALIDATION", ["group_members"])
    assert chat["streams"] == {"chat_messages": chat["records"]}
    missing = sum(one["count"] for one in data["errors"] if one["code"] == "REFERENCE_MISSING")
    assert (group["records"] + chat["records"], data["chains_complete"]) == (missing, True)

    output = failed.run("errors").out
    assert f"{missing} failures follow from 2 records: fix those records first." in output
    assert re.search(rf"{chat['records']} records? waits? for chats {chat['id']}: ", output)
    assert f"{missing} failures follow from 2 records" in failed.run("status").out
    russian = failed.run("--lang", "ru", "errors", "--stream", "group_members").out
    assert f"Ошибок из-за 1 записи: {group['records']}. Сначала исправьте её." in russian
    assert f"groups {group['id']}: " in russian


def test_a_code_is_explained_without_a_store(scene: Scene) -> None:
    result = scene.run("errors", "duplicate_email")
    assert result.code == 0
    assert PAGES["DUPLICATE_EMAIL"].fix in result.out
    assert not (scene.folder / "b24migrate.db").exists()
    data = scene.run("errors", "users.import.completed", "--json").json
    assert (data["code"], data["page"]) == ("users.import.completed", "docs/errors.md#usersimportcompleted")
    wrong = scene.run("errors", "DUPLICATE_MAIL")
    assert (wrong.code, "Did you mean DUPLICATE_EMAIL?" in wrong.err) == (2, True)
