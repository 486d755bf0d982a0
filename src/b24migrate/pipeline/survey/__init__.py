"""The analysis before a migration: what is there, what it will take, and afterwards how well that was foretold.

Most commands need none of it, so each part is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from b24migrate.pipeline.survey.comparing import compared, last, whole_run
    from b24migrate.pipeline.survey.courses import Limits
    from b24migrate.pipeline.survey.metering import Meter
    from b24migrate.pipeline.survey.model import Compared, Forecast, Survey
    from b24migrate.pipeline.survey.pacing import Paces
    from b24migrate.pipeline.survey.surveying import survey

__all__ = ["Compared", "Forecast", "Limits", "Meter", "Paces", "Survey", "compared", "last", "survey", "whole_run"]
_PARTS = {"comparing": "compared last whole_run", "courses": "Limits", "metering": "Meter", "pacing": "Paces"}
_PARTS |= {"model": "Compared Forecast Survey", "surveying": "survey"}
_PLACES = {name: part for part, names in _PARTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
