"""Dispatches the methods of the import contract."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock

from b24sim.errors import RestError
from b24sim.imports import arguments, furniture
from b24sim.imports.arguments import malformed
from b24sim.imports.batch import BatchTaker
from b24sim.imports.catalog import ANNOUNCED, ENTITIES, INNER, STREAMS
from b24sim.imports.custom_fields import CustomField, CustomFields
from b24sim.imports.deletion import delete_records
from b24sim.imports.field_wish import Wish
from b24sim.imports.files import FileTaker
from b24sim.imports.kinds import Fields
from b24sim.imports.limits import Limits
from b24sim.imports.listing import list_records, match_users
from b24sim.imports.store import Row, Store
from b24sim.imports.stream import Stream
from b24sim.imports.watch import Watch

Body = Mapping[str, object]
Result = dict[str, object]

CONTRACT = 1
SERVER = "b24sim/0.1"


class Imports:
    """The `import.*` methods of a box, version 1 of the contract. Any number of threads may call."""

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        timezone: str = "Europe/Moscow",
        entities: Sequence[str] = ENTITIES,
        streams: Sequence[str] | None = None,
        limits: Limits | None = None,
        existing_users: furniture.Furniture = furniture.ADMINISTRATOR,
        root_department: furniture.Furniture = furniture.COMPANY,
    ):
        self._now, self._timezone, self._entities = now, timezone, tuple(entities)
        # Of what is announced: the streams that this box takes. None is all of them, and none is a box of version 1.
        self.streams = tuple(one.name for one in ANNOUNCED) if streams is None else tuple(streams)
        self._unserved = {one.name for one in ANNOUNCED}.difference(self.streams)
        self._limits = limits or Limits()
        self._lock = RLock()
        self._store = Store((*STREAMS.values(), *INNER), root_department=next(iter(root_department)))
        self._custom, self._watch = CustomFields(), Watch()
        self._batches = BatchTaker(self._store, self._custom, self._watch, now)
        self._files = FileTaker(self._store, self._limits)
        self._verbs: dict[str, Callable[[Stream, Body], Result]] = {
            "fields": self._declare_fields,
            "batch": self._batch,
            "list": lambda stream, body: list_records(self._store, stream, body),
            "delete": self._delete,
        }
        self._furnish({"departments": root_department, "users": existing_users})
        self._furnish({"crm_categories": furniture.PIPELINES, "crm_stages": furniture.stages()})
        self._furnish(furniture.catalog())
        self._furnish({"crm_requisite_presets": furniture.PRESETS})

    def handle(self, method: str, body: Body, size: int | None = None) -> Result:
        """The `result` of a call, or RestError. `size` is the length of the body in bytes as it came."""
        with self._lock:
            answer = self._route(method)
            arguments.refuse_keys_of_the_box(body)
            if size is not None and size > self._limits.body_bytes:
                raise malformed(f"a body may hold at most {self._limits.body_bytes} bytes")
            return answer(body)

    # for tests and proofs

    @property
    def order_violations(self) -> int:
        """Messages that came after a later message of their chat."""
        return self._watch.order_violations

    @property
    def digest_mismatches(self) -> int:
        """Items whose digest is not that of their fields."""
        return self._watch.digest_mismatches

    def rows(self, stream: str) -> Mapping[str, Fields]:
        """Everything the box has, imported or not; `files` too."""
        with self._lock:
            return {target_id: dict(row.fields) for target_id, row in self._store.rows(stream).items()}

    def dump(self, stream: str) -> list[dict[str, object]]:
        """Every key, what it stands for, and how often it was answered `created` and `updated`."""
        with self._lock:
            return [
                {
                    "key": link.key,
                    "id": link.target_id,
                    "digest": link.digest,
                    "fields": dict(self._store.get(stream, link.target_id) or {}),
                    "created_count": link.created_count,
                    "updated_count": link.updated_count,
                    "linked": link.adopted,
                    "imported_at": link.imported_at,
                }
                for link in self._store.links(stream)
            ]

    def custom_fields(self, stream: str, type_id: str | None = None) -> Mapping[str, CustomField]:
        with self._lock:
            return dict(self._custom.of(stream, type_id))

    def fail_item(self, key_glob: str, code: str, retry: bool = False, times: int = 1) -> None:
        """The next `times` items whose key matches fail with this code."""
        with self._lock:
            self._watch.fail_item(key_glob, code, retry=retry, times=times)

    def edit(self, stream: str, target_id: str, fields: Fields) -> None:
        """A user changes a record on the box."""
        with self._lock:
            row = self._store.row(stream, target_id)
            self._store.put_row(stream, target_id, replace(row, fields={**row.fields, **fields}, edited=True))

    def remove(self, stream: str, target_id: str) -> None:
        """A user deletes a record on the box. The module still knows its key: it lists the record no more, counts it,
        and refuses an update of it."""
        with self._lock:
            self._store.row(stream, target_id)
            self._store.put_row(stream, target_id, None)

    # methods

    def _route(self, method: str) -> Callable[[Body], Result]:
        match method.split("."):
            case ["import", "info"]:
                return self._info
            case ["import", "files", "put"]:
                return lambda body: self._files.put(body, self._now())
            case ["import", "users", "match"] if "users" in self._entities:
                return lambda body: match_users(self._store, body)
            case ["import", entity, verb] if entity in self._entities and verb in self._verbs:
                return lambda body: self._verbs[verb](self._stream(entity, body), body)
        raise RestError("ERROR_METHOD_NOT_FOUND", "Method not found!", 404)

    def _info(self, _body: Body) -> Result:
        return {
            "contract": CONTRACT,
            "server": SERVER,
            "timezone": self._timezone,
            "entities": list(self._entities),
            **({"streams": list(self.streams)} if self.streams else {}),
            "limits": self._limits.body(),
        }

    def _stream(self, entity: str, body: Body) -> Stream:
        stream = STREAMS.get(arguments.text(body, "stream"))
        if stream is None or stream.entity != entity or stream.name in self._unserved:
            raise malformed(f"{entity} has no stream {body['stream']}")
        return stream

    def _declare_fields(self, stream: Stream, body: Body) -> Result:
        type_id = body.get("type")
        if type_id is not None and (stream.typed_by is None or not isinstance(type_id, str)):
            raise malformed("type must be the id of a smart process, for the stream of their items only")
        wishes = [Wish.read(spec) for spec in arguments.objects(body, "fields")]
        return {"fields": [self._custom.declare(stream, type_id, wish, self._store) for wish in wishes]}

    def _batch(self, stream: Stream, body: Body) -> Result:
        items, dry_run = arguments.objects(body, "items"), arguments.flag(body, "dry_run")
        if not isinstance(body.get("run", ""), str):
            raise malformed("run must be a string")
        if len(items) > self._limits.items:
            raise malformed(f"a call may carry at most {self._limits.items} items")
        for item in items:
            arguments.text(item, "key")
        return {"items": (self._batches.rehearse if dry_run else self._batches.take)(stream, list(items))}

    def _delete(self, stream: Stream, body: Body) -> Result:
        keys = arguments.texts(body, "keys")
        if not arguments.flag(body, "dry_run"):
            return {"items": delete_records(self._store, stream, keys)}
        with self._store.rehearsal():
            return {"items": delete_records(self._store, stream, keys)}

    def _furnish(self, records: Mapping[str, furniture.Furniture]) -> None:
        for stream, rows in records.items():
            for target_id, fields in rows.items():
                self._store.put_row(stream, target_id, Row(dict(fields), own=True))
