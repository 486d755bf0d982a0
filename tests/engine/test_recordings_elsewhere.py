"""Where the source says that a recording is: the program asks only the portal, and hosts that may hold its files."""

from __future__ import annotations

from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.engine.test_odd_values import altering
from tests.engine.world import SMALL, world

Json = Any
PLAN = replace(
    SMALL, chats=0, messages=0, companies=2, contacts=2, deals=2, smart_types=0, calls=12, templates=0, posts=0
)
LINKS = {
    "http://169.254.169.254/latest/meta-data/": "INSECURE_LINK",
    "https://169.254.169.254/latest/meta-data/": "FOREIGN_LINK",
    "https://10.0.0.7/record.mp3": "FOREIGN_LINK",
    "https://[::ffff:a9fe:a9fe]/x": "FOREIGN_LINK",
    "https://metadata.google.internal/x": "FOREIGN_LINK",
    "https://recordings.evil.example/record.mp3": "FOREIGN_LINK",
    "//evil.example/record.mp3": "INSECURE_LINK",
    "http://[::1/x": "FOREIGN_LINK",
    "https://user:pass@evil.example/": "FOREIGN_LINK",
}


@pytest.fixture
def elsewhere() -> Any:
    """Another service of this machine, to which a redirect of the portal leads."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/secret", asked
    server.shutdown()
    server.server_close()


def test_a_recording_elsewhere_is_not_asked_for(tmp_path: Path, elsewhere: tuple[str, list[str]]) -> None:
    address, asked = elsewhere
    links = [*LINKS, address, "javascript:alert(1)"]

    def change(rows: Json) -> Json:
        for row in rows:
            row["RECORD_FILE_ID"] = None
            row["CALL_RECORD_URL"] = links[int(row["ID"]) % len(links)]
        return rows

    with world(tmp_path, PLAN) as made:
        made.settings["run"] = {
            "user_coverage": 0.5,
            "entities": ["users", "crm_structure", "crm_companies", "crm_contacts", "crm_deals", "crm_calls"],
        }
        made.settings["mapping"] = {"placeholder_user": "1"}
        altering(made, "voximplant.statistic.get", change)
        assert made.run().exit_code in (0, 5)
        calls = made.sql("SELECT RowKey FROM CrmCalls WHERE Status = 'IMPORT_OK'")
        assert len(calls) >= 12, "the calls arrive without their recordings"
        codes: Json = dict(made.sql("SELECT RowKey, LastErrorCode FROM Files"))
        for (number,) in calls:
            link = links[int(number) % len(links)]
            assert codes.get(f"call:{number}") == {**LINKS, address: "INSECURE_LINK"}.get(link), link
        assert asked == []
        assert not list(tmp_path.glob("b24migrate-bug-*"))
