"""Files of chats and pictures of people: names, sizes and bytes, all from a number."""

import hashlib
import struct
import zlib
from dataclasses import dataclass

from b24sim.company.chance import chance

NAMES = ("План работ.pdf", "image.png", "отчёт 'Q3' & итоги.xlsx", "Договор №12 (финал).docx", "photo.jpg", "архив.zip")
LARGE = 300_000
PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class File:
    id: int
    name: str
    size: int

    @property
    def extension(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def is_image(self) -> bool:
        return self.extension in {"png", "jpg"}

    def content(self) -> bytes:
        """The same bytes every time, different for every file."""
        return self.stretch(0, self.size)

    def stretch(self, start: int, end: int) -> bytes:
        """Some of its bytes: the whole of a large one need never be in memory."""
        return noise(f"file:{self.id}", min(end, self.size), start)


@dataclass(frozen=True, slots=True)
class KeptFile(File):
    """A file that a user sent, with its bytes."""

    data: bytes = b""

    def stretch(self, start: int, end: int) -> bytes:
        return self.data[start:end]


def file_of(seed: int, number: int, ordinal: int, sizes: tuple[int, ...] = ()) -> File:
    """Some files are empty, some large, most small; the first are as large as is asked."""
    luck = chance(seed, "file", number)
    if ordinal < len(sizes):
        return File(number, NAMES[luck % len(NAMES)], sizes[ordinal])
    size = 0 if ordinal % 50 == 7 else LARGE if ordinal % 40 == 11 else 40 + luck % 6_000
    return File(number, NAMES[luck % len(NAMES)], size)


def noise(label: str, end: int, start: int = 0) -> bytes:
    """Bytes of which no two pieces are alike, so that one in the place of another is noticed."""
    first = start // PIECE
    pieces = b"".join(_piece(label, number) for number in range(first, -(-end // PIECE)))
    return pieces[start - first * PIECE : end - first * PIECE]


def _piece(label: str, number: int) -> bytes:
    label = f"{label}:{number}" if number else label
    return b"".join(hashlib.sha256(f"{label}:{part}".encode()).digest() for part in range(32)) * (PIECE // 1024)


def picture(label: str) -> bytes:
    """A valid PNG of one pixel whose colour depends on the label."""
    red, green, blue = hashlib.sha256(label.encode()).digest()[:3]
    pixel = zlib.compress(bytes([0, red, green, blue]))
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    note = b"Comment\0" + label.encode()
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(*part) for part in ((b"IHDR", header), (b"tEXt", note), (b"IDAT", pixel), (b"IEND", b""))
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
