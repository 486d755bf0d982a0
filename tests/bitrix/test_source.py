"""The source as a whole: it only reads, it pages by offset where it must, and it fetches files."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator

import pytest
from tests.bitrix.ledger import Ledger
from tests.bitrix.support import SECRET, Kit, Response, Scripted

from b24migrate.bitrix.methods import READS, WriteAttemptError
from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import Limited, MigrationError, Permanent, Transient
from b24migrate.model.readings import Gather, Keyset, Listing, Offset, Whole
from b24migrate.model.records import Args, Page
from b24migrate.ports import Command, Source
from b24sim.company.messages import FILE_BASE
from b24sim.faults import Faults
from b24sim.serve import Running, serve

BY_ID = Keyset("filter", "id", {"order": {"id": "ASC"}}, {"order": {"id": "DESC"}})
DEPARTMENTS = Listing("department.get", Offset(), params={"sort": "ID", "order": "ASC"})


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Ledger, Running]]:
    ledger = Ledger()
    with serve(ledger) as running:
        yield ledger, running


@pytest.fixture
def ledger(served: tuple[Ledger, Running]) -> Ledger:
    served[0].stats.reset()
    served[0].faults = Faults()
    return served[0]


@pytest.fixture
def source(served: tuple[Ledger, Running]) -> BitrixSource:
    return BitrixSource(Kit([served[1].webhook()]).portal)


def read_all(source: BitrixSource, reading: Listing, *, limit: int = 0, gently: bool = False) -> list[Page]:
    todo: list[Args] = [{}]
    pages = []
    while todo:
        pages.append(source.page(reading, json.loads(json.dumps(todo.pop())), limit=limit, gently=gently))
        todo += pages[-1].next
        assert len(pages) < 200
    return pages


def ids_of(pages: list[Page]) -> list[int]:
    return [int(row.source_id) for page in pages for row in page.rows]


@pytest.mark.parametrize("method", ["user.add", "batch", "im.message.add", "crm.item.delete", "upload", ""])
def test_what_does_not_only_read_never_reaches_the_network(ledger: Ledger, source: BitrixSource, method: str) -> None:
    for attempt in (
        lambda: source.call(method, {}),
        lambda: source.batch([Command("user.get", {}), Command(method, {})]),
        lambda: source.page(Listing(method, Offset()), {}),
    ):
        with pytest.raises(WriteAttemptError):
            attempt()
    assert ledger.stats.http_requests == 0


def test_no_name_on_the_list_sounds_like_a_change() -> None:
    changes = ("add", "update", "delete", "set", "register", "start", "complete", "upload", "leave", "like")
    assert not [name for name in READS if name.rpartition(".")[2].startswith(changes)]


def test_it_is_a_source(source: BitrixSource) -> None:
    port: Source = source
    assert port.alive()
    assert port.owners == ["1"]


def test_a_gather_reads_by_itself(source: BitrixSource) -> None:
    def read(port: Source, cursor: Args, limit: int) -> Page:
        return Page(reported=len(port.owners) + limit + cursor["n"])

    assert source.page(Gather("x", read), {"n": 5}, limit=2).reported == 8


@pytest.mark.parametrize("count", [0, 1, 50, 51, 2700])
@pytest.mark.parametrize("gently", [True, False])
def test_offset_pages_follow_what_the_portal_says(
    ledger: Ledger, source: BitrixSource, count: int, gently: bool
) -> None:
    ledger.ids = list(range(1, count + 1))
    pages = read_all(source, DEPARTMENTS, gently=gently)
    assert ids_of(pages) == ledger.ids
    assert pages[0].reported == count
    numbers = [entry.number for page in pages for entry in page.log]
    assert numbers == list(range(len(numbers)))
    assert source.count(DEPARTMENTS) == count
    if not gently:
        assert ledger.stats.http_requests <= 4


def test_a_first_page_that_comes_again_is_recognised(ledger: Ledger, source: BitrixSource) -> None:
    ledger.ids = list(range(1, 121))
    first = source.page(DEPARTMENTS, {})
    ledger.ids = list(range(1, 31))
    rest = source.page(DEPARTMENTS, first.next[0])
    assert rest.rows == []
    assert rest.next == []


@pytest.mark.parametrize("limit", [1, 50, 60, 500])
def test_a_limit_holds_for_offset_pages(ledger: Ledger, source: BitrixSource, limit: int) -> None:
    ledger.ids = list(range(1, 301))
    assert ids_of(read_all(source, DEPARTMENTS, limit=limit)) == ledger.ids[:limit]


@pytest.mark.parametrize(
    ("body", "ids", "reported"),
    [
        (b'{"result":{"types":[{"id":3},{"id":4}]},"total":2}', ["3", "4"], 2),
        (b'{"result":{"types":{"7":{"id":3}}},"total":0}', ["3"], None),
        (b'{"result":{"types":[]},"total":0}', [], 0),
        (b'{"result":{"TYPES":[{"id":3}]},"total":1}', ["3"], 1),
        (b'{"result":{"types":null},"total":0}', [], 0),
        (b'{"result":{"types":false}}', [], None),
    ],
)
def test_a_whole_list_is_understood_in_every_shape_php_gives_it(
    body: bytes, ids: list[str], reported: int | None
) -> None:
    reading = Listing("crm.type.list", Whole(), items=("types",), id="id")
    with Scripted(Response(body)) as server:
        page = BitrixSource(Kit([server.webhook]).portal).page(reading, {})
    assert [row.source_id for row in page.rows] == ids
    assert page.reported == reported


@pytest.mark.parametrize("result", [b"[]", b"null", b"false", b"{}", b'{"items":[{"id":3}]}', b'{"types":"3"}', b"3"])
@pytest.mark.parametrize("paging", [Whole(), Offset(), BY_ID])
def test_an_answer_without_its_key_is_refused_and_no_empty_list(result: bytes, paging: Whole | Offset | Keyset) -> None:
    """In calls of their own and in a batch alike."""
    reading = Listing("crm.type.list", paging, items=("types",), id="id")
    alone = Response(b'{"result":%s,"total":0}' % result)
    together = Response(b'{"result":{"result":{"c0":%s,"c1":%s},"result_total":{"c0":0}}}' % (result, result))
    with Scripted(together if isinstance(paging, Keyset) else alone) as server, pytest.raises(Permanent) as refused:
        BitrixSource(Kit([server.webhook]).portal).page(reading, {})
    assert refused.value.code == "STRANGE_RESULT"
    assert refused.value.message == "crm.type.list: the answer has no types."


def test_an_id_may_be_two_fields_or_the_item_itself() -> None:
    stages = b'{"result":[{"ENTITY_ID":"SOURCE","STATUS_ID":"WEB"}]}'
    with Scripted(Response(stages), Response(b'{"result":[99,1269]}')) as server:
        source = BitrixSource(Kit([server.webhook]).portal)
        page = source.page(Listing("crm.status.list", Whole(), id="ENTITY_ID:STATUS_ID"), {})
        people = source.page(Listing("im.chat.user.list", Whole(), id=""), {})
    assert page.rows[0].source_id == "SOURCE:WEB"
    assert [row.source_id for row in people.rows] == ["99", "1269"]


def test_a_record_without_its_id_is_refused_not_lost() -> None:
    with Scripted(Response(b'{"result":[{"NAME":"x"}]}')) as server, pytest.raises(Permanent):
        BitrixSource(Kit([server.webhook]).portal).page(Listing("crm.status.list", Whole()), {})


# ---------------------------------------------------------------- files


def fetch(server: Scripted, url: str = "/disk/file.bin", *, limit: int = 10**6) -> tuple[int, str, bytes]:
    out = io.BytesIO()
    size, sha256 = BitrixSource(Kit([server.webhook]).portal).download(url, out, limit=limit)
    return size, sha256, out.getvalue()


def refused(*answers: Response, limit: int = 10**6) -> MigrationError:
    with Scripted(*answers) as server, pytest.raises(MigrationError) as caught:
        fetch(server, f"{server.origin}/rest/1/{SECRET}/download/?token=t", limit=limit)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value.__context__)
    return caught.value


def test_a_file_of_the_portal_comes_with_its_digest(ledger: Ledger, source: BitrixSource) -> None:
    numbers = [FILE_BASE + place for place in range(1000) if ledger.company.file(FILE_BASE + place)]
    answers = source.batch([Command("disk.file.get", {"id": number}) for number in numbers])
    link = next(json.loads(one.result)["DOWNLOAD_URL"] for one in answers if one.result)
    assert ledger.webhooks[1] not in link
    out = io.BytesIO()
    size, sha256 = source.download(link, out, limit=10**8)
    assert size == len(out.getvalue()) > 0
    assert sha256 == hashlib.sha256(out.getvalue()).hexdigest()


def test_headers_that_the_files_server_wants_are_sent_and_no_secret_in_the_referer() -> None:
    with Scripted(Response(b"bytes", kind="image/png")) as server:
        assert fetch(server)[2] == b"bytes"
        heard = server.heard[0].headers
    assert heard["User-Agent"].startswith("b24migrate/")
    assert heard["Accept"] == "*/*"
    assert heard["Accept-Language"]
    assert heard["Referer"] == f"{server.origin}/"


@pytest.mark.parametrize(
    ("response", "kind", "code"),
    [
        (Response(b"<html>login", kind="text/html"), Permanent, "HTML_INSTEAD_OF_FILE"),
        (Response(b"<html>", 404, "text/html"), Permanent, "HTTP_404"),
        (Response(b"<html>", 403, "text/html"), Permanent, "HTTP_403"),
        (Response(b"<html>", 502, "text/html"), Transient, "HTTP_502"),
        (Response(b'{"error":"ERROR_NOT_FOUND"}'), Permanent, "ERROR_NOT_FOUND"),
        (Response(b'{"error":"INVALID_CREDENTIALS"}', 401), Permanent, "INVALID_CREDENTIALS"),
        (Response(b'{"error":"QUERY_LIMIT_EXCEEDED"}', 503), Limited, "QUERY_LIMIT_EXCEEDED"),
        (Response(b"half", kind="image/png", announce=100), Transient, "CONNECTION_LOST"),
        (Response(hang_up=True), Transient, "CONNECTION_LOST"),
        (Response(b"", 302, headers=(("Location", "/again"),)), Transient, "TOO_MANY_REDIRECTS"),
    ],
)
def test_what_is_not_the_file_is_never_kept_as_one(response: Response, kind: type[MigrationError], code: str) -> None:
    error = refused(response)
    assert type(error) is kind
    assert error.code == code


def test_a_file_over_the_limit_is_refused_with_and_without_an_announced_length() -> None:
    assert refused(Response(b"x" * 100, kind="image/png"), limit=99).code == "TOO_LARGE"


def test_a_page_that_is_the_file_is_kept() -> None:
    attached = (("Content-Disposition", "attachment; filename=a.html"),)
    with Scripted(Response(b"<html>mine", kind="text/html", headers=attached)) as server:
        assert fetch(server)[2] == b"<html>mine"


def test_redirects_to_the_bytes_are_followed() -> None:
    with Scripted(
        Response(b"", 302, headers=(("Location", "/cdn/file"),)), Response(b"bytes", kind="image/png")
    ) as server:
        assert fetch(server)[2] == b"bytes"
        assert server.heard[1].path == "/cdn/file"


def test_a_link_to_somebody_else_never_gets_the_secret() -> None:
    with Scripted() as portal, Scripted(Response(b"x", kind="image/png")) as stranger:
        kit = Kit([portal.webhook])
        marker = kit.redactor.mask(SECRET.encode()).decode()
        with pytest.raises(Permanent) as caught:
            BitrixSource(kit.portal).download(f"{stranger.origin}/?s={marker}", io.BytesIO(), limit=100)
        assert caught.value.code == "INSECURE_LINK"
        assert stranger.heard == []
