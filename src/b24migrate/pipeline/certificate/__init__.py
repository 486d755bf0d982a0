"""The certificate: every source id in exactly one class, sums that close, and one root hash over all of it."""

from __future__ import annotations

from b24migrate.pipeline.certificate.checking import check
from b24migrate.pipeline.certificate.form import Made
from b24migrate.pipeline.certificate.making import make

__all__ = ["Made", "check", "make"]
