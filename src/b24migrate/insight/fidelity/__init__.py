"""What this target does not keep of this source: listed before anything is written, and accepted by somebody."""

from b24migrate.insight.fidelity.acceptance import GATE, accept, accepted, required
from b24migrate.insight.fidelity.count import Counts, count
from b24migrate.insight.fidelity.entries import accept_known, asked, concerning, known, listed, remembered
from b24migrate.insight.fidelity.model import Accepted, Basis, Fidelity, Line

__all__ = [
    "GATE",
    "Accepted",
    "Basis",
    "Counts",
    "Fidelity",
    "Line",
    "accept",
    "accept_known",
    "accepted",
    "asked",
    "concerning",
    "count",
    "known",
    "listed",
    "remembered",
    "required",
]
