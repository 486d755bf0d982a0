"""Takes imports back: what was sent is deleted on the target, its link forgotten, and the record is NEW again.

Always the target first and the store after it, so that after a kill in between the target answers `absent`.
"""

from b24migrate.engine.undo.checks import refuse_busy, refuse_other_target, refuse_strange_box
from b24migrate.engine.undo.delete import Undo
from b24migrate.engine.undo.dry_run import DryRun
from b24migrate.engine.undo.model import COLUMNS, KeptRecord, Tally, kept_rows
from b24migrate.engine.undo.scope import Leftovers, Scope, count_dependants, count_leftovers, find_scope

__all__ = [
    "COLUMNS",
    "DryRun",
    "KeptRecord",
    "Leftovers",
    "Scope",
    "Tally",
    "Undo",
    "count_dependants",
    "count_leftovers",
    "find_scope",
    "kept_rows",
    "refuse_busy",
    "refuse_other_target",
    "refuse_strange_box",
]
