"""The one read model of a migration's status. Reading it costs the same whatever the size of the tables."""

from b24migrate.insight.status.history import points
from b24migrate.insight.status.reader import HistoryWriter, StatusReader, figures, overview, remember, snapshot

__all__ = ["HistoryWriter", "StatusReader", "figures", "overview", "points", "remember", "snapshot"]
