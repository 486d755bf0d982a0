"""docs/architecture.md walks one record from `run` to the box: it names every file on the way."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.world import World

import b24migrate
from b24migrate.bitrix.http import Wire
from b24migrate.engine.phases.references import References
from b24migrate.stores.sqlite.settle import SettleMethods
from b24migrate.stores.sqlite.stage import StageMethods

SOURCE = Path(b24migrate.__file__).parent
DOCUMENT = (SOURCE.parents[1] / "docs" / "architecture.md").read_text("utf-8")
WALK = DOCUMENT.split("## One record, from `run` to the box\n", 1)[1].split("\n## ", 1)[0]


def files_on_the_way() -> set[str]:
    frames = [Path(frame.filename) for frame in traceback.extract_stack()]
    return {str(one.relative_to(SOURCE)) for one in frames if one.is_relative_to(SOURCE)}


def test_the_walk_of_a_record_names_every_file(small: World, monkeypatch: pytest.MonkeyPatch) -> None:
    met: dict[str, set[str]] = {}

    def watch(owner: Any, name: str, phase: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def watched(*args: Any, **named: Any) -> Any:
            files = files_on_the_way()
            if f"engine/phases/{phase}.py" in files:
                met.setdefault(f"{phase}: {owner.__name__}.{name}", set()).update(files)
            return real(*args, **named)

        monkeypatch.setattr(owner, name, watched)

    watch(Wire, "exchange", "read")
    watch(StageMethods, "stage", "read")
    watch(References, "resolve_one", "send")
    watch(Wire, "exchange", "send")
    watch(SettleMethods, "settle", "send")
    small.run("users")
    assert len(met) == 5
    assert not {
        place: missing for place, files in met.items() if (missing := {one for one in files if one not in WALK})
    }
