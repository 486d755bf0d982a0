"""Takes imports back: what was sent is deleted on the target, its link forgotten, and the record is NEW again.

Always the target first and the store after it, so that whoever is killed in between finds `absent` the next time.
"""

from b24migrate.pipeline.undo.leftovers import Leftovers, dependants, leftovers
from b24migrate.pipeline.undo.refusing import refuse_busy, refuse_other_target, refuse_strange_box
from b24migrate.pipeline.undo.rehearsing import Rehearsal
from b24migrate.pipeline.undo.scope import Scope, scope_of
from b24migrate.pipeline.undo.taking import Taking
from b24migrate.pipeline.undo.words import COLUMNS, Kept, Tally, kept_rows

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
