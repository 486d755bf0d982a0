"""Takes the items of `import.<entity>.batch`: one engine for every stream."""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import datetime

from b24sim.imports.custom_fields import CustomFields
from b24sim.imports.kinds import Fields, Inspection, ItemFault, Kind
from b24sim.imports.options import complete_options
from b24sim.imports.store import Link, Row, Store
from b24sim.imports.stream import Stream
from b24sim.imports.watch import Watch

Item = Mapping[str, object]
Answer = dict[str, object]


class BatchTaker:
    """Every item is judged completely before it is written, so one that fails leaves no trace."""

    def __init__(self, store: Store, custom: CustomFields, watch: Watch, now: Callable[[], datetime]):
        self._store, self._custom, self._watch, self._now = store, custom, watch, now

    def take(self, stream: Stream, items: list[Item]) -> list[Answer]:
        self._watch.next_call()
        return [self._answer(stream, item, self._watch) for item in items]

    def rehearse(self, stream: Stream, items: list[Item]) -> list[Answer]:
        """The answers that `take` would give, but without ids of records that do not exist."""
        unborn = {item["key"] for item in items if self._store.link(str(item["key"])) is None}
        nobody = Watch()
        with self._store.rehearsal():
            answers = [self._answer(stream, item, nobody) for item in items]
        there = [{**answer, "id": None} if answer["key"] in unborn else answer for answer in answers]
        return [self._without_imagined_options(stream, answer) for answer in there]

    def _without_imagined_options(self, stream: Stream, answer: Answer) -> Answer:
        options = answer.get("options")
        if not isinstance(options, dict):
            return answer
        return {**answer, "options": {one: to for one, to in options.items() if self._store.get(stream.options, to)}}

    def _answer(self, stream: Stream, item: Item, watch: Watch) -> Answer:
        key = str(item["key"])
        try:
            watch.scripted_failure(key)
            digest, fields = _digest(item), _fields(item)
            watch.digest(digest, fields)
            status, target_id, ignored = self._import(stream, key, digest, fields)
            options = complete_options(self._store, stream, target_id, fields) if stream.options else None
        except ItemFault as fault:
            if self._store.link(key) is None:
                watch.failed(stream.name, key, item.get("fields"), fault)
            return {"key": key, "status": "failed", "id": None, "ignored": [], "error": fault.body()}
        if status == "created":
            watch.created(stream.name, key, fields)
        told: Answer = {} if options is None else {"options": options}
        return {"key": key, "status": status, "id": target_id, "ignored": ignored, "error": None, **told}

    def _import(self, stream: Stream, key: str, digest: str, fields: Fields) -> tuple[str, str, list[str]]:
        link = self._store.link(key)
        if link is not None and link.stream != stream.name:
            raise ItemFault("VALIDATION", "key", f"{key} stands for a record of {link.stream}")
        kinds = self._kinds(stream, fields, link)
        ignored = [name for name in fields if name not in kinds]
        if link is not None and link.digest == digest:
            return "unchanged", link.target_id, ignored
        known = {
            name: value if isinstance(value, str) else deepcopy(value)
            for name, value in fields.items()
            if name in kinds and name not in stream.never_written
        } | dict(stream.in_key(key))
        if link is None:
            return "created", self._create(stream, key, digest, known, kinds), ignored
        if self._store.get(stream.name, link.target_id) is None:
            raise ItemFault("VALIDATION", None, f"somebody has deleted {stream.name} {link.target_id} on the box")
        self._update(stream, link, digest, known)
        return "updated", link.target_id, ignored

    def _create(self, stream: Stream, key: str, digest: str, fields: Fields, kinds: Mapping[str, Kind]) -> str:
        refers = self._inspect(stream, fields, kinds, None)
        found = stream.linked_to(fields, self._store)
        if found is None:
            target_id = self._store.new_id(stream.name)
            self._store.put_row(stream.name, target_id, Row(fields, refers))
        else:
            target_id = found
            self._fill_blanks(stream, target_id, fields)
        link = Link(key, stream.name, target_id, digest, found is not None, self._now())
        self._store.put_link(key, link)
        return target_id

    def _fill_blanks(self, stream: Stream, target_id: str, fields: Fields) -> None:
        """A linked record keeps its own values; only missing ones are added."""
        mine = self._store.row(stream.name, target_id).fields
        news = {name: value for name, value in fields.items() if value is not None and mine.get(name) is None}
        if news:
            self._set(stream, target_id, news)

    def _update(self, stream: Stream, link: Link, digest: str, fields: Fields) -> None:
        kept = stream.kept_when_linked if link.adopted else frozenset()
        self._set(stream, link.target_id, {name: value for name, value in fields.items() if name not in kept})
        self._store.put_link(link.key, replace(link, digest=digest, updated_count=link.updated_count + 1))

    def _set(self, stream: Stream, target_id: str, fields: Fields) -> None:
        row = self._store.row(stream.name, target_id)
        merged = {**row.fields, **fields}
        refers = self._inspect(stream, merged, self._kinds(stream, merged, None), target_id)
        self._store.put_row(stream.name, target_id, Row(merged, refers, own=row.own))

    def _inspect(
        self, stream: Stream, fields: Fields, kinds: Mapping[str, Kind], itself: str | None
    ) -> frozenset[tuple[str, str]]:
        """Raises on the first thing wrong; answers what the record refers to."""
        seen = Inspection(self._store, itself)
        for name in stream.required:
            seen.field = name
            if fields.get(name) in (None, ""):
                raise seen.refuse("is required")
        for name, kind in kinds.items():
            seen.field = name
            if fields.get(name) is not None:
                kind.check(fields[name], seen)
        for rule in stream.rules:
            rule(fields, seen)
        return frozenset(seen.refers)

    def _kinds(self, stream: Stream, fields: Fields, link: Link | None) -> dict[str, Kind]:
        """The kinds of those fields that the box knows."""
        custom = self._custom.of(stream.name, self._type_of(stream, fields, link))
        kinds: dict[str, Kind] = {}
        for name in fields:
            kind = stream.builtin(name) or (custom[name].kind if name in custom else None)
            if kind is not None:
                kinds[name] = kind
        return kinds

    def _type_of(self, stream: Stream, fields: Fields, link: Link | None) -> str | None:
        if stream.typed_by is None:
            return None
        known = (None if link is None else self._store.get(stream.name, link.target_id)) or {}
        value = fields.get(stream.typed_by, known.get(stream.typed_by))
        return value if isinstance(value, str) else None


def _digest(item: Item) -> str:
    digest = item.get("digest")
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ItemFault("VALIDATION", "digest", "digest: must be 64 lower-case hex digits")
    return digest


def _fields(item: Item) -> Fields:
    fields = item.get("fields")
    if not isinstance(fields, dict):
        raise ItemFault("VALIDATION", "fields", "fields: must be an object")
    return fields
