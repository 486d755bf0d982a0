"""Mistakes in the resources that a deployment requests: access from outside, keys, names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.deploy.bicep import facts
from tests.deploy.bicep.evaluation import Resource

# Required values of a resource, by their place in the body.
PROMISES: dict[str, dict[str, object]] = {
    "Microsoft.Storage/storageAccounts": {
        "properties.allowSharedKeyAccess": False,
        "properties.allowBlobPublicAccess": False,
        "properties.supportsHttpsTrafficOnly": True,
        "properties.minimumTlsVersion": "TLS1_2",
        "properties.networkAcls.defaultAction": "Deny",
        "properties.networkAcls.bypass": "None",
    },
    "Microsoft.Storage/storageAccounts/blobServices/containers": {"properties.publicAccess": "None"},
    "Microsoft.KeyVault/vaults": {
        "properties.enableRbacAuthorization": True,
        "properties.enablePurgeProtection": True,
        "properties.networkAcls.defaultAction": "Deny",
        "properties.networkAcls.bypass": "None",
    },
    "Microsoft.Web/sites": {
        "properties.httpsOnly": True,
        "properties.siteConfig.minTlsVersion": "1.2",
        "properties.siteConfig.ftpsState": "Disabled",
        "properties.siteConfig.ipSecurityRestrictionsDefaultAction": "Deny",
        "properties.siteConfig.scmIpSecurityRestrictionsUseMain": True,
    },
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": {"properties.allow": False},
    "Microsoft.Insights/components": {"properties.DisableLocalAuth": True},
}
CLOSED = ("Microsoft.Storage/storageAccounts", "Microsoft.KeyVault/vaults", "Microsoft.Web/sites")


def complaints(resources: list[Resource], *, closed: bool) -> list[str]:
    """`closed`: no address outside may call."""
    return [
        f"{one.file}:{one.line}: {one.type} {text}"
        for one in resources
        for text in (*_promises(one, closed), *_name(one), *_assignment(one))
    ]


def _promises(one: Resource, closed: bool) -> Iterator[str]:
    wanted = dict(PROMISES.get(one.type, {}))
    if one.type in CLOSED:
        wanted["properties.publicNetworkAccess"] = "Disabled" if closed else "Enabled"
    for place, value in wanted.items():
        if (stated := at(one.body, place)) != value:
            yield f"has {stated!r} for {place}, not {value!r}"


def _name(one: Resource) -> Iterator[str]:
    rule = facts.NAMES.get(one.type)
    name = str(one.body.get("name"))
    if rule and not (rule.least <= len(name) <= rule.most and re.fullmatch(rule.pattern, name)):
        yield f"may not be called {name!r}: {rule.least} to {rule.most} characters like {rule.pattern}"


def _assignment(one: Resource) -> Iterator[str]:
    if one.type == "Microsoft.Authorization/roleAssignments" and not at(one.body, "properties.principalType"):
        yield "has no principalType: Azure may not know a new identity yet"


def at(body: Any, place: str) -> Any:
    for name in place.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body
