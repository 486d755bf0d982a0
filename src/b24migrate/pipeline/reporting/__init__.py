"""What a report says, as values: how it stands, what became of everything, and the long lists row by row."""

from __future__ import annotations

from b24migrate.pipeline.reporting.model import Facts, Proof, Standing
from b24migrate.pipeline.reporting.tally import Excerpt, Tally

__all__ = ["Excerpt", "Facts", "Proof", "Standing", "Tally"]
