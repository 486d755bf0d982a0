"""The service's documented limits. Azurite's own checks differ in both directions, so we keep them ourselves."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

OPERATIONS = 100  # in a transaction
TRANSACTION_BYTES = 4 * MIB  # as sent
ENTITY_BYTES = 1 * MIB  # as kept: names and texts in UTF-16
PROPERTY_BYTES = 64 * KIB  # as kept
KEY_BYTES = 1 * KIB  # of a PartitionKey or RowKey, in UTF-16
PROPERTIES = 252
MESSAGE_BYTES = 64 * KIB
HIDDEN_S = 7 * 24 * 3600.0  # the longest that a message can be hidden

TEXT_UNITS = PROPERTY_BYTES // 2


def units(text: str) -> int:
    """How long a text is in UTF-16, where characters beyond the first 65,536 count twice."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
