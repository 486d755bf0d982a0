"""The report: one page without other files, for printing, and a table for each long list."""

from __future__ import annotations

from b24migrate.report.page import Site
from b24migrate.report.write import Request, Written, make_report

__all__ = ["Request", "Site", "Written", "make_report"]
