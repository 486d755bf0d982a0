"""Azure Functions: requests, messages and a timer, each a plain function that asks for the process's application.

The same jobs as everywhere else. Who calls is the host of the functions; what it calls is in `triggers.py`.
"""

from b24migrate.app_cache import AppCache, open_from_environment

__all__ = ["AppCache", "open_from_environment"]
