"""Azure Functions: requests, messages and a timer, each a plain function that gets the process's application.

The jobs are the same as everywhere else. The host of the functions calls `triggers.py`.
"""

from b24migrate.app_cache import AppCache, open_from_environment

__all__ = ["AppCache", "open_from_environment"]
