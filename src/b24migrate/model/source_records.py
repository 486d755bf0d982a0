"""Records as the functions of a stream see them, the files that they refer to, and how they are looked up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from b24migrate.model.records import Json, Row

if TYPE_CHECKING:
    from b24migrate.ports import Source


class SourceRecord(NamedTuple):
    """A record as a stream's functions see it: decoded, with the data of other methods."""

    id: str
    payload: Mapping[str, Json]
    extras: Mapping[str, Json]

    @property
    def parent(self) -> str:
        return self.id.rpartition(":")[0]

    @property
    def child(self) -> str:
        return self.id.rpartition(":")[2]


# staged records by stream and id: what a stream's function may look up
Lookup: TypeAlias = Callable[[str, Sequence[str]], dict[str, SourceRecord]]


class Known(NamedTuple):
    """Known facts that help to request records by ID."""

    lookup: Lookup
    custom: Callable[[], Sequence[str]]  # the codes of the entity's custom fields: some methods want them named
    deep: bool = False  # whether a delta pass reads what changes no date and no count
    staged: Callable[[], int] = lambda: 0  # how many records of the stream are known
    # Of a hint by its name: whether a pass has found it wrong, and that this one does.
    refuted: Callable[[str], bool] = lambda _: False
    refute: Callable[[str], None] = lambda _: None


def person_name(parent: SourceRecord) -> str:
    """The name of the user for messages."""
    name = f"{parent.payload.get('NAME') or ''} {parent.payload.get('LAST_NAME') or ''}".strip()
    return name or f"user {parent.id}"


class FileRef(NamedTuple):
    """A file that a record refers to. With a `url` it is fetched from there, otherwise its link is requested by id."""

    kind: str
    id: str
    name: str = ""
    size: int | None = None
    url: str = ""
    place: str = ""  # what a link may need besides the id, such as the dialog it was posted in
    version: str = ""  # distinguishes versions of a key whose bytes may change, such as a user's photo

    @classmethod
    def of_link(cls, kind: str, owner: str, url: str) -> FileRef:
        """A picture of a record: another one has another path, while tokens in a link may differ each time."""
        try:
            path = urlsplit(url).path
        except ValueError:  # no web address: downloading it will say so
            path = url
        return cls(kind, owner, url=url, version=path)

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.id}"


# the files a record refers to
Files: TypeAlias = Callable[[SourceRecord], Iterable[FileRef]]


# records by id as the source has them now, for pull-through and verify
Fetch: TypeAlias = Callable[["Source", Sequence[SourceRecord], Known], dict[str, Row]]
# of children that the list of their parent no longer shows, those with a known reason
FindExcused: TypeAlias = Callable[["Source", Sequence[SourceRecord]], Collection[str]]
# of records that are not shown, those that exist and that the portal only refuses to show; it also gets records that
# are shown
FindRefused: TypeAlias = Callable[["Source", Sequence[SourceRecord], Sequence[SourceRecord]], Collection[str]]


# staged records of a stream, all of them
StagedRecords: TypeAlias = Callable[[str], Iterable[SourceRecord]]


class FileLink(str):
    """The download link of a file, with its name in the source."""

    name: str

    def __new__(cls, url: str, name: str = "") -> FileLink:
        made = super().__new__(cls, url)
        made.name = name
        return made
