"""The rest of a file: taken only from a server that gives the rest of the very same one."""

from __future__ import annotations

import hashlib

import pytest
from tests.bitrix.support import Kit, Response, Scripted

from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import MigrationError, Permanent, Transient

CONTENT = bytes(range(256)) * 1024  # read in pieces of 64 KB, so some of them are here when it is cut in the middle
HALF = len(CONTENT) // 2
VERSION = (("ETag", '"one"'), ("Accept-Ranges", "bytes"))


class InMemory:
    """A part of which everything is sure at once."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.version = ""

    @property
    def length(self) -> int:
        return len(self.content)

    @property
    def sure(self) -> int:
        return self.length if self.version else 0

    def holds(self, version: str) -> bool:
        return bool(self.content) and bool(version) and version == self.version

    def begin(self, version: str) -> None:
        self.content.clear()
        self.version = version

    def write(self, data: bytes) -> int:
        self.content += data
        return len(data)

    def publish(self) -> None: ...


def rest_of_file(
    start: int = 0, headers: tuple[tuple[str, str], ...] = VERSION, *, status: int = 0, announce: int | None = None
) -> Response:
    """The file from a byte on, as a web server says it."""
    status = status or (206 if start else 200)
    place = (("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"),) if start else ()
    return Response(CONTENT[start:], status, "image/png", (*headers, *place), announce)


def broken(headers: tuple[tuple[str, str], ...] = VERSION) -> Response:
    return Response(CONTENT[:HALF], 200, "image/png", headers, len(CONTENT))


def after_a_cut(*answers: Response, first: Response | None = None) -> tuple[InMemory, list[object], list[str]]:
    """What is there in the end, what each further try said, and the ranges that were asked for."""
    part = InMemory()
    events: list[object] = []
    with Scripted(
        first or broken(), Response(), *answers
    ) as server:  # after the cut the portal is asked whether it lives
        source = BitrixSource(Kit([server.webhook]).portal)
        with pytest.raises(Transient):
            source.resume("/disk/file.bin", part, limit=10**7)
        for _ in answers:
            try:
                received = source.resume("/disk/file.bin", part, limit=10**7)
                events.append(received and received[:2])
            except MigrationError as error:
                events.append(error.code)
        return part, events, [one.headers.get("Range", "") for one in server.heard if one.method == "GET"]


def test_the_rest_is_asked_for_and_taken() -> None:
    part, answer, ranges = after_a_cut(rest_of_file(HALF))
    assert bytes(part.content) == CONTENT
    assert answer == [(len(CONTENT), "")]  # nobody has seen all of it at once
    assert ranges == ["", f"bytes={HALF}-"]


@pytest.mark.parametrize("headers", [(("ETag", "0a1b"),), (("Last-Modified", "Thu, 01 Oct 2026 00:00:00 GMT"),)])
def test_a_version_is_known_by_an_odd_etag_or_by_the_time_of_its_change(headers: tuple[tuple[str, str], ...]) -> None:
    every = (*headers, ("Accept-Ranges", "bytes"))
    part, answer, _ = after_a_cut(rest_of_file(HALF, every), first=broken(every))
    assert bytes(part.content) == CONTENT
    assert answer == [(len(CONTENT), "")]


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("Accept-Ranges", "bytes"),),
        (("ETag", '"one"'),),
        (("ETag", 'W/"one"'), ("Accept-Ranges", "bytes")),
        (*VERSION, ("Content-Encoding", "x-odd")),
    ],
)
def test_what_cannot_be_gone_on_with_is_not_kept(headers: tuple[tuple[str, str], ...]) -> None:
    """No version, a weak one, no word of ranges, or bytes that are not the file's own."""
    part, _, _ = after_a_cut(first=broken(headers))
    assert part.sure == 0


def test_a_whole_answer_takes_the_place_of_what_is_there() -> None:
    part, answer, _ = after_a_cut(rest_of_file())
    assert bytes(part.content) == CONTENT
    assert answer == [(len(CONTENT), hashlib.sha256(CONTENT).hexdigest())]


