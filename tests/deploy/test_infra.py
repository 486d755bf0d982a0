"""The Bicep files: sound in themselves, private by default, and what the program is told by them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from azure.functions import FunctionApp
from tests.deploy.bicep import facts, privacy, rules
from tests.deploy.bicep.__main__ import OPEN
from tests.deploy.bicep.evaluation import Deployment, Later

from b24migrate.config import load
from b24migrate.functions import AppCache, open_from_environment
from b24migrate.functions.triggers import blueprint
from b24migrate.stores.azure import CONTAINERS, QUEUES


@pytest.fixture
def closed(azure: Path) -> Deployment:
    return Deployment(azure / "infra" / "main.bicep", {})


@pytest.fixture
def opened(azure: Path) -> Deployment:
    return Deployment(azure / "infra" / "main.bicep", OPEN)


def the_only(deployment: Deployment, type_: str) -> dict[str, Any]:
    (found,) = (one.body for one in deployment.resources if one.type == type_)
    return found


def app_settings(deployment: Deployment) -> dict[str, Any]:
    return dict(the_only(deployment, "Microsoft.Web/sites/config")["properties"])


def test_every_file_is_sound(azure: Path) -> None:
    assert rules.complaints(azure / "infra") == []


def test_nothing_answers_in_public_unless_asked(closed: Deployment) -> None:
    assert privacy.complaints(closed.resources, closed=True) == []


def test_opened_for_a_laptop_only_that_laptop_gets_in(opened: Deployment) -> None:
    assert privacy.complaints(opened.resources, closed=False) == []
    account = the_only(opened, "Microsoft.Storage/storageAccounts")
    assert [one["value"] for one in account["properties"]["networkAcls"]["ipRules"]] == OPEN["allowedIpRanges"]
    site = the_only(opened, "Microsoft.Web/sites")["properties"]["siteConfig"]
    assert [one["ipAddress"] for one in site["ipSecurityRestrictions"]] == ["203.0.113.7/32", "198.51.100.0/24"]


def test_storage_vault_and_app_have_private_addresses(closed: Deployment) -> None:
    endpoints = [one.body["properties"] for one in closed.resources if one.type == "Microsoft.Network/privateEndpoints"]
    groups = [
        group
        for one in endpoints
        for link in one["privateLinkServiceConnections"]
        for group in link["properties"]["groupIds"]
    ]
    assert sorted(groups) == ["blob", "queue", "sites", "table", "vault"]


def test_the_program_gets_no_role_beyond_its_data(closed: Deployment) -> None:
    given = [
        one.body["properties"] for one in closed.resources if one.type == "Microsoft.Authorization/roleAssignments"
    ]
    names = {guid: name for name, guid in facts.ROLES.items()}
    assert {names[str(one["roleDefinitionId"]).rpartition("/")[2]] for one in given} == {
        "tableDataContributor", "queueDataContributor", "blobDataContributor", "blobDataOwner", "secretsUser", "metricsPublisher",
    }  # fmt: skip


def test_files_and_queues_are_opened_one_by_one(opened: Deployment) -> None:
    """A role on the account would open the package and the keys of the functions host as well."""
    names = {guid: name for name, guid in facts.ROLES.items()}
    given: dict[str, set[str]] = {}
    for one in opened.resources:
        if one.type == "Microsoft.Authorization/roleAssignments":
            role = names[str(one.body["properties"]["roleDefinitionId"]).rpartition("/")[2]]
            given.setdefault(role, set()).add(one.scope.removeprefix("/Microsoft.Storage/storageAccounts/"))
    containers, queues = "blobServices/containers/", "queueServices/queues/"
    files = {*CONTAINERS, *(f"trial-{name}" for name in CONTAINERS)}  # of azure://ACCOUNT/trial
    messages = {*QUEUES, "work-poison", *(f"trial-{name}" for name in QUEUES)}
    assert given["blobDataContributor"] == {containers + name for name in files}
    assert given["blobDataOwner"] == {
        containers + name for name in ("deployments", "azure-webjobs-hosts", "azure-webjobs-secrets")
    }
    assert given["queueDataContributor"] == {queues + name for name in messages}
    made = {one.body["name"] for one in opened.resources if one.type.endswith(("/containers", "/queues"))}
    assert made >= files | messages  # who has a role for one may not make it


def test_every_use_of_a_secret_is_logged(closed: Deployment) -> None:
    audit = [one for one in closed.resources if one.type == "Microsoft.Insights/diagnosticSettings"]
    (vault,) = (one for one in audit if one.scope.startswith("/Microsoft.KeyVault/vaults/"))
    assert vault.body["properties"]["logs"] == [{"categoryGroup": "audit", "enabled": True}]
    assert str(vault.body["properties"]["workspaceId"]).startswith("/Microsoft.OperationalInsights/workspaces/")


def test_every_role_is_given_for_one_resource(azure: Path) -> None:
    from tests.deploy.bicep.tree import read

    for path in sorted((azure / "infra").rglob("*.bicep")):
        for one in read(path).all("resource"):
            if one.type.startswith("Microsoft.Authorization/"):
                assert "scope" in one.body, f"{path.name}: {one.name} is given for the whole group"


def test_only_the_operator_may_write_secrets(opened: Deployment) -> None:
    officer = facts.ROLES["secretsOfficer"]
    assignments = [
        one.body["properties"] for one in opened.resources if one.type == "Microsoft.Authorization/roleAssignments"
    ]
    holders = [one["principalId"] for one in assignments if str(one["roleDefinitionId"]).endswith(officer)]
    assert holders == [OPEN["operatorId"]]


def test_settings_name_secrets_and_contain_none(opened: Deployment) -> None:
    settings = app_settings(opened)
    assert "AzureWebJobsStorage" not in settings
    webhooks = {name: value for name, value in settings.items() if "WEBHOOK" in name}
    assert webhooks == {
        "B24MIGRATE_SOURCE__WEBHOOK": "keyvault:source-webhook",
        "B24MIGRATE_TARGET__WEBHOOK": "keyvault:target-webhook",
        "B24MIGRATE_SOURCE__MORE_WEBHOOKS": "keyvault:webhook-anna",
    }


def test_the_program_understands_what_it_is_told(
    opened: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every variable is known to the settings; the secrets are put in their place, since there is no vault."""
    monkeypatch.chdir(tmp_path)
    environ = {name: str(value) for name, value in app_settings(opened).items()}
    environ |= {
        "B24MIGRATE_KEY_VAULT": "https://b24migrate.vault.azure.net/",
        "B24MIGRATE_SOURCE__WEBHOOK": "https://source.example/rest/1/abcdef/",
        "B24MIGRATE_SOURCE__MORE_WEBHOOKS": "https://source.example/rest/2/abcdef/",
        "B24MIGRATE_TARGET__WEBHOOK": "https://box.example/rest/1/abcdef/",
    }
    settings = load(environ=environ)
    assert settings.store.url == "azure://b24migrateabcdefghijklm"


