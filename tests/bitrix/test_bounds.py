"""Whatever a portal sends costs a bounded amount of memory and of time."""

from __future__ import annotations

import gzip
import io
import json
import struct
import subprocess
import sys
import threading
import tracemalloc
import zlib
from functools import cache

import pytest
from tests.bitrix.raw_server import HEAD, Pieces, RawServer, slowly
from tests.bitrix.support import Kit, Response, Scripted

from b24migrate.bitrix import http
from b24migrate.bitrix.client import Timeouts
from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import Limited, MigrationError, Transient
from b24migrate.model.interrupt import Interrupt
from b24migrate.model.readings import Listing, Offset
from b24migrate.ports.quota import LONGEST_REST_S, Quota

# For answers that are broken off; one that has to arrive has `PATIENT`, where only the least rate is strict.
QUICK = Timeouts(connect_s=2.0, read_s=2.0, probe_s=1.0, call_s=4.0, window_s=1.0, least_bytes=1000)
PATIENT = QUICK._replace(read_s=60.0, call_s=60.0)


def ask(answer: Pieces, timeouts: Timeouts = QUICK) -> MigrationError | bytes:
    with RawServer(answer) as server:
        kit = Kit([server.webhook])
        kit.portal.timeouts = timeouts
        try:
            return bytes(kit.portal.call("user.get", {}).result)  # type: ignore[arg-type]
        except MigrationError as error:
            return error


@cache
def bomb(size: int) -> bytes:
    """So many bytes of a JSON text, packed a thousand to one."""
    first, blank, last = b'{"result":"', b" " * (1 << 20), b'"}'
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(first) + packer.flush(zlib.Z_FULL_FLUSH)
    packed += (packer.compress(blank) + packer.flush(zlib.Z_FULL_FLUSH)) * (size >> 20)  # all alike: none knows another
    crc = zlib.crc32(first)
    for _ in range(size >> 20):
        crc = zlib.crc32(blank, crc)
    whole = struct.pack("<LL", zlib.crc32(last, crc), (len(first) + len(last) + (size >> 20 << 20)) & 0xFFFFFFFF)
    return gzip.compress(b"")[:10] + packed + packer.compress(last) + packer.flush() + whole


# ---------------------------------------------------------------- size

ASK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (900 << 20, 900 << 20))
from tests.bitrix.support import Kit
from b24migrate.bitrix.source import BitrixSource
from b24migrate.model.errors import MigrationError
import io
source = BitrixSource(Kit([sys.argv[1]]).portal)
try:
    if sys.argv[2] == "call":
        source.call("user.get", {})
    else:
        source.download("/disk/file.bin", io.BytesIO(), limit=10_000_000)
    print("an answer")
except MigrationError as error:
    print(error.code)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024)
