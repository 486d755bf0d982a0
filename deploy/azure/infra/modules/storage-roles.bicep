// Who may do what with the data. Nobody may read or make keys.
@description('Name of the storage account.')
param accountName string

@description('Containers that the functions host owns.')
param hostContainers array

@description('Principal of the program.')
param identityId string

@description('Principal of the operator; empty: none.')
param operatorId string

@description('What the operator is.')
param operatorType string

var roles = {
  tableDataContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
  queueDataContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  blobDataContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
}
var blobDataOwner = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: accountName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: account
  name: 'default'
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [
  for container in hostContainers: {
    parent: blobs
    name: container
  }
]

// On the account, since the program makes its own tables, queues and containers.
resource program 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in items(roles): {
    name: guid(account.id, identityId, role.value)
    scope: account
    properties: {
      principalId: identityId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role.value)
    }
  }
]

// The functions host is documented to need ownership of the blobs it keeps; it gets it for its own containers only.
resource host 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (container, index) in hostContainers: {
    name: guid(account.id, container, identityId, blobDataOwner)
    scope: containers[index]
    properties: {
      principalId: identityId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataOwner)
    }
  }
]

resource operator 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in items(roles): if (!empty(operatorId)) {
    name: guid(account.id, operatorId, role.value)
    scope: account
    properties: {
      principalId: operatorId
      principalType: operatorType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role.value)
    }
  }
]
