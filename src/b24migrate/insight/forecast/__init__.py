"""The analysis before a migration: what is there, what it will take, and afterwards how well that was foretold.

Most commands need none of it, so each part is imported when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from b24migrate.insight.forecast.analyze import survey
    from b24migrate.insight.forecast.compare import compared, last, whole_run
    from b24migrate.insight.forecast.course import Limits
    from b24migrate.insight.forecast.meter import Meter
    from b24migrate.insight.forecast.model import Compared, Forecast, Survey
    from b24migrate.insight.forecast.target_pace import Paces

__all__ = ["Compared", "Forecast", "Limits", "Meter", "Paces", "Survey", "compared", "last", "survey", "whole_run"]
_PARTS = {"compare": "compared last whole_run", "course": "Limits", "meter": "Meter", "target_pace": "Paces"}
_PARTS |= {"model": "Compared Forecast Survey", "analyze": "survey"}
_PLACES = {name: part for part, names in _PARTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
