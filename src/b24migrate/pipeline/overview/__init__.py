"""How a migration stands, in one look: cheap, whatever the size of the tables."""

from b24migrate.pipeline.overview.history import points
from b24migrate.pipeline.overview.looking import Looking, overview
from b24migrate.pipeline.overview.remembering import Remembering, remember

__all__ = ["Looking", "Remembering", "overview", "points", "remember"]
