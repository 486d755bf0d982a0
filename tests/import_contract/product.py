"""The same client by means of the product: it calls the product's target and returns its results."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from hashlib import sha256

import msgspec
from tests.bitrix.support import Kit
from tests.import_contract.client import ENTITY_OF, JSON, Client
from tests.import_contract.servers import Server

from b24migrate.model.records import Item, Outcome, canonical
from b24migrate.ports import FieldOutcome, TargetRecord
from b24migrate.targets.module import ImportTarget


class Product(Client):
    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self.target = ImportTarget(Kit([server.webhook], name="target").portal)

    def info(self) -> JSON:
        answer = self.target.info()
        facts = {"contract": answer.contract, "server": answer.server, "timezone": answer.timezone}
        return {**facts, "entities": list(answer.entities), "limits": answer.limits._asdict()}

    def batch(self, stream: str, *items: JSON) -> list[JSON]:
        sent = [Item(one["key"], one["digest"], one["fields"], canonical(one["fields"])) for one in items]
        return [answer_of(one) for one in self.target.send(ENTITY_OF[stream], stream, sent, run="r1")]

    def declare(self, stream: str, fields: Sequence[JSON], smart: str | None = None) -> list[JSON]:
        outcomes = self.target.fields(ENTITY_OF[stream], stream, list(fields), type_id=smart or "")
        return [field_of(one) for one in outcomes]

    def listed(self, stream: str) -> JSON:
        records, cursor, count = self.target.listing(ENTITY_OF[stream], stream, "")
        return {"items": [record_of(one) for one in records], "cursor": cursor, "count": count}

    def picked(self, stream: str, *keys: str) -> list[JSON]:
        return [record_of(one) for one in self.target.read(ENTITY_OF[stream], stream, keys).values()]

    def matched(self, *emails: str) -> dict[str, str]:
        return self.target.match_users(emails)

    def deletions(self, stream: str, keys: Sequence[str], *, dry_run: bool = False) -> list[JSON]:
        outcomes = self.target.delete(ENTITY_OF[stream], stream, keys, dry_run=dry_run)
        return [{"key": one.key, "status": one.status, "reason": one.reason or None} for one in outcomes]

    def upload(self, key: str, data: bytes, name: str = "a.txt") -> str:
        file_id = self.target.put_file(key, name, len(data), sha256(data).hexdigest(), io.BytesIO(data))
        assert file_id is not None
        return file_id

    def reset(self, **settings: object) -> None:
        super().reset(**settings)
        self.target = ImportTarget(Kit([self.server.webhook], name="target").portal)


def answer_of(outcome: Outcome) -> JSON:
    """The field is named before the colon of what is told to people."""
    named = re.match(r"(\w+): ", outcome.error)
    about = {"code": outcome.error_code, "message": outcome.error, "retry": outcome.retry}
    error = {**about, "field": named and named[1]} if outcome.error_code else None
    return {
        "key": outcome.key,
        "status": outcome.status,
        "id": outcome.target_id,
        "ignored": list(outcome.ignored),
        "error": error,
        **({"options": dict(outcome.options)} if outcome.options else {}),
    }


def field_of(outcome: FieldOutcome) -> JSON:
    failed = outcome.status == "failed"
    return {
        "code": outcome.code,
        "target": None if failed else outcome.target,
        "status": outcome.status,
        "options": dict(outcome.options),
        "error": {"code": outcome.error_code, "message": outcome.error} if failed else None,
    }


def record_of(record: TargetRecord) -> JSON:
    fields = msgspec.to_builtins(dict(record.fields))
    return {"key": record.key, "id": record.target_id, "digest": record.digest, "fields": fields}
