"""The bytes of attachments."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol


class Part(Protocol):
    """A file that is being downloaded. If it was started with a version, full blocks survive the process: the next one
    continues after them."""

    @property
    def length(self) -> int:
        """How many bytes are here."""
        ...

    @property
    def sure(self) -> int:
        """How many of them survive the block as it is now."""
        ...

    def holds(self, version: str) -> bool:
        """Whether the bytes that are here are of this version."""
        ...

    def begin(self, version: str) -> None:
        """Starts at the first byte and discards what is here. Without a version nothing survives the block."""
        ...

    def write(self, data: bytes) -> int: ...

    def publish(self) -> None:
        """All of it is here: at the end of the block it appears under its key."""
        ...


class Files(Protocol):
    """The bytes of attachments, under names chosen here, never by a portal."""

    def writer(self, key: str) -> AbstractContextManager[BinaryIO]:
        """Writes a new file for the key. It appears under the key only when the block ends without an error."""
        ...

    def part(self, key: str, size: int | None = None) -> AbstractContextManager[Part]:
        """Takes up what is here of the key's file, or nothing. Two who do so at once do not mix their bytes. `size`:
        what is known of its length; of a short file nothing outlives the block."""
        ...

    def open(self, key: str) -> BinaryIO:
        """Raises Permanent if the file is missing."""
        ...

    def size(self, key: str) -> int | None: ...

    def delete(self, key: str) -> None: ...
