"""The box through the import contract: every write may be repeated, and every answer is checked."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec

from b24migrate.bitrix.client import Portal
from b24migrate.messages import DEFAULT, Message, say, words
from b24migrate.model import answers
from b24migrate.model.errors import GateUnmet, Permanent, Transient
from b24migrate.model.fidelity import Keeping, Rule
from b24migrate.model.records import Args, Item, Json, Outcome
from b24migrate.model.streams import CustomFields
from b24migrate.model.values import is_odd_id
from b24migrate.ports import Deleted, FieldOutcome, TargetInfo, TargetLimits, TargetRecord, Tried
from b24migrate.targets import ask, count_fitting, existing_fields

_STATUSES = frozenset({"created", "unchanged", "updated", "failed"})
_FIELD_STATUSES = frozenset({"created", "exists", "failed"})
_DELETIONS = frozenset({"deleted", "absent", "kept"})
_RESERVED = frozenset({"start", "state", "token", "auth", "method"})  # the box takes these keys for itself
_DEPEND = "depend"  # the contract's reason for a record that is kept although it is unchanged
_AT_ONCE = 500  # most keys, e-mails or listed items in a call
_FRAME = 1024  # bytes of a body that are not items
_FRAME_OF_ITEM = 64  # and of an item that are neither key nor digest nor fields
_MOST_STALLS = 3
# Mostly numbers. A currency is known by its code, an address by the record and its kind.
_ID = re.compile(r"[A-Za-z0-9][\w:.-]{0,99}", re.ASCII)
_NOTHING = frozenset({"null", "none", "false", "true", "array", "undefined"})  # as languages spell what is no text
_UNKNOWN = "ERROR_METHOD_NOT_FOUND"
_UNSERVED = frozenset({_UNKNOWN, "ACCESS_DENIED"})


class ImportTarget:
    """The port `Target`. `portal` has the target's webhook, and `import.info` as its probe."""

    serial: frozenset[str] = frozenset()
    unchangeable: frozenset[str] = frozenset()
    sees_dependants = True

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._info: TargetInfo | None = None

    def info(self) -> TargetInfo:
        result = self._call("import.info", {})
        try:
            limits = TargetLimits(*(int(result["limits"][name]) for name in TargetLimits._fields))
            entities = tuple(map(str, result["entities"]))
            streams = tuple(map(str, result.get("streams") or ()))  # servers of version 1 have no such key
            found = TargetInfo(
                int(result["contract"]),
                str(result["server"]),
                str(result["timezone"]),
                entities,
                limits,
                streams=streams,
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise _strange("import.info") from None
        if min(limits) <= 0:
            raise _strange("import.info")
        self._info = found
        return found

    def streams(self) -> frozenset[str]:
        return frozenset((self._info or self.info()).streams)

    def send(self, wire_entity: str, stream: str, items: Sequence[Item], *, run: str) -> list[Outcome]:
        body = {"stream": stream, "run": run, "dry_run": False, "items": list(map(_encode_item, items))}
        method = f"import.{wire_entity}.batch"
        outcomes = {outcome.key: outcome for outcome in map(_outcome, _entries(self._call(method, body), method))}
        if outcomes.keys() != {item.key for item in items}:
            raise _strange(method)
        return [outcomes[item.key] for item in items]

    def fits(self, items: Sequence[Item]) -> int:
        limits = self._limits
        sizes = (len(item.key) + len(item.digest) + len(item.wire) + _FRAME_OF_ITEM for item in items[: limits.items])
        return count_fitting(sizes, limits.body_bytes, _FRAME)

    def fields(self, wire_entity: str, stream: str, fields: Sequence[Args], *, type_id: str = "") -> list[FieldOutcome]:
        method = f"import.{wire_entity}.fields"
        body = {"stream": stream, "type": type_id or None, "fields": list(fields)}
        outcomes = [_field_outcome(entry) for entry in _entries(self._call(method, body), method, "fields")]
        if {outcome.code for outcome in outcomes} != {field["code"] for field in fields}:
            raise _strange(method)
        return outcomes

    def existing_fields(self, custom: CustomFields) -> dict[str, str] | None:
        return existing_fields(self._portal, custom)

    def ask(self, method: str) -> Json:
        return ask(self._portal, method)

    def match_users(self, emails: Sequence[str]) -> dict[str, str]:
        method = "import.users.match"
        known: dict[str, str] = {}
        for some in _chunks(emails):
            for entry in _entries(self._call(method, {"emails": list(some)}), method):
                known[_text(entry, "email").lower()] = _id(entry)
        return known

    def read(self, wire_entity: str, stream: str, keys: Sequence[str]) -> dict[str, TargetRecord]:
        method = f"import.{wire_entity}.list"
        found: dict[str, TargetRecord] = {}
        for some in _chunks(keys):
            body = {"stream": stream, "after": "", "limit": _AT_ONCE, "keys": list(some)}
            found.update((record.key, record) for record in map(_record, _entries(self._call(method, body), method)))
        return found

    def listing(self, wire_entity: str, stream: str, after: str) -> tuple[list[TargetRecord], str | None, int]:
        method = f"import.{wire_entity}.list"
        result = self._call(method, {"stream": stream, "after": after, "limit": _AT_ONCE, "keys": None})
        if "cursor" not in result:
            raise _strange(method)
        cursor, count = _text_or_none(result, "cursor"), _whole(result, "count")
        return [_record(entry) for entry in _entries(result, method)], cursor, count

    def file_bytes(self) -> int:
        return self._limits.file_bytes

    def put_file(
        self,
        key: str,
        name: str,
        size: int,
        sha256: str,
        content: BinaryIO,
        *,
        enough: Callable[[], bool] = lambda: False,
    ) -> str | None:
        """Requests the offset of an earlier upload first. A stall means that the target keeps another offset than it
        returns."""
        received, file_id = self._put({"key": key, "offset": -1})
        if file_id is None and size > self._limits.file_bytes:
            text = say("file.target_limit", size=size, limit=self._limits.file_bytes)
            raise Permanent(text, code="TOO_LARGE")
        stalls = 0
        while file_id is None:
            offset = received if received <= size else 0
            content.seek(offset)
            chunk = base64.b64encode(content.read(self._chunk_bytes)).decode()
            about = {"key": key, "name": name, "size": size, "sha256": sha256}
            received, file_id = self._put({**about, "offset": offset, "content": chunk})
            stalls = 0 if received > offset else stalls + 1
            if file_id is None and received > offset and enough():
                return None
            if file_id is None and (stalls > _MOST_STALLS or received == offset == size):
                raise Transient(say("target.file_stalled", key=key, offset=offset), code="UPLOAD_STALLED")
        # The answer does not name the file: it may be about another. Of a picture that the box made smaller, it is not.
        if received != size and self._put({"key": key, "offset": -1})[1] != file_id:
            raise _strange("received")
        return file_id

    def alive(self) -> bool:
        return self._portal.alive()

    def delete(self, wire_entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
        method = f"import.{wire_entity}.delete"
        found: dict[str, Deleted] = {}
        for some in _chunks(keys):
            body = {"stream": stream, "keys": list(some), "dry_run": dry_run}
            found.update((one.key, one) for one in map(_deletion, _entries(self._call(method, body), method)))
        if found.keys() != set(keys):
            raise _strange(method)
        return [found[key] for key in keys]

    def finalize(self, after: str, *, run: str) -> str | None:
        """Optional in the contract: a target without it has nothing to do. Our module does one part per call and
        returns a `cursor`, which is sent back as `after`. Other targets get no `after`."""
        body = {"run": run, **({"after": after} if after else {})}
        try:
            result = _decode(self._portal.call("import.finalize", body).result)
        except Permanent as error:
            if error.code != _UNKNOWN:
                raise self._unserved("import.finalize", error) if error.code in _UNSERVED else error from None
            return None
        cursor = result.get("cursor") if isinstance(result, dict) else None
        return None if cursor is None else str(cursor)

    def fidelity(self) -> list[Rule]:
        """The contract keeps everything; a module on a real box names what that box cannot keep: under `rules`, as the
        contract has it, or under `items`, as older versions of our own do."""
        try:
            result = _decode(self._portal.call("import.fidelity", {}).result)
        except Permanent as error:
            if error.code != _UNKNOWN:
                raise self._unserved("import.fidelity", error) if error.code in _UNSERVED else error from None
            return []
        if isinstance(result, dict) and "rules" in result:
            return list(dict.fromkeys(map(_contract_rule, _objects(result, "import.fidelity", "rules"))))
        return [_rule(entry) for entry in _entries(result, "import.fidelity")]

    def selftest(self) -> list[Tried] | None:
        try:
            result = _decode(self._portal.call("import.selftest", {}).result)
        except Permanent as error:
            if error.code != _UNKNOWN:
                raise self._unserved("import.selftest", error) if error.code in _UNSERVED else error from None
            return None
        return list(map(_selftest_result, _objects(result, "import.selftest", "checks")))

    @property
    def _limits(self) -> TargetLimits:
        return (self._info or self.info()).limits

    @property
    def _chunk_bytes(self) -> int:
        """Counted before base64, which makes four bytes of three."""
        return max(1, min(self._limits.chunk_bytes, (self._limits.body_bytes - 2 * _FRAME) // 4 * 3))

    def _put(self, body: Args) -> tuple[int, str | None]:
        result = self._call("import.files.put", body)
        file_id = None if result.get("id") in (None, "") else _id(result)
        if file_id == "0":
            raise _strange("id")
        return _whole(result, "received"), file_id

    def _call(self, method: str, body: Args) -> Mapping[str, Any]:
        """One POST of its own: never inside a batch, never with a key that the box would take for itself."""
        assert not _RESERVED & body.keys()  # noqa: S101 - a bug of this file, and a silent loss on a real box
        try:
            result = _decode(self._portal.call(method, body).result)
        except Permanent as error:
            if error.code not in _UNSERVED:
                raise
            raise self._unserved(method, error) from None
        if not isinstance(result, dict):
            raise _strange(method)
        return result

    @staticmethod
    def _unserved(method: str, error: Permanent) -> GateUnmet:
        """The record is not the cause if the box lacks the method or does not allow it at all."""
        entity = method.split(".")[1]
        if error.code != _UNKNOWN:
            return GateUnmet(
                f"auth.target.import.{entity}",
                say("target.refuses", method=method, code=error.code),
                code=error.code,
                hint=say("target.refuses_fix"),
            )
        return GateUnmet(
            f"auth.target.import.{entity}",
            say("target.unserved", method=method, code=error.code),
            code=error.code,
            hint=say("target.install"),
        )


def _encode_item(item: Item) -> Args:
    return {"key": item.key, "digest": item.digest, "fields": msgspec.Raw(item.wire)}


def _decode(raw: object) -> Any:
    try:
        return msgspec.json.decode(raw) if isinstance(raw, msgspec.Raw) else None
    except (msgspec.DecodeError, RecursionError):
        raise _strange("a call") from None


def _entries(result: object, method: str, name: str = "items") -> list[Mapping[str, Any]]:
    """Raises if an entry is repeated: the contract forbids that, except for rules."""
    entries = _objects(result, method, name)
    keys = [_entry_key(one) for one in entries]
    if any(isinstance(key, dict | list) for key in keys) or len(set(keys)) != len(keys):
        raise _strange(method)
    return entries


def _objects(result: object, method: str, name: str = "items") -> list[Mapping[str, Any]]:
    try:
        entries = answers.open_entry(result, name, method)
    except Permanent:
        raise _strange(method) from None
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise _strange(method)
    return entries


def _entry_key(entry: Mapping[str, Any]) -> object:
    return next((entry[name] for name in ("key", "code", "email") if name in entry), None)


def _outcome(entry: Mapping[str, Any]) -> Outcome:
    status = _text(entry, "status")
    if status not in _STATUSES:
        raise _strange("items")
    key = _text(entry, "key")
    if status != "failed":
        return Outcome(key, status, _id(entry), ignored=_ignored_fields(entry), options=_options(entry))
    code, text, retry = _error(entry)
    return Outcome(key, status, None, code, text, retry)


def _ignored_fields(entry: Mapping[str, Any]) -> tuple[str, ...]:
    named = entry.get("ignored")
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _field_outcome(entry: Mapping[str, Any]) -> FieldOutcome:
    code, status = _text(entry, "code"), _text(entry, "status")
    if status not in _FIELD_STATUSES:
        raise _strange("fields")
    options = _options(entry)
    error_code, text, _ = _error(entry) if status == "failed" else ("", "", False)
    return FieldOutcome(code, _text_or_none(entry, "target") or code, status, options, error_code, text)


def _options(entry: Mapping[str, Any]) -> dict[str, str]:
    """PHP writes an empty map as a list."""
    raw = entry.get("options")
    return {str(source): _text(raw, source) for source in raw} if isinstance(raw, dict) else {}


def _error(entry: Mapping[str, Any]) -> tuple[str, str, bool]:
    error: Json = entry.get("error")
    if not isinstance(error, dict):
        return "INTERNAL", say("target.no_reason"), True
    place = f"{error['field']}: " if error.get("field") else ""
    return str(error.get("code") or "INTERNAL"), f"{place}{error.get('message') or ''}", error.get("retry") is True


def _deletion(entry: Mapping[str, Any]) -> Deleted:
    status = _text(entry, "status")
    if status not in _DELETIONS:
        raise _strange("deleted")
    reason = str(entry.get("reason") or "")
    return Deleted(_text(entry, "key"), status, reason, status == "kept" and _DEPEND in reason)


def _rule(entry: Mapping[str, Any]) -> Rule:
    """`key` is the stream and the field, because it identifies entries."""
    stream, _, name = _text(entry, "key").partition(":")
    return Rule(stream, name, Keeping.LOST, _reason(entry))


def _contract_rule(entry: Mapping[str, Any]) -> Rule:
    keeping = _text(entry, "keeping")
    if keeping not in {one.value for one in Keeping}:
        raise _strange("import.fidelity")
    return Rule(_text(entry, "stream"), str(entry.get("field") or ""), Keeping(keeping), _reason(entry))


def _selftest_result(entry: Mapping[str, Any]) -> Tried:
    ok = entry.get("ok")
    if not isinstance(ok, bool):
        raise _strange("import.selftest")
    detail, key, values = str(entry.get("detail") or ""), entry.get("key"), entry.get("values")
    if isinstance(key, str) and isinstance(values, dict):
        detail = Message.of(detail, f"selftest.{key}", values)
    return Tried(_text(entry, "name"), ok, detail)


def _reason(entry: Mapping[str, Any]) -> str:
    """The contract has an English sentence here. Those of our own module are messages; others stay as they are."""
    text = _text(entry, "reason")
    known = {sentence: name for name, sentence in words(DEFAULT).topic("reason").items() if name.startswith("module_")}
    return say(f"reason.{known[text]}") if text in known else text


def _record(entry: Mapping[str, Any]) -> TargetRecord:
    fields = entry.get("fields")
    if fields != [] and not isinstance(fields, dict):  # PHP writes an empty map as a list
        raise _strange("fields")
    values = fields or {}
    return TargetRecord(_text(entry, "key"), _id(entry), str(entry.get("digest") or ""), values)


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if value == "" or not isinstance(value, str | int) or isinstance(value, bool):
        raise _strange(name)
    return str(value)


def _id(entry: Mapping[str, Any]) -> str:
    """The ID of a record on the target. It is stored and sent in references from then on, so an invalid value must not
    become one. Only the first pipeline of deals has the ID 0."""
    found = _text(entry, "id")
    if not _ID.fullmatch(found) or is_odd_id(found) or found.lower() in _NOTHING:
        raise _strange("id")
    return found


def _text_or_none(entry: Mapping[str, Any], name: str) -> str | None:
    return None if entry.get(name) in (None, "") else _text(entry, name)


def _whole(entry: Mapping[str, Any], name: str) -> int:
    """PHP's booleans are no numbers, although Python takes them for some."""
    value = entry.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _strange(name)
    return value


def _strange(what: str) -> Transient:
    error = Transient(say("target.odd_answer", what=what), code="STRANGE_ANSWER")
    error.own = True  # it did answer
    return error


def _chunks(values: Sequence[str]) -> Iterable[Sequence[str]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))
