"""The ingestion endpoint of Application Insights, on loopback."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "11111111-2222-3333-4444-555555555555"


class Ingestion(ThreadingHTTPServer):
    """`arrived`: name, labels and value of each metric. With `mute` set, no answer comes before `spoken` is."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.arrived: list[tuple[str, dict[str, str], float]] = []
        self.mute = False
        self.spoken = threading.Event()

    @property
    def connection(self) -> str:
        return f"InstrumentationKey={KEY};IngestionEndpoint=http://127.0.0.1:{self.server_port}/"


class Answer(BaseHTTPRequestHandler):
    server: Ingestion

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        if self.server.mute:
            self.server.spoken.wait()
            return
        items = json.loads(body)
        for item in items:
            data = item["data"]["baseData"]
            metric = data["metrics"][0]
            self.server.arrived.append((metric["name"], data["properties"], metric["value"]))
        answer = json.dumps({"itemsReceived": len(items), "itemsAccepted": len(items), "errors": []}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def open_ingestion() -> Iterator[Ingestion]:
    with Ingestion() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.spoken.set()
            server.shutdown()
            thread.join()
