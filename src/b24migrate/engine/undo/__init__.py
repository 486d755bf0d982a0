"""Takes imports back: what was sent is deleted on the target, its link forgotten, and the record is NEW again.

Always the target first and the store after it, so that whoever is killed in between finds `absent` the next time.
"""

from b24migrate.engine.undo.checks import refuse_busy, refuse_other_target, refuse_strange_box
from b24migrate.engine.undo.delete import Taking
from b24migrate.engine.undo.dry_run import Rehearsal
from b24migrate.engine.undo.leftovers import Leftovers, dependants, leftovers
from b24migrate.engine.undo.model import COLUMNS, Kept, Tally, kept_rows
from b24migrate.engine.undo.scope import Scope, scope_of

__all__ = [
    "COLUMNS",
    "Kept",
    "Leftovers",
    "Rehearsal",
    "Scope",
    "Taking",
    "Tally",
    "dependants",
    "kept_rows",
    "leftovers",
    "refuse_busy",
    "refuse_other_target",
    "refuse_strange_box",
    "scope_of",
]
