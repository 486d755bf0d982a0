"""How much one call may carry."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Limits:
    items: int = 100
    body_bytes: int = 8_000_000
    file_bytes: int = 1 << 30  # as the module on a box
    chunk_bytes: int = 4_194_304

    def body(self) -> dict[str, int]:
        return asdict(self)
