"""Records that a rule skips."""

from __future__ import annotations

from typing import Any

from tests.engine.world import World

# The company names some people and groups that it has no longer; here they shall not keep anything from arriving.
GONE: dict[str, Any] = {"mapping": {"placeholder_user": "1", "policy": {"tasks.groupId": "drop"}}}


def skipped(made: World, stream: str) -> dict[str, str]:
    """Source id -> rule."""
    rows = made.sql("SELECT RowKey, Reason FROM SetAside WHERE Why = 'excluded'")
    return {str(key).split(":", 2)[2]: str(why) for key, why in rows if str(key).split(":", 2)[1] == stream}


def closes(made: World, name: str) -> bool:
    one = made.stream(name)
    return one.read == one.imported + one.failed + one.excluded and one.source in (None, one.read)
