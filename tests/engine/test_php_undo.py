"""Undo on a box with the module: nothing of ours is left but files, and a run brings everything back, once."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from tests.engine.every_stream import STREAMS
from tests.engine.php_world import PhpWorld, everything_to_php

from b24migrate.engine import undo


def keys(made: PhpWorld) -> dict[str, set[str]]:
    return {stream: {str(row["key"]) for row in made.dump(stream)} for stream in STREAMS}


def test_what_the_module_imported_it_takes_back(tmp_path: Path) -> None:
    with everything_to_php(tmp_path) as made:
        own = made.on_the_box()
        assert made.run().exit_code == 0
        before = keys(made)
        with made.app() as app:
            scope = undo.find_scope(app.context, ())
            told = undo.DryRun(app.context, scope)
            deque(told.walk(), maxlen=0)
            assert not any(one.kept for one in told.tallies.values())
            taking = undo.Undo(app.context, scope, told)
            taking.take()
            assert taking.kept == 0
        left = {stream: rest for stream, there in made.on_the_box().items() if (rest := there - own[stream])}
        assert left.keys() == {"files"}
        assert made.run().exit_code == 0
        assert keys(made) == before
        assert made.strays(own) == {}
