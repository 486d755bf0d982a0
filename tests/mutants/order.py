"""A plugin of pytest: the tests in the order in which they are named, those of a file together. By themselves the tests that
take long come first."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    places: dict[str, int] = {}
    for number, name in enumerate(config.args):
        places.setdefault(name, number)
        places.setdefault(name.partition("::")[0], number)
    last = len(config.args)
    items.sort(
        key=lambda item: (places.get(item.nodeid.partition("::")[0], last), places.get(item.nodeid, last)),
    )
