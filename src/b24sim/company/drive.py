"""The Drive of a box: storages of people and groups, folders, and files that users uploaded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from b24sim.company.files import KeptFile

# Above the folders of chats, below the files that follow from a number.
FIRST_ID = 900_001
FIRST_STORAGE = 61
USER, GROUP, COMMON = "user", "group", "common"


@dataclass(frozen=True, slots=True)
class Storage:
    """The place of a person, of a group, or of the company; `root` is its topmost folder."""

    id: int
    kind: str
    owner: str
    root: int


@dataclass(frozen=True, slots=True)
class Folder:
    id: int
    name: str
    parent: int
    storage: int
    by: int
    at: float


@dataclass(slots=True)
class DriveFile:
    """An uploaded file. `chat` and `message` say where it was shown, once it was."""

    file: KeptFile
    folder: int
    by: int
    at: float
    chat: int = 0
    message: int = 0


@dataclass(slots=True)
class Drive:
    """Everything that was uploaded; one counter numbers folders and files."""

    storages: dict[tuple[str, str], Storage] = field(default_factory=dict)
    folders: dict[int, Folder] = field(default_factory=dict)
    files: dict[int, DriveFile] = field(default_factory=dict)
    shared: dict[int, set[int]] = field(default_factory=dict)  # folders, and with whom
    _last: int = FIRST_ID - 1

    def storage_of(self, kind: str, owner: object) -> Storage:
        """The storage, opened when it is first asked for."""
        key = (kind, str(owner))
        if key not in self.storages:
            number, root = FIRST_STORAGE + len(self.storages), self._number()
            self.storages[key] = Storage(number, *key, root)
            self.folders[root] = Folder(root, "Диск", 0, number, 0, 0.0)
        return self.storages[key]

    def add_folder(self, parent: Folder, name: str, by: int, at: float) -> Folder:
        folder = Folder(self._number(), name, parent.id, parent.storage, by, at)
        self.folders[folder.id] = folder
        return folder

    def add_file(self, folder: int, name: str, data: bytes, *, by: int, at: float) -> DriveFile:
        number = self._number()
        kept = self.files[number] = DriveFile(KeptFile(number, name, len(data), data), folder, by, at)
        return kept

    def inside(self, folder: int) -> Iterator[str]:
        """The names that are taken in a folder."""
        entries: Iterable[tuple[int, str]] = [
            *((one.parent, one.name) for one in self.folders.values()),
            *((one.folder, one.file.name) for one in self.files.values()),
        ]
        return (name for parent, name in entries if parent == folder)

    def _number(self) -> int:
        self._last += 1
        return self._last
