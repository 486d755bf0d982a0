"""What a report says, as values: how it stands, what became of everything, and the long lists row by row."""

from __future__ import annotations

from b24migrate.insight.report.model import Excerpt, Facts, Proof, Standing, Tally

__all__ = ["Excerpt", "Facts", "Proof", "Standing", "Tally"]
