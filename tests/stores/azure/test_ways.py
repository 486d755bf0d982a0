"""Which way a request takes to the service: the environment tells it, as to every other program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from azure.core.exceptions import ServiceRequestError
from requests import Session
from tests.stores.azure.scripted_service import parts, served

from b24migrate.stores.azure import account as accounts
from b24migrate.stores.azure.account import Account, Address
from b24migrate.stores.azure.transactions import upsert

ONE = [upsert({"PartitionKey": "p", "RowKey": "1"})]
NOWHERE = "1"  # a port at which nobody listens


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with served(parts("HTTP/1.1 204 No Content\nETag: 1\n\n")) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield


@pytest.fixture
def account() -> Iterator[Account]:
    with closing(Account(Address.parse("azure://azurite"), {"AZURITE_TABLE_PORT": NOWHERE})) as account:
        yield account


@pytest.mark.usefixtures("proxy")
def test_a_proxy_of_the_environment_is_used(account: Account) -> None:
    assert account.submit("Groups", ONE) == [{"etag": "1"}]


@pytest.mark.usefixtures("proxy")
def test_a_host_that_is_to_be_reached_without_the_proxy_is(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setitem(accounts._PATIENCE, "table", {"retry_total": 0})
    with pytest.raises(ServiceRequestError):
        account.submit("Groups", ONE)
    with closing(Account(Address.parse("azure://azurite"), {"AZURITE_TABLE_PORT": NOWHERE})) as another:
        monkeypatch.delenv("no_proxy")
        assert another.submit("Groups", ONE) == [{"etag": "1"}]


@pytest.mark.usefixtures("proxy")
@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_of_the_environment_are_used(account: Account, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.setenv(name, "/certificates")
    asked: list[object] = []
    send = Session.send

    def noted(session: Session, request: object, **how: object) -> object:
        asked.append(how["verify"])
        return send(session, request, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "send", noted)
    account.submit("Groups", ONE)
    assert asked == ["/certificates"]
