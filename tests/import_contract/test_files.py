"""Files in chunks."""

import hashlib
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.import_contract.client import Client, Refused
from tests.import_contract.servers import SMALL_LIMITS

KEY = "source:file:disk:5255"
DATA = b"twenty bytes of text"
FACTS = {"name": "plan.pdf", "size": 20, "sha256": hashlib.sha256(DATA).hexdigest()}


def chunk(data: bytes, start: int, size: int, /, **other: object) -> dict[str, Any]:
    content = b64encode(data[start : start + size]).decode()
    facts = {"name": "plan.pdf", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return {"key": KEY, **facts, "offset": start, "content": content, **other}


@pytest.fixture
def small(raw: Client) -> Client:
    raw.reset(limits=SMALL_LIMITS)
    return raw


def put(box: Client, body: dict[str, Any]) -> tuple[int, str | None]:
    result = box.call("import.files.put", **body)
    assert result.keys() == {"received", "id"}
    return result["received"], result["id"]


def how_far(box: Client) -> tuple[int, str | None]:
    return put(box, {"key": KEY, "offset": -1})


# ---------------------------------------------------------------- whole files


def test_a_file_arrives_whole_and_once(box: Client) -> None:
    target_id = box.upload(KEY, DATA, "plan.pdf")
    assert box.upload(KEY, DATA, "plan.pdf") == target_id
    assert box.rows("files") == {target_id: FACTS}


def test_an_empty_file_is_one_call(box: Client) -> None:
    target_id = box.upload(KEY, b"")
    assert how_far(box) == (0, target_id)


@pytest.mark.parametrize("began", [0, 1, 8])
def test_the_product_goes_on_where_an_upload_stopped(product: Client, began: int) -> None:
    product.reset(limits=SMALL_LIMITS)
    put(product, chunk(DATA, 0, began))
    assert product.upload(KEY, DATA, "plan.pdf") == next(iter(product.rows("files")))
    assert list(product.rows("files").values()) == [FACTS]


# ---------------------------------------------------------------- chunk by chunk


def test_a_file_in_one_chunk_gets_its_id_at_once(raw: Client) -> None:
    received, target_id = put(raw, chunk(DATA, 0, 100))
    assert received == 20
    assert raw.rows("files") == {target_id: FACTS}


def test_the_id_comes_with_the_last_chunk_only(small: Client) -> None:
    assert put(small, chunk(DATA, 0, 8)) == (8, None)
    assert put(small, chunk(DATA, 8, 8)) == (16, None)
    received, target_id = put(small, chunk(DATA, 16, 8))
    assert (received, target_id) == (20, next(iter(small.rows("files"))))


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


def test_a_complete_key_answers_at_once_whatever_comes(raw: Client) -> None:
    done = put(raw, chunk(DATA, 0, 100))
    assert put(raw, chunk(DATA, 0, 100)) == done
    assert put(raw, chunk(b"other", 0, 5, name="other.pdf")) == done
    assert put(raw, chunk(DATA, 5, 5)) == done
    assert len(raw.rows("files")) == 1


def test_a_wrong_sha256_is_malformed_and_the_upload_discarded(small: Client) -> None:
    wrong = {"sha256": "0" * 64}
    put(small, chunk(DATA, 0, 8, **wrong))
    put(small, chunk(DATA, 8, 8, **wrong))
    with pytest.raises(Refused, match="ERROR_ARGUMENT"):
        put(small, chunk(DATA, 16, 8, **wrong))
    assert how_far(small) == (0, None)
    put(small, chunk(DATA, 0, 8))
    put(small, chunk(DATA, 8, 8))
    assert put(small, chunk(DATA, 16, 8))[1] is not None


@pytest.mark.parametrize("other", [{"name": "b.pdf"}, {"size": 21}, {"sha256": "1" * 64}])
def test_another_announcement_starts_an_unfinished_file_over(small: Client, other: dict[str, Any]) -> None:
    put(small, chunk(DATA, 0, 8))
    assert put(small, chunk(DATA, 8, 8, **other)) == (0, None)
    assert put(small, chunk(DATA, 0, 5, **other)) == (5, None)


def test_an_empty_file_with_a_wrong_sha256_is_malformed(raw: Client) -> None:
    raw.refused("import.files.put", **chunk(b"", 0, 0, sha256="0" * 64))


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


def test_a_key_of_a_record_is_no_key_of_a_file(raw: Client) -> None:
    raw.group()
    raw.refused("import.files.put", **chunk(DATA, 0, 20, key="source:groups:12"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60), tries=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=15))
def test_whatever_chunks_come_the_file_arrives_once_and_whole(
    small: Client, data: bytes, tries: list[tuple[int, int]]
) -> None:
    small.reset(limits=SMALL_LIMITS)
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
    assert [record["key"] for record in small.server.dump("files")] == [KEY]
