"""`certificate check` needs the file alone, and no change of it goes unnoticed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from b24migrate.insight.certificate import check, form
from b24migrate.insight.certificate.form import Chain, Entry, Head, Inventory, PageLine, Sums
from b24migrate.model.errors import BadConfiguration, Stop, Unproven
from b24migrate.model.records import canonical

DOCUMENT = Path(__file__).parents[2] / "docs" / "certificate.md"
HEX = "0123456789abcdef" * 4
WRITTEN: list[Entry | PageLine] = [
    Entry("users", "1", "verified", target="11", content=HEX, wire=HEX),
    Entry("users", "2", "migrated", target="12", content=HEX, origin="matched"),
    Entry("users", "10", "failed", content=HEX, code="VALIDATION", reason="«NAME» пусто"),
    Entry("chats", "3", "excluded", reason="it travels with its task"),
    Entry("chats", "private:2", "impossible", reason="nobody can read it"),
    Entry("files", "disk:7", "migrated", target="70", content=HEX, wire=HEX),
    PageLine("users", 0, HEX, 2),
    PageLine("users", 1, HEX, 1),
    PageLine("chats", 0, HEX, 1),
]
SUMS = [
    Sums("users", 3, 3, 1, 1, 1, 0, 0, Inventory("2024-03-01T09:00:00Z", "user.get", 3, 3, 2)),
    Sums("chats", None, 1, 0, 0, 0, 1, 1, Inventory("2024-03-01T09:01:00Z", "im.recent.list", None, 1, 1)),
    Sums("files", None, 1, 0, 1, 0, 0, 0, None),
]
PLAN = {"entities": ["users", "chats"], "phases": ["get", "set", "verify"], "test_limit": 0}
HEAD = Head(form.FORMAT, "0.1.0", "run-1", "2024-03-01T10:00:00Z", "cloud.example", "box.example", PLAN, SUMS)


def certificate_text(head: Head = HEAD, lines: list[Entry | PageLine] = WRITTEN) -> bytes:
    """With the right root hash, whatever it says."""
    out, chain = BytesIO(), Chain()
    for line in (head, *lines):
        form.append(out, chain, line)
    form.seal(out, chain)
    return out.getvalue()


def checked(folder: Path, content: bytes) -> None:
    file = folder / "certificate.jsonl"
    file.write_bytes(content)
    check(file)


def refusal_of(folder: Path, content: bytes) -> Stop:
    with pytest.raises((BadConfiguration, Unproven)) as stop:
        checked(folder, content)
    return stop.value


def test_one_that_was_not_touched_holds(tmp_path: Path) -> None:
    checked(tmp_path, certificate_text())


# ---------------------------------------------------------------- damage

anywhere = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)


@anywhere
@given(data=st.data())
def test_any_other_byte_anywhere_is_noticed(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(certificate_text())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[place]))
    refusal_of(tmp_path, bytes(content))


@pytest.mark.parametrize("flip", [1, 2, 32, 128])
def test_every_byte_counts(tmp_path: Path, flip: int) -> None:
    content = certificate_text()
    for place in range(len(content)):
        refusal_of(tmp_path, content[:place] + bytes([content[place] ^ flip]) + content[place + 1 :])


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    content = certificate_text()
    for length in range(len(content)):
        refusal_of(tmp_path, content[:length])


@anywhere
@given(data=st.data())
def test_bytes_that_were_added_or_removed_are_noticed(tmp_path: Path, data: st.DataObject) -> None:
    content = certificate_text()
    place = data.draw(st.integers(0, len(content)))
    more = data.draw(st.binary(min_size=0, max_size=20))
    fewer = data.draw(st.integers(0, 20))
    changed = content[:place] + more + content[place + fewer :]
    if changed != content:
        refusal_of(tmp_path, changed)


@anywhere
@given(data=st.data())
def test_lines_that_were_swapped_doubled_or_left_out_are_noticed(tmp_path: Path, data: st.DataObject) -> None:
    lines = certificate_text().splitlines(keepends=True)
    chosen = data.draw(st.lists(st.sampled_from(lines), max_size=len(lines) + 2).filter(lambda some: some != lines))
    refusal_of(tmp_path, b"".join(chosen))
    shuffled = data.draw(st.permutations(lines))
    if shuffled != lines:
        refusal_of(tmp_path, b"".join(shuffled))


@pytest.mark.parametrize("number", range(2, len(WRITTEN) + 2))
def test_it_says_which_line_was_changed(tmp_path: Path, number: int) -> None:
    lines = certificate_text().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"stream":"', b'"stream":"x', 1)
    message = refusal_of(tmp_path, b"".join(lines))
    assert f"line {number}:" in message.message
    assert message.exit_code == 5
    lines = certificate_text().splitlines(keepends=True)
    begin, rest = lines[number - 1][:40], lines[number - 1][40:]
    lines[number - 1] = begin + re.sub(rb"(pri|it|2|3|7|0|1)", b"9", rest, count=1)
    assert f"line {number}:" in refusal_of(tmp_path, b"".join(lines)).message


# ---------------------------------------------------------------- what does not close although every hash is right


def with_sums(place: int, **other: Any) -> Head:
    changed = [msgspec.structs.replace(one, **other) if number == place else one for number, one in enumerate(SUMS)]
    return msgspec.structs.replace(HEAD, streams=changed)


def without(number: int) -> list[Entry | PageLine]:
    return [one for place, one in enumerate(WRITTEN) if place != number]


WRONG: dict[str, tuple[bytes, str]] = {
    "one verified too many": (
        certificate_text(with_sums(0, verified=2, migrated=0)),
        "users: the head has 2 verified, the lines have 1",
    ),
    "an id is left out": (certificate_text(lines=without(1)), "users: the head has 1 migrated, the lines have 0"),
    "an impossible one is left out": (certificate_text(lines=without(4)), "chats: the head has 1 impossible"),
    "the source reports more": (
        certificate_text(with_sums(0, reported=4, inventory=Inventory("2024-03-01T09:00:00Z", "user.get", 4, 3, 2))),
        "users: the source reports 4, 3 were read",
    ),
    "the head says other than its inventory": (
        certificate_text(with_sums(0, reported=None)),
        "the totals do not match the inventory",
    ),
    "files are miscounted": (certificate_text(with_sums(2, retrieved=2)), "files: "),
    "a page is left out": (certificate_text(lines=without(6)), "users: 2 pages were read, 1 are in the page log"),
    "an id twice": (certificate_text(lines=[WRITTEN[0], *WRITTEN]), "line 3: users 1 is out of order or repeated"),
    "an id in two classes": (
        certificate_text(lines=[WRITTEN[0], Entry("users", "1", "excluded", reason="x"), *WRITTEN[1:]]),
        "users 1 is out of order or repeated",
    ),
    "pages before ids": (certificate_text(lines=[*WRITTEN[6:], *WRITTEN[:6]]), "out of order"),
    "a stream that the head has not": (
        certificate_text(lines=[*WRITTEN, PageLine("tasks", 0, HEX, 1)]),
        "the head has no stream 'tasks'",
    ),
    "a class that is none": (
        certificate_text(lines=[msgspec.structs.replace(WRITTEN[0], class_="lost"), *WRITTEN[1:]]),
        "there is no class 'lost'",
    ),
    "migrated to nowhere": (
        certificate_text(lines=[msgspec.structs.replace(WRITTEN[0], target=None), *WRITTEN[1:]]),
        "requires target",
    ),
    "failed for no reason": (
        certificate_text(lines=[*WRITTEN[:2], msgspec.structs.replace(WRITTEN[2], code=None), *WRITTEN[3:]]),
        "requires code",
    ),
    "a stream twice": (
        certificate_text(msgspec.structs.replace(HEAD, streams=[*SUMS, SUMS[0]])),
        "a stream is named twice",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_sums_and_classes_are_worked_out_again(tmp_path: Path, what: str) -> None:
    content, words = WRONG[what]
    message = refusal_of(tmp_path, content)
    assert (words in message.message, message.exit_code) == (True, 5), message


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"hello\n",
        b"{}\n",
        b"\x00\xff" * 500,
        b"[1]\n",
        b'{"root":"x"}\n',
        certificate_text(msgspec.structs.replace(HEAD, certificate="b24migrate/9")),
    ],
)
def test_what_is_no_certificate_is_told_apart(tmp_path: Path, content: bytes) -> None:
    message = refusal_of(tmp_path, content)
    assert message.exit_code == 2
    assert message.hint


def test_a_file_that_is_not_there_is_told_apart(tmp_path: Path) -> None:
    for place in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(BadConfiguration, match="cannot be read"):
            check(place)


# ---------------------------------------------------------------- size, and strangers


def test_memory_stays_flat_however_long_it_is(tmp_path: Path) -> None:
    file, count = tmp_path / "long.jsonl", 50_000
    sums = Sums("users", None, count, 0, count, 0, 0, 0, Inventory("2024-03-01T09:00:00Z", "user.get", None, count, 0))
    with file.open("wb") as out:
        chain = Chain()
        form.append(out, chain, msgspec.structs.replace(HEAD, streams=[sums]))
        for number in range(1, count + 1):
            form.append(out, chain, Entry("users", str(number), "migrated", target=str(number), content=HEX))
        form.seal(out, chain)
    tracemalloc.start()
    check(file)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


def test_the_checker_in_the_document_agrees(tmp_path: Path) -> None:
    """Whoever does not trust this program writes these lines himself."""
    (program,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    script, file = tmp_path / "checker.py", tmp_path / "certificate.jsonl"
    script.write_text(program, "utf-8")

    def holds(content: bytes) -> bool:
        file.write_bytes(content)
        ended = subprocess.run([sys.executable, str(script), str(file)], capture_output=True, text=True, check=False)
        return ended.returncode == 0 and "holds" in ended.stdout

    assert len(program.splitlines()) <= 20
    content = certificate_text()
    assert holds(content)
    assert not holds(content.replace(b'"12"', b'"13"'))
    assert not holds(b"".join(content.splitlines(keepends=True)[:-2] + content.splitlines(keepends=True)[-1:]))
    assert not holds(certificate_text(lines=without(1)))
    assert not holds(certificate_text(lines=[WRITTEN[0], *WRITTEN]))


def test_a_line_is_canonical_json() -> None:
    for line in certificate_text().splitlines():
        assert canonical(json.loads(line)) == line
