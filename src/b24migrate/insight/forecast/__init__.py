"""The forecast of a migration: what the source has, how long it takes, and later how exact that was. Most commands do
not need it, so each part is imported at its first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from b24migrate.insight.forecast.analyze import survey
    from b24migrate.insight.forecast.estimate import compare_forecast, load_last, whole_run
    from b24migrate.insight.forecast.meter import Meter, PaceRecorder
    from b24migrate.insight.forecast.model import Compared, Forecast, Survey
    from b24migrate.insight.forecast.schedule import Limits

__all__ = [
    "Compared",
    "Forecast",
    "Limits",
    "Meter",
    "PaceRecorder",
    "Survey",
    "compare_forecast",
    "load_last",
    "survey",
    "whole_run",
]
_PARTS = {
    "analyze": "survey",
    "estimate": "compare_forecast load_last whole_run",
    "meter": "Meter PaceRecorder",
    "model": "Compared Forecast Survey",
    "schedule": "Limits",
}
_PLACES = {name: part for part, names in _PARTS.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
