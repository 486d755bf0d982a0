// Who may do what with the data. Nobody may read or make keys.
@description('Name of the storage account.')
param accountName string

@description('Containers that the functions host owns.')
param hostContainers array

@description('Containers of the migration.')
param dataContainers array

@description('Queues of the migration.')
param queueNames array

@description('Principal of the program.')
param identityId string

@description('Principal of the operator; empty: none.')
param operatorId string

@description('What the operator is.')
param operatorType string

var tableDataContributor = '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
var queueDataContributor = '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
var blobDataOwner = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' existing = {
  name: accountName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' existing = {
  parent: account
  name: 'default'
}

resource ofHost 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [
  for container in hostContainers: {
    parent: blobs
    name: container
  }
]

resource ofData 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' existing = [
  for container in dataContainers: {
    parent: blobs
    name: container
  }
]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' existing = {
  parent: account
  name: 'default'
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' existing = [
  for queue in queueNames: {
    parent: queueService
    name: queue
  }
]

// The functions host is documented to need ownership of the blobs it keeps; it gets it for its own containers only.
resource host 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (container, index) in hostContainers: {
    name: guid(account.id, container, identityId, blobDataOwner)
    scope: ofHost[index]
    properties: {
      principalId: identityId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataOwner)
    }
  }
]

// Tables for the whole account, since the program makes them: a newer version may want more.
resource programTables 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(account.id, identityId, tableDataContributor)
  scope: account
  properties: {
    principalId: identityId
    principalType: 'ServicePrincipal'
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', tableDataContributor)
  }
}

resource programQueues 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (queue, index) in queueNames: {
    name: guid(account.id, queue, identityId, queueDataContributor)
    scope: queues[index]
    properties: {
      principalId: identityId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueDataContributor)
    }
  }
]

resource programBlobs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (container, index) in dataContainers: {
    name: guid(account.id, container, identityId, blobDataContributor)
    scope: ofData[index]
    properties: {
      principalId: identityId
      principalType: 'ServicePrincipal'
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    }
  }
]

resource operatorTables 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(operatorId)) {
  name: guid(account.id, operatorId, tableDataContributor)
  scope: account
  properties: {
    principalId: operatorId
    principalType: operatorType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', tableDataContributor)
  }
}

resource operatorQueues 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (queue, index) in queueNames: if (!empty(operatorId)) {
    name: guid(account.id, queue, operatorId, queueDataContributor)
    scope: queues[index]
    properties: {
      principalId: operatorId
      principalType: operatorType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueDataContributor)
    }
  }
]

resource operatorBlobs 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (container, index) in dataContainers: if (!empty(operatorId)) {
    name: guid(account.id, container, operatorId, blobDataContributor)
    scope: ofData[index]
    properties: {
      principalId: operatorId
      principalType: operatorType
      roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    }
  }
]
