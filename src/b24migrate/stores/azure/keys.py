"""Ids as RowKeys. What the service forbids in a key is written as `$` and its number; what is too long is shortened.

Character by character, so that what begins alike still begins alike, and no two ids share a key.
"""

from __future__ import annotations

import hashlib
import re

from b24migrate.stores.azure.limits import units

LONGEST = 400  # in UTF-16 units, of the 512 that a key may have
KEPT = 300  # of one that is longer; prefixes are compared up to here
OWN = "!"  # rows that are no records (tallies) begin with it; ids never do
EMPTY = "$"
LAST = "\uffff"  # after every key

# Forbidden: / \ # ? and control characters. Quotes and percent signs are allowed but often mistreated on the way.
# A comma in front and the separators of lines are allowed too, and Azurite loses them in a transaction.
_ODD = re.compile("[/\\\\#?'%$\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]|^[!,]")


def row_key(text: str) -> str:
    key = _escaped(text)
    if units(key) > LONGEST:
        return f"{_cut(key)}$~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return key or EMPTY


def prefix_range(prefix: str) -> tuple[str, str]:
    """From (inclusive) and to (exclusive): the range of keys whose IDs start with the prefix."""
    start = _cut(_escaped(prefix))
    return (start, start[:-1] + _next(start[-1])) if start else ("", LAST)


def _next(character: str) -> str:
    """In the order of UTF-16, where what is beyond the first 65,536 comes before U+E000."""
    if character == "\ud7ff":
        return "\U00010000"
    return "\ue000" if character == "\U0010ffff" else chr(ord(character) + 1)


def _escaped(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    return _ODD.sub(lambda found: _written(found.group()), text)


def _written(character: str) -> str:
    number = ord(character)
    return f"${number:02X}" if number < 0x100 else f"$u{number:04X}"


def _cut(key: str) -> str:
    if units(key) <= KEPT:
        return key
    while units(key) > KEPT:
        key = key[: len(key) - max(1, (units(key) - KEPT) // 2)]
    return key
