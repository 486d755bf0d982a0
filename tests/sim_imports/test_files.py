"""Files in chunks."""

import hashlib
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sim_imports.client import Client, small_limits

KEY = "source:file:disk:5255"
DATA = b"twenty bytes of text"


def chunk(data: bytes, start: int, size: int, /, **other: object) -> dict[str, Any]:
    content = b64encode(data[start : start + size]).decode()
    facts = {"name": "plan.pdf", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return {"key": KEY, **facts, "offset": start, "content": content, **other}


@pytest.fixture
def small() -> Client:
    return Client(limits=small_limits())


def put(box: Client, body: dict[str, Any]) -> tuple[int, str | None]:
    result = box.call("import.files.put", **body)
    assert result.keys() == {"received", "id"}
    return result["received"], result["id"]


def how_far(box: Client) -> tuple[int, str | None]:
    return put(box, {"key": KEY, "offset": -1})


def test_a_file_in_one_chunk_gets_its_id_at_once(box: Client) -> None:
    received, target_id = put(box, chunk(DATA, 0, 100))
    assert received == 20
    sha256 = hashlib.sha256(DATA).hexdigest()
    assert box.box.rows("files") == {target_id: {"name": "plan.pdf", "size": 20, "sha256": sha256}}


def test_the_id_comes_with_the_last_chunk_only(small: Client) -> None:
    assert put(small, chunk(DATA, 0, 8)) == (8, None)
    assert put(small, chunk(DATA, 8, 8)) == (16, None)
    received, target_id = put(small, chunk(DATA, 16, 8))
    assert (received, target_id) == (20, next(iter(small.box.rows("files"))))


def test_an_upload_tells_how_far_it_got(small: Client) -> None:
    assert how_far(small) == (0, None)
    put(small, chunk(DATA, 0, 8))
    assert how_far(small) == (8, None)
    put(small, chunk(DATA, 8, 8))
    done = put(small, chunk(DATA, 16, 8))
    assert how_far(small) == done == (20, done[1])


@pytest.mark.parametrize("offset", [-2, 0, 4, 16, 99])
def test_a_chunk_at_another_offset_is_ignored(small: Client, offset: int) -> None:
    put(small, chunk(DATA, 0, 8))
    assert put(small, chunk(DATA, 8, 8, offset=offset)) == (8, None)
    put(small, chunk(DATA, 8, 8))
    assert put(small, chunk(DATA, 16, 8))[1] is not None


def test_an_unknown_file_does_not_begin_in_the_middle(small: Client) -> None:
    assert put(small, chunk(DATA, 8, 8)) == (0, None)


def test_a_complete_key_answers_at_once_whatever_comes(box: Client) -> None:
    done = put(box, chunk(DATA, 0, 100))
    assert put(box, chunk(DATA, 0, 100)) == done
    assert put(box, chunk(b"other", 0, 5, name="other.pdf")) == done
    assert put(box, chunk(DATA, 5, 5)) == done
    assert len(box.box.rows("files")) == 1


def test_a_wrong_sha256_is_malformed_and_the_upload_discarded(small: Client) -> None:
    wrong = {"sha256": "0" * 64}
    put(small, chunk(DATA, 0, 8, **wrong))
    put(small, chunk(DATA, 8, 8, **wrong))
    small.refused("import.files.put", **chunk(DATA, 16, 8, **wrong))
    assert how_far(small) == (0, None)
    put(small, chunk(DATA, 0, 8))
    put(small, chunk(DATA, 8, 8))
    assert put(small, chunk(DATA, 16, 8))[1] is not None


@pytest.mark.parametrize("other", [{"name": "b.pdf"}, {"size": 21}, {"sha256": "1" * 64}])
def test_another_announcement_starts_an_unfinished_file_over(small: Client, other: dict[str, Any]) -> None:
    put(small, chunk(DATA, 0, 8))
    assert put(small, chunk(DATA, 8, 8, **other)) == (0, None)
    assert put(small, chunk(DATA, 0, 5, **other)) == (5, None)


def test_an_empty_file_is_one_call(box: Client) -> None:
    received, target_id = put(box, chunk(b"", 0, 0))
    assert received == 0
    assert target_id is not None
    assert how_far(box) == (0, target_id)


def test_an_empty_file_with_a_wrong_sha256_is_malformed(box: Client) -> None:
    box.refused("import.files.put", **chunk(b"", 0, 0, sha256="0" * 64))


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": ""},
        {"key": None},
        {"name": None},
        {"size": "20"},
        {"size": -1},
        {"size": 65},
        {"sha256": "abc"},
        {"sha256": None},
        {"offset": None},
        {"offset": "0"},
        {"offset": True},
        {"content": None},
        {"content": "not base64!"},
        {"content": b64encode(b"nine byte").decode()},
    ],
)
def test_malformed_puts_and_what_is_over_the_limits_are_refused(small: Client, wrong: dict[str, Any]) -> None:
    small.refused("import.files.put", **chunk(DATA, 0, 8) | wrong)
    assert how_far(small) == (0, None)


def test_more_bytes_than_announced_are_refused_and_ignored(small: Client) -> None:
    put(small, chunk(DATA, 0, 8, size=10))
    small.refused("import.files.put", **chunk(DATA, 8, 8, size=10))
    assert how_far(small) == (8, None)


def test_a_key_of_a_record_is_no_key_of_a_file(box: Client) -> None:
    box.group()
    box.refused("import.files.put", **chunk(DATA, 0, 20, key="source:groups:12"))


@given(data=st.binary(max_size=60), tries=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=25))
def test_whatever_chunks_come_the_file_arrives_once_and_whole(data: bytes, tries: list[tuple[int, int]]) -> None:
    small = Client(limits=small_limits())
    got, target_id = 0, None
    for start, size in tries:
        received, now_id = put(small, chunk(data, start, size))
        fits = target_id is None and start == got
        got = min(got + size, len(data)) if fits else got
        assert received == got
        assert target_id in (None, now_id)
        target_id = now_id
    while target_id is None:
        got, target_id = put(small, chunk(data, how_far(small)[0], 8))
    assert how_far(small) == (len(data), target_id)
    assert [record["key"] for record in small.box.dump("files")] == [KEY]
