"""Records that must stay because a remaining record names them. The target itself would delete them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b

from b24migrate.engine.phases.context import RunContext, decode_extras, decode_payload
from b24migrate.engine.phases.removal import REASON, links_of, row_key_of
from b24migrate.engine.undo.model import delete_keys
from b24migrate.engine.undo.records import ImportedRecord
from b24migrate.engine.undo.scope import Scope
from b24migrate.model.records import Status
from b24migrate.model.source_records import SourceRecord
from b24migrate.model.streams import Stream
from b24migrate.ports import Deleted
from b24migrate.ports.walk import walk_table

_BITS = 1 << 26  # eight megabytes, however many records there are
_PLACES = 4


class Dependants:
    """A set that forgets no member, and takes less than one of a hundred thousand others for one: then a record stays
    that could have gone."""

    def __init__(self, context: RunContext, scope: Scope) -> None:
        self._context = context
        self._scope = scope
        self._bits = bytearray(0 if context.target.sees_dependants else _BITS // 8)

    def gather(self) -> None:
        """From everything that was imported and stays."""
        if not self._bits or (self._scope.window is None and len(self._scope.entities) == len(self._context.entities)):
            return
        wanted = {stream.name for stream in self._scope.streams}
        for entity in self._context.entities:
            for stream in (one for one in entity.streams if any(wanted.intersection(ref.streams) for ref in one.refs)):
                for row in (row for some in walk_table(self._context.store, stream.table) for row in some):
                    stays = entity not in self._scope.entities or not self._scope.holds(row)
                    if stays and row["Status"] == Status.IMPORT_OK:
                        self.keep(stream, ImportedRecord(row, None))

    def keep(self, stream: Stream, one: ImportedRecord, *, only_its_own: bool = False) -> None:
        """Keeps the record and the records that it names. A record that can never be deleted keeps only the record that
        it is part of, such as a user's department. Otherwise a chat would keep its company forever."""
        for name, source_id in self._named(stream, one) if self._bits else ():
            if only_its_own and self._context.owner.get(name) is not self._context.owner[stream.name]:
                continue
            for place in _bit_positions(name, source_id):
                self._bits[place >> 3] |= 1 << (place & 7)

    def answers(
        self,
        stream: Stream,
        found: Sequence[ImportedRecord],
        *,
        dry_run: bool,
        still: Callable[[], None] = lambda: None,
    ) -> list[tuple[ImportedRecord, Deleted]]:
        """The target's answer for each record. Records that others need are kept without a request."""
        keys = {stream.key_of(one.row_key): one for one in found}
        mine = {key: Deleted(key, "kept", REASON) for key, one in keys.items() if self._has(stream.name, one.row_key)}
        asked = [key for key in keys if key not in mine]
        deleted = delete_keys(self._context, stream.name, asked, dry_run=dry_run, still=still)
        mine |= {answer.key: answer for answer in deleted}
        for key, one in keys.items():
            if mine[key].status == "kept" and not mine[key].part:
                self.keep(stream, one, only_its_own=mine[key].for_good)
        return [(one, mine[key]) for key, one in keys.items()]

    def _has(self, name: str, row_key: str) -> bool:
        return bool(self._bits) and all(self._bits[at >> 3] & (1 << (at & 7)) for at in _bit_positions(name, row_key))

    def _named(self, stream: Stream, one: ImportedRecord) -> Iterator[tuple[str, str]]:
        record = SourceRecord(one.row_key, decode_payload(stream, one.row["Payload"]), decode_extras(one.row["Extras"]))
        yield from ((name, row_key_of(self._context, name, source_id)) for name, source_id in links_of(stream, record))


def _bit_positions(name: str, source_id: str) -> list[int]:
    drawn = blake2b(f"{name}:{source_id}".encode(), digest_size=4 * _PLACES).digest()
    return [int.from_bytes(drawn[at : at + 4]) % _BITS for at in range(0, 4 * _PLACES, 4)]
