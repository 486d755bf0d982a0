"""A table service with scripted answers, for answers that Azurite never gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple

from b24migrate.stores.azure.account import Account, Address


class Answer(NamedTuple):
    status: int
    kind: str
    body: str
    headers: tuple[tuple[str, str], ...] = ()


def rows(*keys: str, more: bool = False) -> Answer:
    """The answer to a question, or one piece of it."""
    left = (("x-ms-continuation-NextPartitionKey", "p"), ("x-ms-continuation-NextRowKey", "r")) if more else ()
    found = [{"PartitionKey": "p", "RowKey": one} for one in keys]
    return Answer(200, "application/json", json.dumps({"value": found}), left)


def parts(*answers: str) -> Answer:
    """The answer to a transaction, from what it says of its operations."""
    each = "".join(
        f"--changesetresponse_b\nContent-Type: application/http\nContent-Transfer-Encoding: binary\n\n{one}\n"
        for one in answers
    )
    around = f"--batchresponse_a\nContent-Type: multipart/mixed; boundary=changesetresponse_b\n\n{each}"
    body = f"{around}--changesetresponse_b--\n--batchresponse_a--\n".replace("\n", "\r\n")
    return Answer(202, "multipart/mixed; boundary=batchresponse_a", body)


@contextmanager
def with_these(*answers: Answer) -> Iterator[Account]:
    """An account whose tables answer so, one after the other, and must be asked for all of them."""
    with served(*answers) as port:
        environ = {**os.environ, "AZURITE_TABLE_PORT": str(port)}
        with closing(Account(Address.parse("azure://azurite"), environ)) as account:
            yield account


@contextmanager
def served(*answers: Answer) -> Iterator[int]:
    """The port where they are."""
    left = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            answer = left.pop(0)
            content = answer.body.encode()
            self.send_response_only(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(content)))
            for name, value in answer.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815 (the library's name)

        def log_message(self, *_: object) -> None: ...

    with listening(Handler) as port:
        yield port
    assert left == []


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """The port where it answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
