"""Files: bytes under names chosen by us."""

from __future__ import annotations

from array import array
from contextlib import suppress

import pytest

from b24migrate.model.errors import Permanent, Transient
from b24migrate.ports import Files


def put(files: Files, key: str, content: bytes) -> None:
    with files.writer(key) as out:
        out.write(content)


def put_half(files: Files, key: str) -> None:
    with files.writer(key) as out:
        out.write(b"half of it")
        raise RuntimeError("cut")


def test_a_file_comes_back_as_it_was(files: Files) -> None:
    content = bytes(range(256)) * 5000
    put(files, "disk:1", content)
    with files.open("disk:1") as back:
        assert back.read() == content
    assert files.size("disk:1") == len(content)


def test_an_empty_file_is_a_file(files: Files) -> None:
    put(files, "disk:1", b"")
    assert files.size("disk:1") == 0
    with files.open("disk:1") as back:
        assert back.read() == b""
        assert back.seek(0, 2) == 0
        assert back.read(5) == b""


def test_a_large_file_is_read_from_anywhere(files: Files) -> None:
    content = b"".join(number.to_bytes(4, "big") for number in range(2_500_000))
    with files.writer("disk:1") as out:
        for start in range(0, len(content), 3_000_001):
            out.write(content[start : start + 3_000_001])
    assert files.size("disk:1") == len(content)
    with files.open("disk:1") as back:
        for start in (9_000_000, 4_194_300, 0, len(content) - 3, len(content), len(content) + 5):
            assert back.seek(start) == start
            assert back.read(100_000) == content[start : start + 100_000]
        back.seek(0)
        assert back.read() == content


def test_a_file_that_is_not_there(files: Files) -> None:
    assert files.size("disk:1") is None
    files.delete("disk:1")
    with pytest.raises(Permanent, match="disk:1"):
        files.open("disk:1")


def test_a_file_appears_only_when_it_is_whole(files: Files) -> None:
    with files.writer("disk:1") as out:
        out.write(b"half")
        assert files.size("disk:1") is None
    assert files.size("disk:1") == 4


def test_a_writer_that_fails_leaves_nothing(files: Files) -> None:
    with pytest.raises(RuntimeError, match="cut"):
        put_half(files, "disk:1")
    assert files.size("disk:1") is None


def test_a_writer_that_fails_leaves_the_earlier_file(files: Files) -> None:
    put(files, "disk:1", b"old")
    with pytest.raises(RuntimeError, match="cut"):
        put_half(files, "disk:1")
    with files.open("disk:1") as back:
        assert back.read() == b"old"


def test_an_error_of_the_caller_stays_what_it_is(files: Files) -> None:
    def download() -> None:
        with files.writer("disk:1"):
            raise ConnectionResetError("the portal hung up")

    with pytest.raises(ConnectionResetError):
        download()


def test_a_new_file_takes_the_place_of_the_old(files: Files) -> None:
    put(files, "disk:1", b"old")
    put(files, "disk:1", b"newer")
    assert files.size("disk:1") == 5


def test_a_deleted_file_is_gone(files: Files) -> None:
    put(files, "disk:1", b"")
    assert files.size("disk:1") == 0
    files.delete("disk:1")
    assert files.size("disk:1") is None


@pytest.mark.parametrize("key", ["../../etc/passwd", "/etc/passwd", "a\\b", "nul", "ж" * 300, "", "a:b|c?*"])
def test_no_key_chooses_where_we_write(files: Files, key: str) -> None:
    put(files, key, b"x")
    put(files, key + "2", b"yy")
    assert (files.size(key), files.size(key + "2")) == (1, 2)


def test_two_writers_of_one_key_do_not_mix(files: Files) -> None:
    with files.writer("disk:1") as one, files.writer("disk:1") as other:
        one.write(b"1" * 10)
        other.write(b"2" * 20)
    assert files.size("disk:1") == 10  # the one that ended last


# ---------------------------------------------------------------- parts

