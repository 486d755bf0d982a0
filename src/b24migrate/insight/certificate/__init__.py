"""The certificate: every source id in exactly one class, sums that close, and one root hash over all of it."""

from __future__ import annotations

from b24migrate.insight.certificate.check import check
from b24migrate.insight.certificate.form import Made
from b24migrate.insight.certificate.write import make

__all__ = ["Made", "check", "make"]
