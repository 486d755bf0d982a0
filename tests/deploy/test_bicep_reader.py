"""The check of the Bicep files can fail: each of these snippets is wrong in one way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.deploy.bicep import privacy, rules, schemas
from tests.deploy.bicep.__main__ import main
from tests.deploy.bicep.evaluation import Deployment, Later, Resource

HEAD = "@description('Name.')\nparam name string\n"
IDENTITY = "resource one 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {\n  name: name\n}\n"
VALID = HEAD + IDENTITY

BROKEN = {
    "not Bicep": ("var a = [1\n", "is not Bicep"),
    "a word that begins no statement": ("variable a = 1\n", "is not Bicep"),
    "a property set twice": ("var a = {\n  b: 1\n  b: 2\n}\n", "b is set twice"),
    "a type that does not exist": ("param a text\n", "text is not a type"),
    "a name without a declaration": (VALID + "output a string = nobody\n", "nobody is not declared"),
    "a name inside a text": (VALID + "var a = '${nobody}'\n", "nobody is not declared"),
    "a loop's name outside of it": ("var a = [for b in [1]: b]\nvar c = b\n", "b is not declared"),
    "a function that does not exist": ("var a = lower('B')\n", "there is no function lower"),
    "a decorator that does not exist": ("@descripton('A.')\nparam a string\n", "there is no decorator @descripton"),
    "a name declared twice": ("var a = 1\nvar a = 2\n", "a is declared twice"),
    "a param without a use": (VALID + "@description('Other.')\nparam other string\n", "param other is never used"),
    "a param without a description": ("param name string\n" + IDENTITY, "param name has no @description"),
    "an unknown type": (VALID.replace("userAssigned", "userAsigned"), "not on the list of known resource types"),
    "an unknown version": (VALID.replace("2024-11-30", "2024-11-31"), "not on the list of known resource types"),
    "a resource without a name": (VALID.replace("  name: name", "  location: name"), "resource one has no name"),
    "a webhook": (VALID + "var a = 'https://p.example/rest/1/a1b2c3d4e5/'\n", "contains a secret"),
    "a connection string": (VALID + "var a = 'AccountName=a;AccountKey=${name}'\n", "contains a secret"),
    "a key in base64": (VALID + f"var a = '{'Eby8vdM02xNO' * 4}=='\n", "contains a secret"),
    "a password that is not secure": ("@description('P.')\nparam password string\nvar a = password\n", "not @secure"),
    "a default for a password": ("@secure()\n@description('P.')\nparam password string = 'x'\nvar a = password\n", "has a default"),
    "an output that tells": (VALID + "@description('A.')\noutput a string = one.properties.connectionString\n", "contains a secret"),
    "a key is fetched": (VALID + "var a = one.listKeys\n", "listKeys fetches a key"),
    "another role under that name": ("var secretsUser = 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7'\n", "secretsUser is not the role"),
    "a mistyped role": ("var roles = {\n  blobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955c'\n}\n", "is not the role"),
    "a role without a name": ("var a = toLower('4633458b-17de-408a-b874-0445c86b69e6')\n", "toLower is not the role"),
    "a module that is not there": ("module a 'b.bicep' = {\n  name: 'a'\n}\n", "there is no file b.bicep"),
    "a param the module lacks": ("module a 'inner.bicep' = {\n  params: { name: 'a', size: 1 }\n}\n", "module a takes no size"),
    "a param the module wants": ("module a 'inner.bicep' = {\n  params: {}\n}\n", "module a is not given name"),
    "an output the module lacks": ("module a 'inner.bicep' = {\n  params: { name: 'a' }\n}\nvar b = a.outputs.size\n", "the module has no output size"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_mistake_is_found(what: str, tmp_path: Path) -> None:
    source, complaint = BROKEN[what]
    (tmp_path / "inner.bicep").write_text(VALID)
    (tmp_path / "outer.bicep").write_text(source)
    assert any(complaint in one for one in rules.about(tmp_path / "outer.bicep"))


def test_what_is_right_passes(tmp_path: Path) -> None:
    (tmp_path / "one.bicep").write_text(VALID + "// done: {\n/* [ */\n")
    assert rules.complaints(tmp_path) == []


def test_a_complaint_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "one.bicep").write_text(VALID + "\noutput a string = nobody\n")
    assert "one.bicep:7: nobody is not declared" in rules.complaints(tmp_path)


EXPOSED = {
    "allowSharedKeyAccess: false": "allowSharedKeyAccess: true",
    "allowBlobPublicAccess: false": "allowBlobPublicAccess: true",
    "minimumTlsVersion: 'TLS1_2'": "minimumTlsVersion: 'TLS1_0'",
    "? 'Disabled' : 'Enabled'": "? 'Enabled' : 'Enabled'",
    "defaultAction: 'Deny'": "defaultAction: 'Allow'",
    "enablePurgeProtection: true": "enablePurgeProtection: false",
    "httpsOnly: true": "httpsOnly: false",
    "DisableLocalAuth: true": "DisableLocalAuth: false",
    "allow: false": "allow: true",
    "publicAccess: 'None'": "publicAccess: 'Blob'",
    "principalType: 'ServicePrincipal'": "description: 'ServicePrincipal'",
    "'deployments'": "'Deployments'",
}


@pytest.mark.parametrize("setting", EXPOSED)
def test_what_would_be_exposed_is_found(setting: str, azure: Path, tmp_path: Path) -> None:
    found = 0
    for path in (azure / "infra").rglob("*.bicep"):
        copy = tmp_path / path.relative_to(azure / "infra")
        copy.parent.mkdir(exist_ok=True)
        text = path.read_text()
        found += setting in text
        copy.write_text(text.replace(setting, EXPOSED[setting]))
    assert found, "the files no longer say this"
    assert privacy.complaints(Deployment(tmp_path / "main.bicep", {}).resources, closed=True)
    assert main(tmp_path, None) == 1


def test_a_name_that_is_too_long_is_found(azure: Path) -> None:
    planned = Deployment(azure / "infra" / "main.bicep", {"name": "a" * 50}).resources
    assert any("may not be called" in one for one in privacy.complaints(planned, closed=True))


SCHEMA: list[dict[str, Any]] = [
    {
        "$type": "Resource",
        "name": "A/b@1",
        "bodyType": {
            "properties": [
                {"name": "name", "type": "string", "flags": "Required"},
                {"name": "id", "type": "string", "flags": "ReadOnly"},
                {"name": "sku", "type": "Sku"},
                {"name": "tags", "type": "Tags"},
                {"name": "sizes", "type": "int[]"},
                {"name": "tier", "type": "Hot | Cool"},
            ]
        },
    },
    {"$type": "Object", "name": "Sku", "properties": [{"name": "reserved", "type": "bool", "flags": "Required"}]},
    {"$type": "Object", "name": "Tags", "properties": [], "additionalPropertiesType": "string"},
]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"name": "a", "sku": {"reserved": True}, "tags": {"x": "y"}, "sizes": [1], "tier": "Hot"}, ""),
        ({"name": Later("name"), "sku": Later("sku")}, ""),
        ({}, ": name is missing"),
        ({"name": "a", "nam": "a"}, ": there is no property nam"),
        ({"name": "a", "id": "a"}, ": id can only be read"),
        ({"name": "a", "sku": {}}, ".sku: reserved is missing"),
        ({"name": "a", "sku": {"reserved": "true"}}, ".sku.reserved: 'true' is not bool"),
        ({"name": "a", "sku": "small"}, ".sku: is not an object"),
        ({"name": "a", "tags": {"x": 1}}, ".tags.x: 1 is not string"),
        ({"name": "a", "sizes": 1}, ".sizes: is not a list"),
        ({"name": "a", "sizes": [True]}, ".sizes: True is not int"),
        ({"name": "a", "tier": "Warm"}, ".tier: 'Warm' is not Hot | Cool"),
    ],
)
def test_a_body_is_held_against_its_type(body: dict[str, Any], complaint: str) -> None:
    found = list(schemas.complaints(Resource("x.bicep", 3, "A/b", "1", body), SCHEMA))
    assert found == ([f"x.bicep:3: A/b{complaint}"] if complaint else [])


def test_types_of_another_version_prove_nothing() -> None:
    (found,) = schemas.complaints(Resource("x.bicep", 3, "A/b", "2", {}), SCHEMA)
    assert "not of version 2" in found
