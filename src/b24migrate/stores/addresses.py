"""Where an address leads, and whether a store is there, without making one."""

from __future__ import annotations

from pathlib import Path

from b24migrate.messages import say
from b24migrate.model.errors import BadConfiguration

_FILE = "sqlite:///"


def located(url: str, *, base: Path = Path()) -> str:
    """The same address for the same place, however it was written. Raises BadConfiguration for what lasts no longer
    than a process; opening it reports other mistakes."""
    if url.endswith(":memory:"):
        raise BadConfiguration(
            say("store.memory"),
            code="STORE_URL",
            hint=say("store.memory_fix"),
        )
    path = url.removeprefix(_FILE)
    if url.startswith(_FILE) and path:
        return f"{_FILE}{(base / Path(path).expanduser()).resolve()}"
    return url.rstrip("/") if url.startswith("azure://") and url != "azure://" else url


def exists(address: str) -> bool:
    """Of one that was `located`. Nothing is made. True as well when opening it is what tells more."""
    if address.startswith(_FILE):
        path = Path(address.removeprefix(_FILE))
        return path.is_dir() or (path.is_file() and path.stat().st_size > 0)
    if address.startswith("azure://"):
        try:
            from b24migrate.stores.azure import exists as is_there
        except ModuleNotFoundError:
            return True
        return is_there(address)
    return True