"""


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip"])
@pytest.mark.parametrize(("what", "code"), [("call", "ANSWER_TOO_LARGE"), ("download", "TOO_LARGE")])
def test_a_body_that_unpacks_to_more_than_a_gigabyte_costs_no_memory(
    what: str, code: str, encoding: str, chunked: bool
) -> None:
    body = bomb(1500 << 20)
    body = gzip.compress(body) if "," in encoding else body
    assert len(body) < 2_000_000
    kind = "application/json" if what == "call" else "image/png"
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {encoding}\r\n".encode()
    if chunked:
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head += b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"Content-Length: %d\r\n\r\n" % len(body)
    with RawServer(lambda _: [head, body]) as server:
        ended = subprocess.run(
            [sys.executable, "-c", ASK, server.webhook, what], capture_output=True, text=True, check=False, timeout=60
        )
    assert ended.stdout.split("\n")[0] == code, ended.stderr
    assert int(ended.stdout.split("\n")[1]) < 250


@pytest.mark.parametrize("what", ["call", "download"])
@pytest.mark.parametrize("length", [b"-1", b"-5"])
def test_a_part_with_a_negative_length_is_a_broken_answer(what: str, length: bytes) -> None:
    """A read of -1 bytes would be one to the end."""
    kind = b"application/json" if what == "call" else b"image/png"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    with RawServer(lambda _: [head, length + b"\r\n", *[b"x" * (1 << 20)] * 400]) as server:
        ended = subprocess.run(
            [sys.executable, "-c", ASK, server.webhook, what], capture_output=True, text=True, check=False, timeout=60
        )
    assert ended.stdout.split("\n")[0] == "CONNECTION_LOST", ended.stderr
    assert int(ended.stdout.split("\n")[1]) < 150


def test_a_large_answer_that_waits_for_another_is_not_taken_for_a_slow_one() -> None:
    """It is not read meanwhile: no byte of it comes for longer than the window of the least rate."""
    body = b'{"result":"' + b" " * (9 << 20) + b'"}'
    with RawServer(lambda _: [HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body]) as server:
        kit = Kit([server.webhook])
        kit.portal.timeouts = PATIENT
        kit.portal.wire._large.acquire()
        free = threading.Timer(2.5 * QUICK.window_s, kit.portal.wire._large.release)
        free.start()
        assert len(bytes(kit.portal.call("user.get", {}).result)) > 9 << 20  # type: ignore[arg-type]
        free.join()


def test_an_endless_body_is_one_error_and_the_portal_counts_as_alive() -> None:
    error = ask(lambda _: [HEAD + b"\r\n", *endless_json()], Timeouts())
    assert isinstance(error, Transient)
    assert error.code == "ANSWER_TOO_LARGE"
    assert error.own


def endless_json() -> list[bytes]:
    return [b"x" * (1 << 20)] * ((http.LARGEST_ANSWER >> 20) + 2)


def test_answers_up_to_the_cap_are_taken() -> None:
    body = b'{"result":"%b"}' % (b"x" * (20 << 20))
    found = ask(lambda _: [HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body], Timeouts())
    assert isinstance(found, bytes)
    assert len(found) == (20 << 20) + 2


@pytest.mark.parametrize("status", [302, 404, 502])
def test_bodies_of_errors_and_redirects_are_bounded_too(status: int) -> None:
    head = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nLocation: /rest/x\r\n\r\n" % status
    error = ask(lambda _: (piece for piece in (head, *endless_json())), Timeouts())
    assert isinstance(error, Transient)
    assert error.code == "ANSWER_TOO_LARGE"


# ---------------------------------------------------------------- time


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: [HEAD + b"\r\n", *slowly(b" " * 9000, 0.1)], id="body"),
        pytest.param(lambda _: slowly(HEAD + b"X: " + b"x" * 9000, 0.1), id="headers"),
        pytest.param(lambda _: [HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *slowly(b"1" * 9000, 0.1)], id="chunks"),
    ],
)
def test_an_answer_that_trickles_counts_as_a_broken_connection(answer: Pieces) -> None:
    error = ask(answer)
    assert isinstance(error, Transient)
    assert error.code == "TIMEOUT"


def test_a_whole_call_has_a_deadline_however_busy_the_line_is() -> None:
    error = ask(lambda _: [HEAD + b"\r\n", *slowly(b" " * 9_000_000, 0.05, 500)])
    assert isinstance(error, Transient)
    assert error.code == "TIMEOUT"


def test_a_portal_that_thinks_and_then_answers_is_waited_for() -> None:
    body = b'{"result":"late"}'
    assert ask(lambda _: [1.6, HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body], PATIENT) == b'"late"'


def test_a_slow_line_that_brings_enough_is_no_broken_one() -> None:
    body = b'{"result":"%b"}' % (b"x" * 60_000)
    found = ask(lambda _: [HEAD + b"Content-Length: %d\r\n\r\n" % len(body), *slowly(body, 0.2, 5000)], PATIENT)
    assert isinstance(found, bytes)


def test_a_download_that_trickles_is_broken_and_keeps_what_came() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n"
    with RawServer(lambda _: [head, b"x" * 70_000, *slowly(b"x" * 9000, 0.1)]) as server:
        kit, out = Kit([server.webhook]), io.BytesIO()
        kit.portal.timeouts = QUICK
        with pytest.raises(Transient) as caught:
            BitrixSource(kit.portal).download("/disk/file.bin", out, limit=10**6)
    assert caught.value.code == "TIMEOUT"
    assert out.tell() >= 65536


def test_a_call_in_progress_ends_soon_after_an_interrupt() -> None:
    ended: list[BaseException] = []
    with RawServer(lambda _: [HEAD + b"\r\n", *slowly(b" " * 9000, 0.1)]) as server:
        kit = Kit([server.webhook])
        kit.portal.timeouts = Timeouts()

        def call() -> None:
            try:
                kit.portal.call("user.get", {})
            except BaseException as error:  # noqa: BLE001
                ended.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        thread.join(0.5)
        assert thread.is_alive()
        kit.portal.interrupt.request()
        thread.join(60)
        assert not thread.is_alive()
    assert isinstance(ended[0], KeyboardInterrupt)


def test_a_pause_ends_at_once_after_an_interrupt() -> None:
    interrupt = Interrupt()
    threading.Timer(0.2, interrupt.request).start()
    with pytest.raises(KeyboardInterrupt):
        interrupt.sleep(100_000)


# ---------------------------------------------------------------- pauses

ODD = ["1e8", "1e18", '"1e18"', "1e308", "-5", '"nan"', '"inf"', '"-inf"', '"soon"', "[1]", "{}", "null", "true"]


@pytest.mark.parametrize("delay", ODD)
@pytest.mark.parametrize("code", ["OPERATION_TIME_LIMIT", "QUERY_LIMIT_EXCEEDED"])
def test_a_pause_that_the_portal_asks_for_is_finite_and_no_longer_than_its_window(code: str, delay: str) -> None:
    body = f'{{"error":"{code}","retry_after":{delay}}}'.encode()
    with Scripted(Response(body, 429)) as server:
        kit = Kit([server.webhook], per_second=2.0, operating_s=480.0)
        with pytest.raises(Limited) as caught:
            kit.portal.call("user.get", {})
    assert 0 <= caught.value.wait_s <= LONGEST_REST_S


@pytest.mark.parametrize("value", ODD)
def test_times_that_no_clock_shows_cost_no_pause(value: str) -> None:
    spent = f'"operating":480,"operating_reset_at":{value},"start":{value},"finish":{value},"duration":{value}'
    with Scripted(Response(f'{{"result":[],"time":{{{spent}}}}}'.encode())) as server:
        kit = Kit([server.webhook], per_second=2.0, operating_s=480.0)
        kit.portal.call("user.get", {})
        try:
            kit.portal.call("user.get", {})
        except Limited as limit:
            assert 0 <= limit.wait_s <= LONGEST_REST_S  # noqa: PT017


def test_a_quota_in_the_store_that_somebody_spoilt_is_bounded() -> None:
    spoilt = Quota(
        at=100.0, paused_until=float("nan"), rests={"a": float("inf"), "b": float("nan"), "c": -5.0}
    ).bounded()
    assert spoilt.pause(100.0) == 0
    assert {key: until - 100.0 for key, until in spoilt.rests.items()} == {"a": LONGEST_REST_S, "b": 0.0, "c": 0.0}


# ---------------------------------------------------------------- totals


@pytest.mark.parametrize("total", ["1e9", "1000000000000000", "1" + "0" * 30, '"many"', "-7", "[]", "1.5"])
def test_a_total_costs_nothing_whatever_it_is(total: str) -> None:
    rows = json.dumps([{"ID": str(number)} for number in range(1, 51)])
    more = json.dumps([{"ID": str(number)} for number in range(51, 101)])
    parts = f'"result":{{"c0":{more},"c1":[]}},"result_total":{{"c0":{total}}},"result_next":{{"c0":100,"c1":150}}'
    answers = [f'{{"result":{rows},"total":{total},"next":50}}', f'{{"result":{{{parts}}},"total":{total}}}']
    if not isinstance(json.loads(total), int | float) or json.loads(total) < 50 or json.loads(total) >= 1 << 31:
        answers[1] = f'{{"result":{more},"total":{total}}}'
    with Scripted(*(Response(one.encode()) for one in answers)) as server:
        source = BitrixSource(Kit([server.webhook]).portal)
        reading = Listing("sonet_group.get", Offset())
        tracemalloc.start()
        try:
            first = source.page(reading, {})
            second = source.page(reading, first.next[0])
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert len(first.rows) == len(second.rows) == 50
    assert peak < 5_000_000


def test_pages_after_an_empty_page_are_not_asked_for() -> None:
    rows = json.dumps([{"ID": str(number)} for number in range(1, 51)])
    first = f'{{"result":{rows},"total":1000000000,"next":50}}'
    empty = '{"result":{"result":{"c0":[]},"result_total":{"c0":1000000000},"result_next":{"c0":100}}}'
    with Scripted(Response(first.encode()), Response(empty.encode())) as server:
        source = BitrixSource(Kit([server.webhook]).portal)
        reading = Listing("sonet_group.get", Offset())
        page = source.page(reading, source.page(reading, {}).next[0])
    assert page.next == []
