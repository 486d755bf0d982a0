"""`keyvault:NAME`: the secret arrives, and everything that can go wrong is one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.key_vault import TOKEN, KeyVault, open_vault

from b24migrate.config import Settings, load
from b24migrate.model.errors import BadConfiguration

SECRET = "s3cr3tabc123xyz9"
SOURCE = f"https://cloud.example/rest/1/{SECRET}/"
CONFIGURATION = """
[source]
webhook = "keyvault:b24-source"
more_webhooks = ["keyvault:b24-second"]
[target]
webhook = "https://box.example/rest/1/otherS3cret/"
"""


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KeyVault]:
    with open_vault(tmp_path) as (vault, environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        vault.secrets = {"b24-source": SOURCE, "b24-second": SOURCE}
        yield vault


def loaded(folder: Path, text: str = CONFIGURATION, *, portals: bool = True, **environ: str) -> Settings:
    path = folder / "b24migrate.toml"
    path.write_text(text, "utf-8")
    return load(path, environ=environ, portals=portals)


def complaint(folder: Path, address: str, text: str = CONFIGURATION) -> str:
    with pytest.raises(BadConfiguration) as caught:
        loaded(folder, text, B24MIGRATE_KEY_VAULT=address)
    message = str(caught.value)
    assert caught.value.exit_code == 2
    assert "\n" not in message
    assert not any(hidden in message for hidden in (SECRET, TOKEN, "hidden words"))
    return message


def test_secrets_come_from_the_vault_that_the_environment_names(tmp_path: Path, vault: KeyVault) -> None:
    settings = loaded(tmp_path, B24MIGRATE_KEY_VAULT=vault.address)
    assert settings.source.webhook.reveal() == SOURCE
    assert settings.source.more_webhooks[0].reveal() == SOURCE
    assert vault.asked == ["b24-source", "b24-second"]


def test_secrets_come_from_the_vault_that_the_file_names(tmp_path: Path, vault: KeyVault) -> None:
    settings = loaded(tmp_path, f'{CONFIGURATION}[azure]\nkey_vault = "env:MINE"\n', MINE=vault.address + "/")
    assert settings.source.webhook.reveal() == SOURCE


def test_each_secret_is_asked_for_once(tmp_path: Path, vault: KeyVault) -> None:
    loaded(tmp_path, CONFIGURATION.replace("second", "source"), portals=False, B24MIGRATE_KEY_VAULT=vault.address)
    assert vault.asked == ["b24-source"]


def test_a_look_at_the_store_does_without_the_vault(tmp_path: Path, vault: KeyVault) -> None:
    vault.secrets = {}
    settings = loaded(tmp_path, portals=False, B24MIGRATE_KEY_VAULT=vault.address)
    assert settings.source.webhooks[0].host == "source.invalid"


@pytest.mark.parametrize(
    ("answer", "inner", "wanted"),
    [
        (404, "", "is not there; create it"),
        (403, "ForbiddenByRbac", "Key Vault Secrets User"),
        (403, "SecretDisabled", "is disabled"),
        (403, "ForbiddenByFirewall", "firewall"),
        (401, "", "az login"),
        (400, "", "does not answer as a key vault"),
        (429, "", "HTTP 429"),
        (503, "", "HTTP 503"),
        ("  ", "", "is empty"),
    ],
)
def test_a_refusal_is_one_sentence_with_key_place_and_fix(
    tmp_path: Path, vault: KeyVault, answer: str | int, inner: str, wanted: str
) -> None:
    vault.secrets["b24-source"] = answer
    vault.inner_code = inner
    message = complaint(tmp_path, vault.address)
    assert message.startswith(
        f"b24migrate.toml, line 3: source.webhook takes its value from the secret b24-source of the key vault {vault.address}"
    )
    assert wanted in message


def test_no_identity_is_one_sentence(tmp_path: Path, vault: KeyVault, capfd: pytest.CaptureFixture[str]) -> None:
    vault.identity_known = False
    assert "az login" in complaint(tmp_path, vault.address)
    assert capfd.readouterr() == ("", "")


def test_something_else_under_the_address_is_one_sentence(tmp_path: Path, vault: KeyVault) -> None:
    vault.is_vault = False
    assert "does not answer as a key vault" in complaint(tmp_path, vault.address)


def test_a_vault_that_nobody_serves_is_one_sentence(tmp_path: Path, vault: KeyVault) -> None:
    assert "cannot be reached" in complaint(tmp_path, "https://127.0.0.1:1")


def test_a_certificate_that_nobody_vouches_for_is_one_sentence(
    tmp_path: Path, vault: KeyVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    assert "cannot be reached" in complaint(tmp_path, vault.address)


@pytest.mark.parametrize(
    "address", ["http://a.vault.azure.net", "a", "https://", "https://a.vault.azure.net/secrets/x", "https://["]
)
def test_an_address_that_is_none_is_named_with_its_place(tmp_path: Path, address: str) -> None:
    message = complaint(tmp_path, address)
    assert message == (
        "environment variable B24MIGRATE_KEY_VAULT: azure.key_vault is not the address of a key vault; "
        "write it like https://NAME.vault.azure.net."
    )


def test_a_name_that_no_secret_can_have_is_told(tmp_path: Path) -> None:
    text = CONFIGURATION.replace("b24-source", "../keys/x")
    assert "line 3: source.webhook does not name a secret" in complaint(tmp_path, "https://a.vault.azure.net", text)


def test_without_a_vault_the_variable_is_named(tmp_path: Path) -> None:
    assert "set B24MIGRATE_KEY_VAULT" in complaint(tmp_path, "")


def test_without_the_extra_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    assert 'pip install "b24migrate[azure]"' in complaint(tmp_path, "https://a.vault.azure.net")


def test_the_command_line_ends_with_exit_code_2_and_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "b24migrate.toml").write_text(CONFIGURATION, "utf-8")
    with open_vault(tmp_path) as (vault, environ):
        ended = subprocess.run(
            [sys.executable, "-m", "b24migrate", "doctor"],
            cwd=tmp_path,
            env={**environ, "B24MIGRATE_KEY_VAULT": vault.address},
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "b24-source" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
