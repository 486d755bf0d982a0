"""The analysis before a migration: what is there, what it will take, and afterwards how well that was foretold."""

from b24migrate.pipeline.survey.metering import Meter
from b24migrate.pipeline.survey.model import Compared, Forecast, Survey
from b24migrate.pipeline.survey.playing import Limits
from b24migrate.pipeline.survey.surveying import compared, last, survey

__all__ = ["Compared", "Forecast", "Limits", "Meter", "Survey", "compared", "last", "survey"]
