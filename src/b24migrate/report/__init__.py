"""The report: one page that stands on its own and prints well, and a table for each long list beside it."""

from __future__ import annotations

from b24migrate.report.write import Request, Written, make_report

__all__ = ["Request", "Written", "make_report"]
