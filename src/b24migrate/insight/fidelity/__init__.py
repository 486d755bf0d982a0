"""The fidelity list: data of this source that this target does not keep. It is accepted before anything is written."""

from b24migrate.insight.fidelity.count import Counts, count
from b24migrate.insight.fidelity.entries import (
    accept_list,
    ask_target,
    current_list,
    last_list,
    make_list,
    relevant_rules,
)
from b24migrate.insight.fidelity.model import (
    GATE,
    Accepted,
    Basis,
    Fidelity,
    Line,
    accept,
    acceptance_required,
    load_accepted,
)

__all__ = [
    "GATE",
    "Accepted",
    "Basis",
    "Counts",
    "Fidelity",
    "Line",
    "accept",
    "accept_list",
    "acceptance_required",
    "ask_target",
    "count",
    "current_list",
    "last_list",
    "load_accepted",
    "make_list",
    "relevant_rules",
]
