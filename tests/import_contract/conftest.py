"""Whom the tests talk to: two servers, and two ways of talking to each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.import_contract import servers
from tests.import_contract.client import Client
from tests.import_contract.product import Product

WAYS = {
    "sim": ("simulated_server", Client),
    "php": ("php_server", Client),
    "b24migrate-sim": ("simulated_server", Product),
    "b24migrate-php": ("php_server", Product),
}
RAW = ("sim", "php")
PRODUCT = ("b24migrate-sim", "b24migrate-php")


@pytest.fixture(scope="session")
def simulated_server() -> Iterator[servers.Simulated]:
    with servers.simulated() as server:
        yield server


@pytest.fixture(scope="session")
def php_server() -> Iterator[servers.Php]:
    with servers.php() as server:
        yield server


def client(way: str, request: pytest.FixtureRequest) -> Client:
    server, kind = WAYS[way]
    made = kind(request.getfixturevalue(server))
    made.reset()
    return made


@pytest.fixture(params=WAYS)
def box(request: pytest.FixtureRequest) -> Client:
    """An empty box, asked word for word and through the product."""
    return client(request.param, request)


@pytest.fixture(params=RAW)
def raw(request: pytest.FixtureRequest) -> Client:
    """An empty box for calls that the product never makes, so that it cannot be asked to: malformed bodies, rehearsals,
    a key twice in a call, digests that are none, pages of another size, chunks by hand. Word for word only."""
    return client(request.param, request)


@pytest.fixture(params=PRODUCT)
def product(request: pytest.FixtureRequest) -> Client:
    """For what the product does by itself where another client must be told."""
    return client(request.param, request)


@pytest.fixture
def php(request: pytest.FixtureRequest) -> servers.Php:
    """For what can be arranged only where a box has a process that dies."""
    server: servers.Php = request.getfixturevalue("php_server")
    server.reset()
    return server


@pytest.fixture
def sim(request: pytest.FixtureRequest) -> servers.Simulated:
    """For what only the simulator promises to those who test with it, and HTTP cannot say."""
    server: servers.Simulated = request.getfixturevalue("simulated_server")
    server.reset()
    return server
