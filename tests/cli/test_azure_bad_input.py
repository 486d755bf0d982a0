"""A store in Azure that cannot be had: one clear sentence with the fix, the right exit code, and no key in it."""

from __future__ import annotations

import pytest
from tests import azurite
from tests.cli.command import Scene
from tests.cli.test_bad_input import is_clear

from b24migrate.stores.azure import account

KEY = "c2VjcmV0IGtleSBvZiB0aGUgc3RvcmFnZSBhY2NvdW50"
VARIABLE = account.CONNECTION_STRING


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "_PATIENCE", {service: {"retry_total": 0} for service in account._PATIENCE})
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.source, scene.target = "http://127.0.0.1:1/rest/1/cloud/", "http://127.0.0.1:1/rest/1/box/"
    return scene


@pytest.mark.parametrize("command", [["status"], ["status", "--json"], ["doctor"], ["run"]])
def test_an_azurite_that_does_not_run(scene: Scene, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURITE_TABLE_PORT", "1")
    scene.more = '[store]\nurl = "azure://azurite"\n'
    is_clear(scene.run(*command), 4, "azure://azurite cannot be reached", "Azurite runs", "run the same command")


@pytest.mark.parametrize("url", ["azure://My_Account", "azure://ab", "azure://azurite/9x", "azure://azurite/a/b"])
def test_a_bad_address(scene: Scene, url: str) -> None:
    scene.more = f'[store]\nurl = "{url}"\n'
    is_clear(scene.run("status"), 2, url, "is not the address of a store", "azure://ACCOUNT")


def test_a_connection_string_that_is_not_set(scene: Scene) -> None:
    scene.more = '[store]\nurl = "azure://"\n'
    is_clear(scene.run("status"), 2, VARIABLE, "is not set")


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"AccountKey={KEY}",
        f"AccountName=x;AccountKey={KEY}x;TableEndpoint=http://127.0.0.1:1/x",
        f"DefaultEndpointsProtocol=https;AccountName=;AccountKey={KEY};EndpointSuffix=core.windows.net",
    ],
)
def test_a_connection_string_that_is_none(scene: Scene, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    scene.more = '[store]\nurl = "azure://"\n'
    result = scene.run("status")
    is_clear(result, 2, VARIABLE, "not a connection string")
    assert KEY not in result.all


def test_an_account_that_does_not_exist(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"AccountName=nosuchaccount;AccountKey={KEY};EndpointSuffix=storage.invalid")
    scene.more = '[store]\nurl = "azure:///mine"\n'
    result = scene.run("status")
    is_clear(result, 4, "azure:///mine cannot be reached", "account's name")
    assert KEY not in result.all


def test_a_key_that_is_not_accepted(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoints = [
        f"{service}Endpoint=http://127.0.0.1:{port}/devstoreaccount1" for service, port in azurite.start().items()
    ]
    monkeypatch.setenv(VARIABLE, ";".join(["AccountName=devstoreaccount1", f"AccountKey={KEY}", *endpoints]))
    scene.more = '[store]\nurl = "azure://"\n'
    result = scene.run("status")
    is_clear(result, 2, "azure:// denies access", VARIABLE)
    assert KEY not in result.all


def test_an_identity_that_is_not_there(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    scene.more = '[store]\nurl = "azure://someaccount"\n'
    is_clear(scene.run("status"), 2, "azure://someaccount", "az login")
