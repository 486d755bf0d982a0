"""A client of the import contract without the product, for the tests here."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import urllib3
from tests.import_contract.servers import REQUISITES, SALES, Server

ENTITY_OF = {
    "departments": "users",
    "users": "users",
    "groups": "groups",
    "group_members": "groups",
    "chats": "chats",
    "chat_messages": "chats",
    "feed_posts": "feed",
    "feed_comments": "feed",
    "tasks": "tasks",
    "task_checklists": "tasks",
    "task_comments": "tasks",
    "workflow_templates": "workflows",
    "crm_types": "crm",
    "crm_categories": "crm",
    "crm_stages": "crm",
    "crm_companies": "crm",
    "crm_contacts": "crm",
    "crm_deals": "crm",
    "crm_spitems": "crm",
    **dict.fromkeys(("crm_currencies", "crm_measures", "crm_vats", "crm_price_types", "crm_catalog_sections"), "crm"),
    **dict.fromkeys(("crm_product_props", "crm_products", "crm_prices"), "crm"),
    **dict.fromkeys((*REQUISITES, *SALES), "crm"),
    **dict.fromkeys(("crm_calls", "crm_activities", "crm_comments", "crm_notes", "crm_logs"), "crm"),
}
NOON = "2024-03-01T09:00:00Z"
JSON = dict[str, Any]
HTTP = urllib3.PoolManager(retries=False, timeout=120.0)


def digest_of(fields: object) -> str:
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def item(key: str, **fields: object) -> JSON:
    return {"key": key, "digest": digest_of(fields), "fields": fields}


class Refused(Exception):
    """The whole call was."""

    def __init__(self, code: str, status: int) -> None:
        super().__init__(code)
        self.code, self.status = code, status


class Unanswered(Exception):
    """Somebody spoke, but it was not the box."""


class Client:
    """Every body is one that the test wrote, every answer as it came."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def call(self, method: str, /, **body: object) -> Any:
        return self.post(method, json.dumps(body, ensure_ascii=False).encode())

    def post(self, method: str, body: bytes) -> Any:
        """The result of a call."""
        answer = HTTP.request(
            "POST", self.server.webhook + method, body=body, headers={"Content-Type": "application/json"}
        )
        if "json" not in answer.headers["Content-Type"]:
            raise Unanswered(answer.status)
        data = answer.json()
        if "error" in data:
            raise Refused(data["error"], answer.status)
        assert answer.status == 200
        return data["result"]

    # ------------------------------------------------------------ what every client does

    def info(self) -> JSON:
        return dict(self.call("import.info"))

    def batch(self, stream: str, *items: JSON) -> list[JSON]:
        return self.dry_or_wet(stream, items, dry_run=False)

    def declare(self, stream: str, fields: Sequence[JSON], smart: str | None = None) -> list[JSON]:
        result = self.call(f"import.{ENTITY_OF[stream]}.fields", stream=stream, type=smart, fields=list(fields))
        return list(result["fields"])

    def listed(self, stream: str) -> JSON:
        return self.page(stream, after="", limit=500, keys=None)

    def picked(self, stream: str, *keys: str) -> list[JSON]:
        return list(self.page(stream, keys=list(keys))["items"])

    def matched(self, *emails: str) -> dict[str, str]:
        """By e-mail in small letters."""
        items = self.call("import.users.match", emails=list(emails))["items"]
        return {entry["email"].lower(): entry["id"] for entry in items}

    def deletions(self, stream: str, keys: Sequence[str], *, dry_run: bool = False) -> list[JSON]:
        body = {"stream": stream, "keys": list(keys), "dry_run": dry_run}
        return list(self.call(f"import.{ENTITY_OF[stream]}.delete", **body)["items"])

    def upload(self, key: str, data: bytes, name: str = "a.txt") -> str:
        """The id of a file that is sent at once."""
        about = {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        body = {"key": key, **about, "offset": 0, "content": b64encode(data).decode()}
        return str(self.call("import.files.put", **body)["id"])

    # ------------------------------------------------------------ what only a client does that has this in mind

    def dry_or_wet(self, stream: str, items: Sequence[JSON], *, dry_run: bool) -> list[JSON]:
        method = f"import.{ENTITY_OF[stream]}.batch"
        answers: list[JSON] = self.call(method, stream=stream, run="r1", dry_run=dry_run, items=list(items))["items"]
        return answers

    def rehearse(self, stream: str, *items: JSON) -> list[JSON]:
        return self.dry_or_wet(stream, items, dry_run=True)

    def page(self, stream: str, **body: object) -> JSON:
        return dict(self.call(f"import.{ENTITY_OF[stream]}.list", stream=stream, **body))

    def refused(self, method: str, /, **body: object) -> None:
        """The whole call is malformed, and nothing happened."""
        self._stopped("ERROR_ARGUMENT", 400, method, body)

    def unknown(self, method: str, /, **body: object) -> None:
        """The box does not have the method."""
        self._stopped("ERROR_METHOD_NOT_FOUND", 404, method, body)

    def _stopped(self, code: str, status: int, method: str, body: JSON) -> None:
        before = self.snapshot()
        with pytest.raises(Refused) as caught:
            self.call(method, **body)
        assert (caught.value.code, caught.value.status) == (code, status)
        assert self.snapshot() == before

    # ------------------------------------------------------------ in fewer words

    def send(self, stream: str, key: str, **fields: object) -> JSON:
        (answer,) = self.batch(stream, item(key, **fields))
        return answer

    def make(self, stream: str, key: str, **fields: object) -> str:
        """The new id."""
        answer = self.send(stream, key, **fields)
        assert answer["status"] == "created", answer
        assert isinstance(answer["id"], str)
        return answer["id"]

    def fault(self, stream: str, key: str, **fields: object) -> tuple[str, str | None]:
        """The code and the field that an item is refused with; nothing of it may stay."""
        before = self.snapshot()
        answer = self.send(stream, key, **fields)
        assert answer["status"] == "failed", answer
        assert answer["id"] is None
        assert self.snapshot() == before
        return answer["error"]["code"], answer["error"]["field"]

    def delete(self, stream: str, *keys: str, dry_run: bool = False) -> list[str]:
        return [entry["status"] for entry in self.deletions(stream, keys, dry_run=dry_run)]

    def user(self, number: int = 2) -> str:
        return self.make("users", f"source:users:{number}", NAME="Anna", EMAIL=f"u{number}@example.org")

    def group(self, number: int = 12) -> str:
        return self.make("groups", f"source:groups:{number}", NAME="Sales", OWNER_ID="1")

    def chat(self, number: int = 5) -> str:
        return self.make("chats", f"source:chat:{number}", type="chat", name="Talk")

    def task(self, number: int = 7) -> str:
        return self.make("tasks", f"source:tasks:{number}", title="Do it", createdBy="1", responsibleId="1")

    def file(self, number: int = 9) -> str:
        return self.upload(f"source:file:disk:{number}", b"")

    def smart_type(self, title: str = "Contracts") -> str:
        return self.make("crm_types", f"source:crm_types:{title}", title=title, entityTypeId="190")

    # ------------------------------------------------------------ behind the server's back

    def reset(self, **settings: Any) -> None:
        self.server.reset(**settings)

    def rows(self, stream: str) -> Mapping[str, Mapping[str, Any]]:
        return self.server.rows(stream)

    def snapshot(self) -> Any:
        return self.server.snapshot()
