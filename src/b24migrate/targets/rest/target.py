"""The port `Target` over the methods that every box has."""
# ruff: noqa: ARG002 - the port has more parameters than these methods need

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Condition
from typing import BinaryIO

from b24migrate.bitrix.application import Application
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.faults import scope_of
from b24migrate.messages import say
from b24migrate.model.errors import GateUnmet, Permanent
from b24migrate.model.fidelity import Rule
from b24migrate.model.records import Args, Item, Json, Outcome
from b24migrate.model.streams import CustomFields
from b24migrate.ports import Command, Deleted, FieldOutcome, Store, TargetCheck, TargetInfo, TargetLimits, TargetRecord
from b24migrate.targets import ask, count_fitting, existing_fields
from b24migrate.targets.rest import deletion, files
from b24migrate.targets.rest.box import Box, SourceFacts, expect_known_shape, in_chunks
from b24migrate.targets.rest.fields import declare
from b24migrate.targets.rest.journal import Journal, JournalEntry, State
from b24migrate.targets.rest.send import Sender, is_changed, look_for, read_from_box
from b24migrate.targets.rest.writer import Known, Writer

CONTRACT = 1  # the words of the port are those of the contract's first version
SERVER = "Bitrix24 REST"
# The settings of the box's server limit the size of a file, and no method returns them
# (api-reference/files/index.md); the vendor's own machine for boxes allows 1 GB.
LIMITS = TargetLimits(items=20, body_bytes=8_000_000, file_bytes=1 << 30, chunk_bytes=1 << 30)


class RestTarget:
    """`portal` has the target's webhook, and `server.time` as its probe; `store` remembers what was written."""

    sees_dependants = False  # the box's own methods delete a company under its deals

    def __init__(
        self,
        portal: Portal,
        store: Store,
        writers: Sequence[Writer],
        source: SourceFacts = SourceFacts(),  # noqa: B008
        application: Application | None = None,
        *,
        close_dates: bool = True,
    ) -> None:
        self._portal = portal
        self._writers = {writer.stream: writer for writer in writers}
        self._box = Box(portal, store, source)
        self._box.application = application
        self._box.close_dates = close_dates
        self._journal = Journal(store)
        self._hands = SerialCalls()
        self._streams: frozenset[str] | None = None
        self.serial = frozenset(writer.stream for writer in self._writers.values() if writer.serial)
        self.unchangeable = frozenset(writer.stream for writer in self._writers.values() if writer.unchangeable)

    def info(self) -> TargetInfo:
        with expect_known_shape("import.info"):
            found = inspect_box(self._box, self._writers.values())
        self._streams = frozenset(found.streams)
        return found

    def streams(self) -> frozenset[str]:
        return frozenset(self.info().streams) if self._streams is None else self._streams

    def send(self, wire_entity: str, stream: str, items: Sequence[Item], *, run: str) -> list[Outcome]:
        with self._hands.alone(stream, [item.key for item in items]):
            return Sender(self._box, self._journal, self._writers[stream], items).send()

    def fits(self, items: Sequence[Item]) -> int:
        sizes = (len(item.wire) for item in items[: LIMITS.items])
        return count_fitting(sizes, LIMITS.body_bytes)

    def fields(self, wire_entity: str, stream: str, fields: Sequence[Args], *, type_id: str = "") -> list[FieldOutcome]:
        methods = self._writers[stream].custom_fields
        if methods is None:
            raise Permanent(say("field.cannot_create_any", stream=stream), code="TYPE_UNSUPPORTED")
        try:
            with expect_known_shape("userfield"):
                return declare(self._box, methods, fields, type_id)
        finally:
            methods.forget(self._box)
            self._box.forget_custom_fields(stream)

    def existing_fields(self, custom: CustomFields) -> Mapping[str, str] | None:
        return existing_fields(self._portal, custom)

    def ask(self, method: str) -> Json:
        return ask(self._portal, method)

    def match_users(self, emails: Sequence[str]) -> dict[str, str]:
        with expect_known_shape("user.get"):
            found = [one.by_email(self._box, emails) for one in self._writers.values() if one.by_email]
        return {email: number for some in found for email, number in some.items()}

    def read(self, wire_entity: str, stream: str, keys: Sequence[str]) -> dict[str, TargetRecord]:
        """Queries the box without the store, and looks for records whose answer was lost."""
        writer = self._writers[stream]
        remembered = self._journal.find(stream, keys)
        begun = {key: one.trace for key, one in remembered.items() if one.state is State.BEGUN}
        for key, target_id in look_for(self._box, writer, begun).items():
            remembered[key] = remembered[key]._replace(state=State.MADE, target_id=target_id)
        return self._records(writer, [one for one in remembered.values() if one.target_id])

    def listing(self, wire_entity: str, stream: str, after: str) -> tuple[list[TargetRecord], str | None, None]:
        """In the order of the journal, which is the store's own, those that the box still has. Nothing but reading them
        all would count them."""
        page, cursor = self._journal.stretch(stream, after)
        records = self._records(self._writers[stream], [one for one in page if one.target_id])
        return list(records.values()), cursor, None

    def file_bytes(self) -> int:
        return LIMITS.file_bytes

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
        most = files.most_bytes(key, self.file_bytes())
        if size > most:
            raise Permanent(say("file.target_limit", size=size, limit=most), code="TOO_LARGE")
        with expect_known_shape("an upload"):
            return files.put_file(self._box, self._journal, files.Upload(key, name, size, sha256), content)

    def alive(self) -> bool:
        return self._portal.alive()

    def delete(self, wire_entity: str, stream: str, keys: Sequence[str], *, dry_run: bool) -> list[Deleted]:
        return deletion.delete(self._box, self._journal, self._writers[stream], keys, dry_run=dry_run)

    def finalize(self, after: str, *, run: str) -> str | None:
        """Stream by stream and stretch by stretch; the cursor is `<stream>:<key>`."""
        last = [writer for writer in self._writers.values() if writer.at_last]
        name, _, key = after.partition(":")
        names = [writer.stream for writer in last]
        for writer in last[names.index(name) if name in names else 0 :]:
            some, cursor = self._journal.stretch(writer.stream, key)
            if cursor is not None:
                self._repair(writer, some)
                return f"{writer.stream}:{cursor}"
            key = ""
        return None

    def _repair(self, writer: Writer, some: Sequence[JournalEntry]) -> None:
        """A refused record does not stop the others, and verify reports it. One call per record shows which one it
        is."""
        for few in in_chunks(one for one in some if one.target_id and one.state is State.DONE):
            try:
                self._finish(writer, few)
            except Permanent:
                for one in few:
                    with suppress(Permanent):
                        self._finish(writer, [one])

    def _finish(self, writer: Writer, few: Sequence[JournalEntry]) -> None:
        if writer.at_last:
            with expect_known_shape(writer.stream):
                writer.at_last(self._box, {one.key: Known(one.target_id, one.trace) for one in few})

    def fidelity(self) -> list[Rule]:
        with expect_known_shape("fidelity"):
            return [rule for writer in self._writers.values() for rule in writer.rules(self._box)]

    def selftest(self) -> None:
        """The box's own methods leave what they write: nothing is tried with them."""
        return

    def _records(self, writer: Writer, some: Sequence[JournalEntry]) -> dict[str, TargetRecord]:
        there = read_from_box(self._box, writer, some)
        return {one.key: self._record(writer, one, there[one.key]) for one in some if one.key in there}

    def _record(self, writer: Writer, one: JournalEntry, fields: Args) -> TargetRecord:
        changed = is_changed(self._box, writer, one, fields)
        own = writer.own(self._box, one.key, fields) if changed else frozenset()
        return TargetRecord(one.key, one.target_id, one.digest, fields, changed, own)