@pytest.mark.parametrize(
    "rest",
    [
        rest_of_file(HALF, (("ETag", '"two"'), ("Accept-Ranges", "bytes"))),  # replaced meanwhile
        rest_of_file(HALF, ()),  # nobody knows of what
        Response(CONTENT[:HALF], 206, "image/png", VERSION),  # promised the rest, and begins at the first byte
        rest_of_file(HALF - 1),  # from another byte on
        Response(b"<html>", 416, "text/html"),  # it has become shorter
        Response(CONTENT[HALF:], 206, "image/png", (*VERSION, ("Content-Range", f"bytes {HALF}-9/{len(CONTENT) + 1}"))),
    ],
)
def test_a_rest_that_does_not_fit_is_refused_and_the_next_try_begins_anew(rest: Response) -> None:
    """The link may have been good for once, so the next try gets another."""
    part, answer, ranges = after_a_cut(rest, rest_of_file())
    assert answer == ["FILE_REPLACED", (len(CONTENT), hashlib.sha256(CONTENT).hexdigest())]
    assert ranges == ["", f"bytes={HALF}-", ""]
    assert bytes(part.content) == CONTENT


def test_a_rest_that_is_shorter_than_promised_is_not_the_end() -> None:
    short = Response(CONTENT[HALF : HALF + 9], 206, "image/png", rest_of_file(HALF).headers)
    part, answer, ranges = after_a_cut(short, rest_of_file(HALF + 9))
    assert answer == ["WRONG_LENGTH", (len(CONTENT), "")]
    assert ranges[-1] == f"bytes={HALF + 9}-"
    assert bytes(part.content) == CONTENT


def test_a_page_in_place_of_the_rest_costs_nothing_of_what_is_there() -> None:
    """A link that was good for once leads to the login page."""
    part, answer, _ = after_a_cut(Response(b"<html>login", kind="text/html"), rest_of_file(HALF))
    assert answer == ["HTML_INSTEAD_OF_FILE", (len(CONTENT), "")]
    assert bytes(part.content) == CONTENT


def test_enough_is_asked_only_of_what_can_be_gone_on_with() -> None:
    for answer, ended in ((rest_of_file(), False), (rest_of_file(headers=()), True)):
        part = InMemory()
        with Scripted(answer) as server:
            source = BitrixSource(Kit([server.webhook]).portal)
            big = Response(CONTENT * 100, 200, "image/png", answer.headers)
            server.answers[:] = [big]
            outcome = source.resume("/disk/file.bin", part, limit=10**8, enough=lambda: True)
        assert (outcome is not None) is ended


def test_a_file_that_is_too_large_in_all_is_refused_at_its_rest() -> None:
    part = InMemory()
    part.begin(f'"one" {len(CONTENT)}')
    part.write(CONTENT[:HALF])
    with Scripted(rest_of_file(HALF)) as server, pytest.raises(Permanent) as caught:
        BitrixSource(Kit([server.webhook]).portal).resume("/disk/file.bin", part, limit=len(CONTENT) - 1)
    assert caught.value.code == "TOO_LARGE"


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("attachment; filename=\"file.xlsx\"; filename*=utf-8''%D0%98%D1%82%D0%BE%D0%B3%D0%B8%20%26%201.xlsx", "Итоги & 1.xlsx"),
        ("attachment; filename*=UTF-8'ru'%D0%90.pdf; size=3", "А.pdf"),
        ('attachment; filename="%D0%90.pdf"', "А.pdf"),
        ("attachment; filename*=utf-8''..%2F..%5Cetc%2Fpasswd%0D%0A.png", "passwd.png"),
        (f'attachment; filename="{"x" * 300}.png"', f'{"x" * 196}.png'),
        ("attachment; filename*=utf-8''..", ""),
        ("attachment", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_a_file_has_the_name_that_the_answer_gives_it(header: str, name: str) -> None:
    headers = (("Content-Disposition", header),) if header else ()
    with Scripted(rest_of_file(headers=headers)) as server:
        received = BitrixSource(Kit([server.webhook]).portal).resume("/disk/file.bin", InMemory(), limit=10**7)
    assert received is not None
    assert received.name == name
