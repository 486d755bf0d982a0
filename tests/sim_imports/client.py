"""A box and a client that speaks the contract to it, for the tests beside."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from b24sim.errors import RestError
from b24sim.imports import Imports, Limits

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
}
NOON = "2024-03-01T09:00:00Z"
JSON = dict[str, Any]


def digest_of(fields: object) -> str:
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def item(key: str, **fields: object) -> JSON:
    return {"key": key, "digest": digest_of(fields), "fields": fields}


class Client:
    def __init__(self, **settings: Any):
        self.box = Imports(now=lambda: datetime(2026, 11, 15, 10, tzinfo=UTC), **settings)

    def call(self, method: str, /, **body: object) -> Any:
        """The result, as it would come over the wire."""
        return json.loads(json.dumps(self.box.handle(method, json.loads(json.dumps(body)))))

    def batch(self, stream: str, *items: JSON, dry_run: bool = False) -> list[JSON]:
        method = f"import.{ENTITY_OF[stream]}.batch"
        items_back: list[JSON] = self.call(method, stream=stream, run="r1", dry_run=dry_run, items=list(items))["items"]
        return items_back

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

    def listed(self, stream: str, **body: object) -> JSON:
        result: JSON = self.call(f"import.{ENTITY_OF[stream]}.list", stream=stream, **body)
        return result

    def delete(self, stream: str, *keys: str, dry_run: bool = False) -> list[str]:
        body = {"stream": stream, "keys": list(keys), "dry_run": dry_run}
        return [entry["status"] for entry in self.call(f"import.{ENTITY_OF[stream]}.delete", **body)["items"]]

    def snapshot(self) -> JSON:
        """Everything the box holds."""
        return {stream: (self.box.rows(stream), self.box.dump(stream)) for stream in [*ENTITY_OF, "files"]}

    def user(self, number: int = 2) -> str:
        return self.make("users", f"source:users:{number}", NAME="Anna", EMAIL=f"u{number}@example.org")

    def group(self, number: int = 12) -> str:
        return self.make("groups", f"source:groups:{number}", NAME="Sales", OWNER_ID="1")

    def chat(self, number: int = 5) -> str:
        return self.make("chats", f"source:chat:{number}", type="chat", name="Talk")

    def task(self, number: int = 7) -> str:
        return self.make("tasks", f"source:tasks:{number}", title="Do it", createdBy="1", responsibleId="1")

    def file(self, number: int = 9) -> str:
        empty = hashlib.sha256(b"").hexdigest()
        body = {"name": "a.txt", "size": 0, "sha256": empty, "offset": 0, "content": ""}
        return str(self.call("import.files.put", key=f"source:file:disk:{number}", **body)["id"])

    def smart_type(self, title: str = "Contracts") -> str:
        return self.make("crm_types", f"source:crm_types:{title}", title=title, entityTypeId="180")

    def refused(self, method: str, /, **body: object) -> None:
        """The whole call is malformed, and nothing happened."""
        self._stopped("ERROR_ARGUMENT", 400, method, body)

    def unknown(self, method: str, /, **body: object) -> None:
        """The box has no such method."""
        self._stopped("ERROR_METHOD_NOT_FOUND", 404, method, body)

    def _stopped(self, code: str, status: int, method: str, body: JSON) -> None:
        before = self.snapshot()
        with pytest.raises(RestError) as caught:
            self.call(method, **body)
        assert (caught.value.code, caught.value.status) == (code, status)
        assert self.snapshot() == before


def small_limits() -> Limits:
    return Limits(items=3, body_bytes=1000, file_bytes=64, chunk_bytes=8)
