"""Facts in Azure's documentation that our files rely on."""

from __future__ import annotations

from typing import NamedTuple

# Types with the version of their interface that we speak.
RESOURCES = {
    "Microsoft.Authorization/roleAssignments": "2022-04-01",
    "Microsoft.Insights/components": "2020-02-02",
    "Microsoft.Insights/diagnosticSettings": "2021-05-01-preview",
    "Microsoft.KeyVault/vaults": "2024-11-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2024-11-30",
    "Microsoft.Network/natGateways": "2024-07-01",
    "Microsoft.Network/privateDnsZones": "2024-06-01",
    "Microsoft.Network/privateDnsZones/virtualNetworkLinks": "2024-06-01",
    "Microsoft.Network/privateEndpoints": "2024-07-01",
    "Microsoft.Network/privateEndpoints/privateDnsZoneGroups": "2024-07-01",
    "Microsoft.Network/publicIPAddresses": "2024-07-01",
    "Microsoft.Network/virtualNetworks": "2024-07-01",
    "Microsoft.Network/virtualNetworks/subnets": "2024-07-01",
    "Microsoft.OperationalInsights/workspaces": "2025-02-01",
    "Microsoft.Storage/storageAccounts": "2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices": "2025-01-01",
    "Microsoft.Storage/storageAccounts/blobServices/containers": "2025-01-01",
    "Microsoft.Storage/storageAccounts/queueServices": "2025-01-01",
    "Microsoft.Storage/storageAccounts/queueServices/queues": "2025-01-01",
    "Microsoft.Web/serverfarms": "2024-11-01",
    "Microsoft.Web/sites": "2024-11-01",
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": "2024-11-01",
    "Microsoft.Web/sites/config": "2024-11-01",
}

# https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
ROLES = {
    "tableDataContributor": "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3",
    "queueDataContributor": "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
    "blobDataContributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "blobDataOwner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "secretsUser": "4633458b-17de-408a-b874-0445c86b69e6",
    "secretsOfficer": "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
    "metricsPublisher": "3913510d-42f4-4e42-8a64-420c390055eb",
}


class Naming(NamedTuple):
    least: int
    most: int
    pattern: str


# https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
NAMES = {
    "Microsoft.Storage/storageAccounts": Naming(3, 24, r"[a-z0-9]+"),
    "Microsoft.Storage/storageAccounts/blobServices/containers": Naming(3, 63, r"[a-z0-9](-?[a-z0-9])*"),
    "Microsoft.Storage/storageAccounts/queueServices/queues": Naming(3, 63, r"[a-z0-9](-?[a-z0-9])*"),
    "Microsoft.KeyVault/vaults": Naming(3, 24, r"[A-Za-z](-?[A-Za-z0-9])*"),
    "Microsoft.Web/sites": Naming(2, 60, r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"),
    "Microsoft.Web/serverfarms": Naming(1, 60, r"[A-Za-z0-9-]+"),
    "Microsoft.OperationalInsights/workspaces": Naming(4, 63, r"[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]"),
    "Microsoft.Insights/components": Naming(1, 260, r"[A-Za-z0-9._()-]+"),
    "Microsoft.ManagedIdentity/userAssignedIdentities": Naming(3, 128, r"[A-Za-z0-9][A-Za-z0-9_-]*"),
    "Microsoft.Network/virtualNetworks": Naming(2, 64, r"[A-Za-z0-9][A-Za-z0-9._-]*"),
    "Microsoft.Network/privateEndpoints": Naming(2, 64, r"[A-Za-z0-9][A-Za-z0-9._-]*"),
}

# Functions of the language that our files may call.
FUNCTIONS = {
    "contains", "empty", "environment", "guid", "items", "join", "map", "resourceGroup", "subscriptionResourceId",
    "take", "tenant", "toLower", "union", "uniqueString",
}  # fmt: skip
DECORATORS = {"allowed", "batchSize", "description", "maxLength", "maxValue", "minLength", "minValue", "secure"}
