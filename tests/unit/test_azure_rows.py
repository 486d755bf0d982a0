"""What the service answers, as records."""

from __future__ import annotations

from b24migrate.stores.azure.rows import KEYS_ONLY, key_of


def test_a_column_that_was_asked_for_and_is_not_there_is_null() -> None:
    """A service may answer so; Azurite leaves it out, so that no other test meets it."""
    found = dict.fromkeys(KEYS_ONLY) | {"RowKey": "17"}
    assert key_of(found) == "17"
    assert key_of(found | {"Key": "17/a"}) == "17/a"
