"""How a migration stands, in one look: cheap, whatever the size of the tables."""

from b24migrate.insight.overview.history import points
from b24migrate.insight.overview.history_writer import HistoryWriter, remember
from b24migrate.insight.overview.look import Looking, overview

__all__ = ["HistoryWriter", "Looking", "overview", "points", "remember"]
