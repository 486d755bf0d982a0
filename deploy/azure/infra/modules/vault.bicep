// The webhooks. The program may read them; only the operator may write them.
@description('Name of the vault: 3 to 24 letters, digits and dashes.')
@minLength(3)
@maxLength(24)
param name string

@description('Region.')
param location string

@description('Who may call from outside the network; empty: nobody.')
param allowedIpRanges array

@description('Principal of the program.')
param identityId string

@description('Principal of the operator; empty: none.')
param operatorId string

@description('What the operator is.')
param operatorType string

@description('Workspace that keeps the audit log.')
param workspaceId string

@description('Tags.')
param tags object

var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6'
var secretsOfficer = 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7'

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: tenant().tenantId
    sku: {
      family: 'A'
      name: 'standard'
    }
    enableRbacAuthorization: true
    enableSoftDelete: true
    // The least that Azure allows: nobody can shorten it, and the name is taken for so long.
    softDeleteRetentionInDays: 7
    enablePurgeProtection: true
    publicNetworkAccess: empty(allowedIpRanges) ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: 'Deny'
      ipRules: [
        for address in allowedIpRanges: {
          value: address
        }
      ]
    }
  }
}

// Who read or wrote which secret, when and from where.
resource audit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'audit'
  scope: vault
  properties: {
    workspaceId: workspaceId
    logs: [
      {
        categoryGroup: 'audit'
        enabled: true
      }
    ]
  }
}

resource reading 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, identityId, secretsUser)
  scope: vault
  properties: {
    principalId: identityId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
  }
}

resource writing 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(operatorId)) {
  name: guid(vault.id, operatorId, secretsOfficer)
  scope: vault
  properties: {
    principalId: operatorId
    principalType: operatorType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsOfficer)
  }
}

@description('Resource id.')
output id string = vault.id

@description('Name.')
output name string = vault.name

@description('Address.')
output uri string = vault.properties.vaultUri
