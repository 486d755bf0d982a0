"""What nobody touched on the box goes when it is taken back: the move itself counts as no change of people."""

from __future__ import annotations

from pathlib import Path

from tests.rest.everything import moving

from b24migrate.ports import NATIVE
from b24migrate.target.rest.deleting import CHANGED


def test_nothing_counts_as_changed_that_only_the_move_has_changed(tmp_path: Path) -> None:
    with moving(tmp_path) as move:
        assert move.run().exit_code == 0
        with move.app() as app:
            keys: dict[str, list[str]] = {}
            for row in app.work.store.all_rows(NATIVE):
                if row.values["Stream"] in app.work.owner:
                    keys.setdefault(str(row.values["Stream"]), []).append(row.key.partition(":")[2])
            answers = [
                (stream, one)
                for stream in keys
                for one in app.work.target.delete(app.work.owner[stream].wire, stream, keys[stream], dry_run=True)
            ]
        assert [(stream, one.key) for stream, one in answers if one.reason == CHANGED] == []
        assert sum(one.status == "deleted" for _, one in answers) > 400
