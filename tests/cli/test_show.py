"""`show` and `find`: readable at 80 columns, harmless whatever portals say, without secrets."""

from __future__ import annotations

import json
import os
import pty
import re
from io import StringIO

import pytest
from rich.console import Console
from tests.cli.command import SOURCE_SECRET, TARGET_SECRET, Scene
from tests.cli.test_errors import HOSTILE

from b24migrate.cli.find import print_hits
from b24migrate.cli.show import SIDES, VERDICTS, print_record
from b24migrate.insight.lookup import FieldVerdict, Hit, Hits, RecordVerdict, RecordView, SideState
from b24migrate.insight.lookup.model import (
    Aside,
    Children,
    FieldRow,
    FileView,
    FoundBefore,
    Place,
    Side,
    TargetLink,
    Times,
    Trouble,
    show_value,
)
from b24migrate.messages.terminal import harmless

LONG = HOSTILE + "x" * 500


def view(verdict: RecordVerdict = RecordVerdict.DIFFERS) -> RecordView:
    """With everything in it, and all of it hostile."""
    value = show_value(LONG)
    fields = [
        FieldRow(f"{one}{LONG[:90]}", "text", one, value, value, value, show_value([1]), changed=changed)
        for one in FieldVerdict
        for changed in (False, True)
    ]
    return RecordView(
        "chat_messages",
        "chats",
        "5:112",
        LONG,
        (LONG,),
        verdict,
        "IMPORT_ERR",
        3,
        1,
        "2026-11-15T12:00:00Z-abcd",
        True,
        True,
        Trouble("VALIDATION", LONG, "2026-11-15T12:00:00Z", "", "cause", "fix", "page"),
        LONG,
        TargetLink("77", "d", "import", "2026-11-15T12:00:00Z"),
        Times(LONG, "2026-11-15T12:00:00Z", 180),
        Side(SideState.FAILED, LONG, LONG),
        Side(SideState.GONE),
        tuple(fields),
        (FoundBefore("differs", LONG, LONG, LONG, LONG),),
        (Place(LONG, LONG),),
        (FileView("disk:1", LONG, 5, "failed", "", "X", LONG),),
        200,
        (Children("task_comments", 50, more=True),),
        Aside("excluded", LONG, LONG),
    )


def printed(found: RecordView | Hits, width: int) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=True, no_color=True, highlight=False)
    if isinstance(found, Hits):
        print_hits(found, console, harmless)
    else:
        print_record(found, console, harmless)
    return re.sub(r"\x1b\[\d+m", "", out.getvalue())


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("verdict", RecordVerdict)
def test_a_record_fits_the_terminal_and_is_harmless(verdict: RecordVerdict, width: int) -> None:
    text = printed(view(verdict), width)
    assert max(map(len, text.splitlines())) <= width
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066"} & set(text)
    assert VERDICTS[verdict][0] in " ".join(text.split())


@pytest.mark.parametrize("width", [40, 80])
def test_hits_fit_the_terminal_and_are_harmless(width: int) -> None:
    hits = tuple(
        Hit("chat_messages", "chats", f"{one}:{one}", LONG, LONG, "IMPORT_OK", "1", "title") for one in range(9)
    )
    text = printed(Hits(hits, 1_234_567, "WyJjaGF0X21lc3NhZ2VzIiwiQTU6QzEyMiJd"), width)
    assert max(map(len, text.splitlines())) <= width
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066"} & set(text)
    assert "records searched: 1 234 567" in " ".join(text.split())


def test_there_are_words_for_every_state() -> None:
    assert VERDICTS.keys() == set(RecordVerdict)
    assert SIDES.keys() == set(SideState) - {SideState.NOW, SideState.ABSENT, SideState.FAILED}


def test_a_record_of_a_run_is_shown_on_every_side(moved: Scene) -> None:
    found = moved.run("find", "1", "--stream", "users", "--json").json
    assert found["hits"][0]["by"] == "id"
    email = found["hits"][0]["email"]
    result = moved.run("show", "users", "1")
    assert result.code == 0
    assert "On the target, and equal." in result.out
    assert email in result.out
    data = moved.run("show", "users", "1", "--json").json
    assert (data["verdict"], data["source"]["state"], data["target"]["state"]) == ("equal", "now", "now")
    stored = moved.run("show", "users", "1", "--stored", "--json").json
    assert (stored["verdict"], stored["source"]["state"]) == ("imported", "not_asked")
    by_email = moved.run("find", email.upper())
    assert by_email.code == 0
    assert re.search(r"^users +1 +import_ok ", by_email.out, re.MULTILINE)
    heard = "".join(moved.heard)
    assert SOURCE_SECRET not in heard
    assert TARGET_SECRET not in heard


def test_without_the_secrets_what_is_staged_is_shown(moved: Scene) -> None:
    moved.source = moved.target = "env:NOWHERE_AT_ALL"
    data = moved.run("show", "groups", moved.run("find", "", "--stream", "groups", "--json").json["hits"][0]["id"])
    assert data.code == 0
    assert "The source webhook is not available here" in data.out
    assert "? NAME" in data.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "usres", "1"), "Did you mean users?"),
        (("show", "users", "999999"), "it was not read"),
        (("show", "users", "\x1b[2J"), "it was not read"),
        (("find", "x", "--stream", "gruops"), "Did you mean groups?"),
        (("find", "x", "--after", "zzz"), "Start the search again"),
    ],
)
def test_what_is_not_there_is_a_sentence(company: Scene, arguments: tuple[str, ...], message: str) -> None:
    ended = company.run(*arguments)
    assert ended.code == 2
    assert message in ended.err
    assert "\x1b" not in ended.err


def test_on_a_terminal_of_80_columns_no_line_is_longer(moved: Scene) -> None:
    above, below = pty.openpty()
    os.set_blocking(above, False)
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "TERM": "xterm"}
    with moved.process("show", "users", "1", on=below, env=environment) as shown_process:
        assert shown_process.wait(300) == 0
        text = os.read(above, 1 << 20).decode()
    os.close(above)
    os.close(below)
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in text.replace("\r", "").splitlines()]
    assert any("On the target, and equal." in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_json_is_harmless_and_whole(moved: Scene) -> None:
    out = moved.run("find", "", "--json").out
    assert out.rstrip("\n").isprintable()
    assert len(json.loads(out)["hits"]) == 50
