"""Decisions in a table that was written, edited in a spreadsheet and read again, whatever became of the list meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.changes import NEW_NAME
from tests.engine.test_conflicts import ASK, OURS, decide, edit, group, on_box, rows
from tests.engine.world import World

from b24migrate import cli

Json = Any
HEAD = "stream,source_id,field,sent,target,source,decision,at_utc"


def divide(made: World, *places: int, field: str = "NAME") -> list[str]:
    """Records that changed on both sides and wait for a decision."""
    found = [group(made, place) for place in places]
    for source_id, target_id in found:
        edit(made, target_id, **{field: OURS})
        made.change("groups", id=source_id, fields={field: NEW_NAME})
    made.run("groups", **ASK)
    return [source_id for source_id, _ in found]


def command(made: World, *arguments: str) -> int:
    return cli.execute(["--config", str(made.folder / "b24migrate.toml"), "conflicts", *arguments])


def read_table(made: World, text: str, encoding: str = "utf-8") -> int:
    file = made.folder / "decided.csv"
    file.write_bytes(text.encode(encoding))
    return command(made, "decide", "--from", str(file))


def write_table(made: World) -> list[str]:
    file = made.folder / "conflicts.csv"
    assert command(made, "--csv", str(file)) == 0
    return file.read_text("utf-8-sig").splitlines()


def decisions(made: World) -> dict[str, str]:
    return {key.partition(":")[2]: decision for key, (decision, _) in rows(made).items()}


def test_lines_that_were_decided_before_decide_nothing_again(talk: World) -> None:
    """A field that was decided for the source long ago, and another one of the same record that nobody has decided."""
    (one,) = divide(talk, 0)
    decide(talk, "source", one)
    talk.run("groups", **ASK)
    assert divide(talk, 0, field="DESCRIPTION") == [one]
    lines = write_table(talk)
    assert [line.split(",")[2] for line in lines[1:]] == ["DESCRIPTION", "NAME"]
    assert read_table(talk, "\n".join(lines)) == 0
    assert decisions(talk) == {one: ""}
    assert read_table(talk, "\n".join([lines[0], lines[1].replace(",,", ",target,"), lines[2]])) == 0
    assert decisions(talk) == {one: "target"}
    talk.run("groups", **ASK)
    assert on_box(talk, one, "DESCRIPTION") == OURS


def test_two_different_decisions_about_a_record_are_refused(talk: World, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = divide(talk, 0, 1)
    table = f"stream,source_id,decision\ngroups,{other},source\ngroups,{one},source\ngroups,{one},target\n"
    assert read_table(talk, table) == 2
    assert f"line 3 and line 4 decide differently about groups {one}" in capsys.readouterr().err
    assert decisions(talk) == {one: "", other: ""}


def test_a_word_that_is_no_decision_is_refused(talk: World, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = divide(talk, 0, 1)
    assert read_table(talk, f"stream,source_id,decision\ngroups,{one},source\ngroups,{other},sorce\n") == 2
    assert 'line 3 has the decision "sorce"' in capsys.readouterr().err
    assert decisions(talk) == {one: "", other: ""}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_table_is_read_however_a_spreadsheet_saved_it(
    talk_in_conflict: World, encoding: str, separator: str, end: str
) -> None:
    one = next(iter(decisions(talk_in_conflict)))
    lines = [HEAD.replace(",", separator).upper(), "", separator.join(["groups", one, "", "", "", "", " Source ", ""])]
    again = separator.join(["groups", one, "", "", "", "", "SOURCE", ""])
    unknown = separator.join(["groups", "999999", "", "", "", "", "target", ""])
    assert read_table(talk_in_conflict, end.join([*lines, again, unknown, ""]), encoding) == 0
    assert decisions(talk_in_conflict) == {one: "source"}


@pytest.fixture
def talk_in_conflict(talk: World) -> World:
    divide(talk, 0)
    return talk


def test_what_was_decided_and_sent_meanwhile_is_told(talk: World, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = divide(talk, 0, 1)
    lines = write_table(talk)
    decide(talk, "source", one)
    talk.run("groups", **ASK)
    capsys.readouterr()
    assert read_table(talk, "\n".join(lines).replace(",,", ",target,")) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 record decided. The next run sends it if the source wins.",
        f"groups {one}: nothing to decide.",
    ]
    assert decisions(talk) == {one: "source", other: "target"}


def test_a_record_that_changed_after_the_table_was_written_is_not_decided(
    talk: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """Until the table is written again, or its times are deleted. A second thought about the same values counts."""
    one, other = divide(talk, 0, 1)
    lines = write_table(talk)
    talk.change("groups", id=one, fields={"NAME": "Changed once more"})
    talk.run("groups", **ASK)
    decided = "\n".join(lines).replace(",,", ",source,")
    capsys.readouterr()
    assert read_table(talk, decided) == 0
    first, second, fix = capsys.readouterr().out.splitlines()
    assert first.startswith("1 record decided.")
    assert second == f"groups {one}: not decided. The record changed again after the table was written."
    assert "delete the column at_utc" in fix
    assert decisions(talk) == {one: "", other: "source"}
    assert read_table(talk, decided.replace(",source,2", ",target,2")) == 0
    assert decisions(talk) == {one: "", other: "target"}
    assert read_table(talk, "\n".join(line.rpartition(",")[0] for line in decided.splitlines())) == 0
    assert decisions(talk) == {one: "source", other: "source"}


def test_a_table_of_many_lines(talk: World, tmp_path: Path) -> None:
    """Most of them about records that are in no conflict."""
    (one,) = divide(talk, 0)
    many = "".join(f"groups,{number},source\n" for number in range(10**6, 10**6 + 20_000))
    assert read_table(talk, f"stream,source_id,decision\n{many}groups,{one},target\n") == 0
    assert decisions(talk) == {one: "target"}
