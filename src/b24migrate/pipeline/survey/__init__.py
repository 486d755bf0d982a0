"""The analysis before a migration: what is there, what it will take, and afterwards how well that was foretold."""

from b24migrate.pipeline.survey.comparing import compared, last, whole_run
from b24migrate.pipeline.survey.courses import Limits
from b24migrate.pipeline.survey.metering import Meter
from b24migrate.pipeline.survey.model import Compared, Forecast, Survey
from b24migrate.pipeline.survey.pacing import Paces
from b24migrate.pipeline.survey.surveying import survey

__all__ = ["Compared", "Forecast", "Limits", "Meter", "Paces", "Survey", "compared", "last", "survey", "whole_run"]
