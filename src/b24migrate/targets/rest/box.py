"""The box for writers: calls, many queries at once, files, and cached facts."""

from __future__ import annotations

import base64
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from b24migrate.bitrix.application import Application
from b24migrate.bitrix.batch import Batcher
from b24migrate.bitrix.client import Portal
from b24migrate.bitrix.download import Downloads
from b24migrate.messages import say
from b24migrate.model.answers import open_list
from b24migrate.model.errors import Permanent, Transient
from b24migrate.model.records import Args, Json
from b24migrate.model.values import is_number
from b24migrate.ports import CUSTOM_FIELDS, Answer, Command, RegisterRow, Store
from b24migrate.targets.rest.journal import PendingCreates

PAGE = 50
# The largest file inside a call: the call is in memory as a whole, here and there, and only the Drive has another way
# (api-reference/files/index.md).
INSIDE_BYTES = 104_857_600
KEPT_S = 1.0
PEOPLE = "users"  # the stream under which people are linked
One = TypeVar("One")
NAMES_KEPT_S = 600.0


class SourceFacts(NamedTuple):
    """Facts about the source and the box that rules need."""

    staged: Callable[[str, str], bool] = lambda _stream, _id: (
        True
    )  # whether a record, by stream and id, was read at all
    placeholder: str = ""  # the target's user for users that are not found


class Box:
    """Texts of people never go through `batch`: its filter may alter them, and it replaces `$result[…]` in them."""

    def __init__(self, portal: Portal, store: Store, source: SourceFacts) -> None:
        self.portal = portal
        self.store = store
        self._source = source
        self._people: set[str] = set()
        self.application: Application | None = None  # for what no webhook may do
        self.close_dates = True  # of CRM records: written again if the box sets its own
        self._batcher = Batcher(portal)
        self._downloads = Downloads(portal)
        self._kept: dict[str, tuple[float, Json]] = {}
        self._forgotten: Counter[str] = Counter()  # how often
        self._keeping = Lock()
        self._highest: dict[str, int] = {}
        self.under_way = PendingCreates(portal.clock)
        self.trial = Lock()  # one thread at a time tries out what the box does

    @property
    def owner(self) -> str:
        """The user whose rights every call has, and who is the author for some methods."""
        return str(self.portal.webhooks[0].user)

    def staged(self, stream: str, source_id: str) -> bool:
        """Whether the source has it. Users are remembered, because many records name the same one."""
        if stream == PEOPLE and source_id in self._people:
            return True
        found = self._source.staged(stream, source_id)
        if found and stream == PEOPLE:
            self._people.add(source_id)
        return found

    def is_owner(self, person: Json) -> bool:
        """Whether the webhook owner is the target user of this source user."""
        if not self.staged(PEOPLE, str(person)):
            return self._source.placeholder == self.owner
        return str(person) == self.kept("counterpart", self._counterpart)

    def _counterpart(self) -> str:
        links = self.store.all_links(PEOPLE)
        return next((link.source_id for link in links if link.target_id == self.owner), "")

    def call(self, method: str, params: Args) -> Json:
        """One call, a write or a question."""
        return self._batcher.single(Command(method, params)).decode()

    def question(self, method: str, params: Args) -> Json:
        """A call that changes nothing, so that it is repeated at once when its answer got lost."""
        return self._batcher.patiently(self._batcher.single, Command(method, params)).decode()

    def questions(self, commands: Sequence[Command]) -> list[Json]:
        """Many at once; None for each that is refused."""
        return [None if is_refused(answer) else answer.decode() for answer in self.answers(commands)]

    def lists(self, commands: Sequence[Command], *path: str) -> list[list[Args]]:
        """The rows of many lists, each with all its pages; none where the box refuses."""
        found: list[list[Args]] = []
        for command, answer in zip(commands, self.answers(commands), strict=True):
            if is_refused(answer):
                found.append([])
            elif answer.next:
                found.append(list(self.pages(command.method, command.params, *path)))
            else:
                found.append(list(rows_at(answer.decode(), *path)))
        return found

    def answers(self, commands: Sequence[Command]) -> list[Answer]:
        return self._batcher.run(commands) if commands else []

    def pages(self, method: str, params: Args, *path: str) -> Iterator[Args]:
        """Every row of a list that is paged by `start`."""
        start: int | None = 0
        while start is not None:
            answer = self._batcher.patiently(self._batcher.single, Command(method, {**params, "start": start}))
            rows = list(rows_at(answer.decode(), *path))
            yield from rows
            # behind the end old methods begin again, and one that does not know `start` never gets on
            start = answer.next if rows and answer.next and answer.next > start else None

    def file(self, target_id: str) -> tuple[str, str]:
        """Name and content in the form of methods that accept files outside the Drive."""
        about = self.question("disk.file.get", {"id": target_id})
        if not isinstance(about, Mapping) or not about.get("DOWNLOAD_URL"):
            raise unexpected_answer("disk.file.get")
        out = io.BytesIO()
        self._downloads.fetch(str(about["DOWNLOAD_URL"]), out, limit=INSIDE_BYTES)
        return str(about.get("NAME") or "file"), base64.b64encode(out.getvalue()).decode()

    def kept(self, name: str, ask: Callable[[], One], for_s: float = KEPT_S) -> One:
        """A cache for values that rarely change. A value that was forgotten during the request is not cached."""
        until, value = self._kept.get(name, (0.0, None))
        if self.portal.clock.monotonic() >= until:
            forgotten = self._forgotten[name]
            value = ask()
            with self._keeping:
                if self._forgotten[name] == forgotten:
                    self._kept[name] = (self.portal.clock.monotonic() + for_s, value)
        found: One = value
        return found

    def forget(self, name: str) -> None:
        with self._keeping:
            self._forgotten[name] += 1
            self._kept.pop(name, None)

    def saw(self, kind: str, target_id: str) -> None:
        """A box counts on: what comes later has a higher number."""
        if target_id.isdecimal():
            self._highest[kind] = max(int(target_id), self._highest.get(kind, 0))

    def highest(self, kind: str, ask: Callable[[], Iterable[Json]] = tuple) -> int:
        """The highest seen so far; the box is queried only if none was seen."""
        if kind not in self._highest:
            self._highest[kind] = max((int(one) for one in ask()), default=0)
        return self._highest[kind]

    def custom_types(self, stream: str) -> dict[str, str]:
        """The target's code of each custom field that was made, and its type."""
        known = self._custom_fields(stream)
        return {str(row.values["TargetField"]): str(row.values["Type"]) for row in known if row.values["TargetField"]}

    def codes_of(self, stream: str, kind: str) -> frozenset[str]:
        """The prefix of the fields of this type, in the source or here."""
        known = [row for row in self._custom_fields(stream) if row.values["Type"] == kind]
        return frozenset({row.key for row in known} | {str(row.values["TargetField"] or row.key) for row in known})

    def forget_custom_fields(self, stream: str) -> None:
        """When some are made."""
        self.forget(_custom_key(stream))

    def _custom_fields(self, stream: str) -> list[RegisterRow]:
        return self.kept(_custom_key(stream), lambda: self.store.rows(CUSTOM_FIELDS, partition=stream))