BLOCK = 4 << 20
CONTENT = array("I", range(BLOCK * 5 // 8)).tobytes()  # two blocks and a half


def bring(files: Files, key: str, content: bytes, version: str, *, publish: bool = False) -> int:
    """Goes on with what is there; how much that was."""
    with files.part(key) as part:
        if not part.holds(version):
            part.begin(version)
        start = part.length
        for place in range(start, len(content), 1 << 16):
            part.write(content[place : place + (1 << 16)])
        if publish:
            part.publish()
    return start


def test_a_part_that_comes_whole_is_a_file(files: Files) -> None:
    for size in (0, 5, BLOCK, len(CONTENT)):
        with files.part("disk:1", size) as part:
            part.begin("v1" if size else "")
            part.write(CONTENT[:size])
            part.publish()
            assert files.size("disk:1") != size
        with files.open("disk:1") as back:
            assert back.read() == CONTENT[:size]


def test_what_has_arrived_is_gone_on_with_in_whole_blocks(files: Files) -> None:
    assert bring(files, "disk:1", CONTENT[: BLOCK + 100], "v1") == 0
    assert files.size("disk:1") is None
    assert bring(files, "disk:1", CONTENT, "v1", publish=True) == BLOCK
    with files.open("disk:1") as back:
        assert back.read() == CONTENT


def test_an_error_keeps_what_has_arrived(files: Files) -> None:
    def cut() -> None:
        with files.part("disk:1") as part:
            part.begin("v1")
            for place in range(0, BLOCK * 2, 1 << 16):
                part.write(CONTENT[place : place + (1 << 16)])
            assert part.sure == BLOCK * 2
            raise ConnectionResetError("the portal hung up")

    with pytest.raises(ConnectionResetError):
        cut()
    assert bring(files, "disk:1", CONTENT, "v1", publish=True) == BLOCK * 2
    with files.open("disk:1") as back:
        assert back.read() == CONTENT


def test_another_version_begins_anew_and_of_two_the_last_counts(files: Files) -> None:
    old = bytes(len(CONTENT))
    bring(files, "disk:1", old[: 2 * BLOCK], "v1")
    assert bring(files, "disk:1", CONTENT[: BLOCK + 1], "v2") == 0
    assert bring(files, "disk:1", CONTENT, "v2", publish=True) == BLOCK
    with files.open("disk:1") as back:
        assert back.read() == CONTENT


@pytest.mark.parametrize("version", ["", "v1"])
def test_without_a_version_or_a_block_nothing_outlives(files: Files, version: str) -> None:
    bring(files, "disk:1", CONTENT if not version else CONTENT[: BLOCK - 1], version)
    assert bring(files, "disk:1", CONTENT, "v1", publish=True) == 0


def test_a_part_leaves_the_earlier_file_until_it_is_whole(files: Files) -> None:
    put(files, "disk:1", b"old")
    bring(files, "disk:1", CONTENT[:BLOCK], "v1")
    assert files.size("disk:1") == 3
    bring(files, "disk:1", CONTENT, "v1", publish=True)
    assert files.size("disk:1") == len(CONTENT)
    assert bring(files, "disk:1", CONTENT[:100], "v1", publish=True) == 0  # nothing is left of the part
    assert files.size("disk:1") == 100


def test_two_who_bring_the_same_file_do_not_mix(files: Files) -> None:
    """The other may have another version of it. The last to finish wins, or gets an error that it was late."""
    with suppress(Transient), files.part("disk:1") as one:
        one.begin("v1")
        one.write(CONTENT[: BLOCK + 5])
        with files.part("disk:1") as other:
            other.begin("v2")
            other.write(bytes(BLOCK))
            other.write(bytes(BLOCK))
            other.publish()
        one.write(CONTENT[BLOCK + 5 :])
        one.publish()
    with files.open("disk:1") as back:
        assert back.read() in (CONTENT, bytes(2 * BLOCK))
