"""Repeatable chance: always the same number for a seed and a place."""

import zlib
from functools import cache

_MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """A 64-bit number that looks random (the finaliser of splitmix64)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


@cache
def _base(seed: int, kind: str) -> int:
    return mix(seed * 1_000_003 + zlib.crc32(kind.encode()))


def chance(seed: int, kind: str, number: int) -> int:
    """Independent numbers for different kinds of thing."""
    return mix(_base(seed, kind) + number)
