"""The content of a report, as values: the verdict, the result of each record type, and the long lists row by row."""

from __future__ import annotations

from b24migrate.insight.report.model import Excerpt, Facts, Proof, Standing, Tally

__all__ = ["Excerpt", "Facts", "Proof", "Standing", "Tally"]