def _custom_key(stream: str) -> str:
    return f"custom {stream}"


def is_refused(answer: Answer) -> bool:
    return isinstance(answer.error, Permanent)


def unexpected_answer(what: str) -> Transient:
    error = Transient(say("target.odd_rest", what=what), code="STRANGE_ANSWER")
    error.own = True  # it did answer
    return error


def new_id(value: Json, method: str) -> str:
    """The ID of a record that was just created. It is stored permanently: an answer without one counts as lost."""
    found = str(value)
    if not is_number(found) or found == "0":
        raise unexpected_answer(method)
    return found


@contextmanager
def expect_known_shape(what: str) -> Iterator[None]:
    """Writers read answers without checking every step. A missing part becomes an error of the portal, and the record
    is retried."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise unexpected_answer(what) from error


def rows_at(answer: Json, *path: str) -> Iterator[Args]:
    """The rows at the end of a path. An answer without them is strange, not empty: what is taken for missing is written
    again, and what is taken for gone is forgotten."""
    return (row for row in items_at(answer, *path) if isinstance(row, Mapping))


def items_at(answer: Json, *path: str) -> list[Json]:
    try:
        return open_list(answer, path).items
    except Permanent as error:
        raise unexpected_answer(".".join(path) or "[]") from error


def in_chunks(values: Iterable[One], size: int = PAGE) -> Iterator[list[One]]:
    some = list(values)
    return (some[start : start + size] for start in range(0, len(some), size))


def call_as_application(box: Box, method: str, params: Args) -> Json:
    """One call, a write or a question."""
    if box.application is None:
        return box.call(method, params)
    result = box.application.call(method, params).result
    return msgspec.json.decode(result if isinstance(result, Raw) else b"null")


def ask_as_application(box: Box, method: str, params: Args) -> Json:
    """A call that changes nothing, so that it is repeated at once when its answer got lost."""
    return Batcher(box.portal).patiently(call_as_application, box, method, params)


def user_names(box: Box, user_ids: Iterable[str]) -> dict[str, str]:
    known: dict[str, str] = box.kept("names of people", dict, NAMES_KEPT_S)
    wanted = list(dict.fromkeys(map(str, user_ids)))
    for some in in_chunks(one for one in wanted if one not in known):
        rows = rows_at(box.question("user.get", {"FILTER": {"ID": some}, "ADMIN_MODE": True}))
        names = {str(row["ID"]): f"{row.get('NAME') or ''} {row.get('LAST_NAME') or ''}".strip() for row in rows}
        # Users that the box does not show get an empty name, so that they are not requested again. One update for all:
        # another thread must not see a user without a name in between.
        known |= {**dict.fromkeys(some, ""), **names}
    return {one: known[one] for one in wanted if known.get(one)}