def test_triggers_find_their_queues_and_connections(closed: Deployment) -> None:
    triggers = [
        binding for bindings in functions().values() for binding in bindings if binding["type"] == "queueTrigger"
    ]
    made = {one.body["name"] for one in closed.resources if one.type.endswith("/queues")}
    settings = app_settings(closed)
    assert triggers
    for trigger in triggers:
        assert trigger["queueName"] in made
        assert settings[f"{trigger['connection']}__credential"] == "managedidentity"
        assert f"{trigger['connection']}__queueServiceUri" in settings


def functions() -> dict[str, list[dict[str, Any]]]:
    """Bindings by the name of the function."""
    app = FunctionApp()
    app.register_functions(blueprint(AppCache(open_from_environment)))
    return {str(one.get_function_name()): one.get_dict_repr()["bindings"] for one in app.get_functions()}


def test_settings_of_the_operator_cannot_replace_the_wiring(azure: Path) -> None:
    given = {"settings": {"B24MIGRATE_SOURCE__WEBHOOK": "in clear", "B24MIGRATE_RUN__VERIFY_SAMPLE": "50"}}
    settings = app_settings(Deployment(azure / "infra" / "main.bicep", given))
    assert settings["B24MIGRATE_SOURCE__WEBHOOK"] == "keyvault:source-webhook"
    assert settings["B24MIGRATE_RUN__VERIFY_SAMPLE"] == "50"


@pytest.mark.parametrize("name", ["abc", "b24migrate"])
def test_the_shortest_and_the_longest_name_fit_every_service(azure: Path, name: str) -> None:
    assert privacy.complaints(Deployment(azure / "infra" / "main.bicep", {"name": name}).resources, closed=True) == []


def test_the_portals_see_a_fixed_address_only_on_request(closed: Deployment, opened: Deployment) -> None:
    gateways = [
        [one for one in each.resources if one.type == "Microsoft.Network/natGateways"] for each in (closed, opened)
    ]
    assert [len(one) for one in gateways] == [0, 1]
    assert isinstance(opened.outputs["outboundAddress"], Later)