def inspect_box(box: Box, writers: Iterable[Writer]) -> TargetInfo:
    """Raises GateUnmet if the webhook owner is not an administrator, because only administrators can write for other
    users."""
    writers = list(writers)
    profile, scopes, now = box.questions([Command("profile", {}), Command("scope", {}), Command("server.time", {})])
    if isinstance(profile, Mapping) and profile.get("ADMIN") is False:
        raise GateUnmet(
            "auth.target",
            say("check.not_admin"),
            code="ACCESS_DENIED",
            hint=say("check.not_admin_fix"),
        )
    methods = existing_methods(box, {need.lower() for writer in writers for need in writer.needs})
    lacks: dict[str, str] = {}
    checks: dict[str, TargetCheck] = {}
    entities: dict[str, None] = {}
    streams: list[str] = []
    for writer in writers:
        entities[writer.entity] = None
        lacking = describe_missing(writer.needs, scopes, methods)
        streams += [] if lacking else [writer.stream]
        if lacking and not writer.optional:
            lacks.setdefault(writer.entity, lacking)
        check = writer.check(box) if writer.check else None
        if check is not None and check.fatal:
            lacks.setdefault(writer.entity, check.message)
        elif check is not None:
            checks[writer.entity] = check
    zone = str(now)[19:] if isinstance(now, str) else ""
    served = tuple(name for name in entities if name not in lacks)
    return TargetInfo(CONTRACT, SERVER, zone, served, LIMITS, lacks, checks, tuple(streams))


def existing_methods(box: Box, names: Collection[str]) -> list[str]:
    """The methods that the box has. Each is checked: the list of `methods` omits those of controllers, such as
    crm.item.* and tasks.task.* (api-reference/common/system/methods)."""
    wanted = sorted(names)
    answers = box.questions([Command("method.get", {"name": name}) for name in wanted])
    lacking = {
        name
        for name, one in zip(wanted, answers, strict=True)
        if isinstance(one, Mapping) and not one.get("isExisting", True)
    }
    return [name for name in wanted if name not in lacking]


def describe_missing(needs: Iterable[str], scopes: Json, methods: Json) -> str:
    """The reason why a stream cannot be written, as a sentence; empty if it can."""
    granted = parse_names(scopes)
    served = parse_names(methods)
    for method in needs:
        scope = scope_of(method)
        if granted is not None and scope and scope not in granted:
            return say("check.no_scope", scope=scope, method=method)
        if served is not None and method.lower() not in served:
            return say("check.no_method", method=method)
    return ""


def parse_names(names: Json) -> Collection[str] | None:
    """None: the box does not report it."""
    return {str(one).lower() for one in names} if isinstance(names, list) else None


class SerialCalls:
    def __init__(self) -> None:
        self._held: set[tuple[str, str]] = set()
        self._changed = Condition()

    @contextmanager
    def alone(self, stream: str, keys: Sequence[str]) -> Iterator[None]:
        """Waits until all of them are free, and takes them at once: no deadlock."""
        mine = {(stream, key) for key in keys}
        with self._changed:
            self._changed.wait_for(lambda: self._held.isdisjoint(mine))
            self._held |= mine
        try:
            yield
        finally:
            with self._changed:
                self._held -= mine
                self._changed.notify_all()
