"""The port `Target` over the methods that every box has."""
# ruff: noqa: ARG002 - the port says more than these methods need to know

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from b24migrate.bitrix.client import Portal
from b24migrate.fidelity import Rule
from b24migrate.ports import Deleted, FieldOutcome, Store, TargetInfo, TargetRecord
from b24migrate.records import Args, Item, Outcome
from b24migrate.streams import CustomFields
from b24migrate.target.common import existing_fields, how_many_fit
from b24migrate.target.rest import deleting, files, people, probes
from b24migrate.target.rest.box import Box, SourceSide, by_the_dozen
from b24migrate.target.rest.field_families import FAMILIES
from b24migrate.target.rest.fields import declare
from b24migrate.target.rest.memory import Memory, Remembered, State
from b24migrate.target.rest.sending import Sending
from b24migrate.target.rest.words import Known, Writer
from b24migrate.target.rest.writers import WRITERS


class RestTarget:
    """`portal` has the target's webhook, and `server.time` as its probe; `store` remembers what was written."""

    def __init__(self, portal: Portal, store: Store, source: SourceSide = SourceSide()) -> None:  # noqa: B008
        self._portal = portal
        self._box = Box(portal, store, probes.LIMITS.file_bytes, source)
        self._memory = Memory(store)
        self.serial = frozenset(writer.stream for writer in WRITERS.values() if writer.serial)

    def info(self) -> TargetInfo:
        return probes.look(self._box, WRITERS.values())

    def send(self, wire_entity: str, stream: str, items: Sequence[Item], *, run: str) -> list[Outcome]:
        return Sending(self._box, self._memory, WRITERS[stream], items).send()

    def fits(self, items: Sequence[Item]) -> int:
        sizes = (len(item.wire) for item in items[: probes.LIMITS.items])
        return how_many_fit(sizes, probes.LIMITS.body_bytes)

    def fields(self, wire_entity: str, stream: str, fields: Sequence[Args], *, type_id: str = "") -> list[FieldOutcome]:
        return declare(self._box, FAMILIES, stream, fields, type_id)

    def existing_fields(self, custom: CustomFields) -> Mapping[str, str] | None:
        return existing_fields(self._portal, custom)

    def match_users(self, emails: Sequence[str]) -> dict[str, str]:
        return people.by_email(self._box, emails)

    def read(self, wire_entity: str, stream: str, keys: Sequence[str]) -> dict[str, TargetRecord]:
        """The box is asked, whatever is remembered; what may have arrived is looked for."""
        writer = WRITERS[stream]
        remembered = self._memory.of(stream, keys)
        begun = {key: one.trace for key, one in remembered.items() if one.state is State.BEGUN}
        for key, target_id in (writer.find(self._box, begun) if begun else {}).items():
            remembered[key] = remembered[key]._replace(state=State.MADE, target_id=target_id)
        return self._records(writer, [one for one in remembered.values() if one.target_id])

    def listing(self, wire_entity: str, stream: str, after: str) -> tuple[list[TargetRecord], str | None, int]:
        """In the order of the memory, which is the store's own. The count is of those that the box still has."""
        writer = WRITERS[stream]
        page: list[Remembered] = next(self._memory.walk(stream, after and f"{stream}:{after}"), [])
        records = self._records(writer, [one for one in page if one.target_id])
        count = sum(
            len(self._there(writer, [one for one in some if one.target_id])) for some in self._memory.walk(stream)
        )
        return list(records.values()), page[-1].key if page else None, count

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
        return files.put(self._box, self._memory, files.Upload(key, name, size, sha256), content)

    def alive(self) -> bool:
        return self._portal.alive()

    def delete(self, wire_entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
        return deleting.delete(self._box, self._memory, WRITERS[stream], keys, dry_run=dry_run)

    def finalize(self, after: str) -> str | None:
        """Stream by stream and stretch by stretch; the cursor is `<stream>:<key>`."""
        last = [writer for writer in WRITERS.values() if writer.at_last]
        name, _, key = after.partition(":")
        names = [writer.stream for writer in last]
        for writer in last[names.index(name) if name in names else 0 :]:
            for some in self._memory.walk(writer.stream, f"{writer.stream}:{key}" if key else ""):
                self._put_right(writer, some)
                return f"{writer.stream}:{some[-1].key}" if some else None
            key = ""
        return None

    def _put_right(self, writer: Writer, some: Sequence[Remembered]) -> None:
        for few in by_the_dozen(one for one in some if one.target_id and one.state is State.DONE):
            if writer.at_last:
                writer.at_last(self._box, {one.key: Known(one.target_id, one.trace) for one in few})

    def fidelity(self) -> list[Rule]:
        return [rule for writer in WRITERS.values() for rule in writer.rules(self._box)]

    def _records(self, writer: Writer, some: Sequence[Remembered]) -> dict[str, TargetRecord]:
        told = self._there(writer, some)
        return {
            one.key: TargetRecord(one.key, one.target_id, one.digest, told[one.key]) for one in some if one.key in told
        }

    def _there(self, writer: Writer, some: Sequence[Remembered]) -> dict[str, Args]:
        found: dict[str, Args] = {}
        for few in by_the_dozen(some):
            found |= writer.read(self._box, {one.key: Known(one.target_id, one.trace) for one in few})
        return found
