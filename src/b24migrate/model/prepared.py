"""Types that JSON is decoded into, in several threads."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T", bound=type)


def prepared(kind: T) -> T:
    """msgspec looks at the fields of a type when it is first decoded. When two threads do that at the same time, the
    process ends with a segmentation fault (0.22), so it is done here, while the module is loaded by one."""
    msgspec.json.Decoder(kind)
    return kind
