// Tables, queues and blobs of the migration, and what the functions host keeps for itself.
@description('Name of the account: 3 to 24 lower-case letters and digits.')
@minLength(3)
@maxLength(24)
param name string

@description('Region.')
param location string

@description('Redundancy.')
param sku string

@description('Who may call from outside the network; empty: nobody.')
param allowedIpRanges array

@description('Tags.')
param tags object

var deploymentContainer = 'deployments'
// The host keeps its leases and its function keys in these two.
var hostContainers = [deploymentContainer, 'azure-webjobs-hosts', 'azure-webjobs-secrets']
// Files of the migration, and rows that are too large for a table; the same of a try-out, azure://ACCOUNT/trial.
var dataContainers = ['files', 'payloads', 'trial-files', 'trial-payloads']
var queueNames = ['work', 'work-poison', 'dlq', 'trial-work', 'trial-dlq']

resource account 'Microsoft.Storage/storageAccounts@2025-01-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: {
    name: sku
  }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: empty(allowedIpRanges) ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: 'Deny'
      ipRules: [
        for address in allowedIpRanges: {
          value: address
          action: 'Allow'
        }
      ]
    }
  }
}

// No soft delete: what is deleted after a migration is somebody's mail and shall be gone.
resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-01-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: {
      enabled: false
    }
  }
}

resource containers 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-01-01' = [
  for container in union(hostContainers, dataContainers): {
    parent: blobs
    name: container
    properties: {
      publicAccess: 'None'
    }
  }
]

resource queueService 'Microsoft.Storage/storageAccounts/queueServices@2025-01-01' = {
  parent: account
  name: 'default'
}

// The program may not make any: its roles are given for these.
resource queues 'Microsoft.Storage/storageAccounts/queueServices/queues@2025-01-01' = [
  for queue in queueNames: {
    parent: queueService
    name: queue
  }
]

@description('Resource id.')
output id string = account.id

@description('Name.')
output name string = account.name

@description('Containers of the functions host.')
output hostContainers array = hostContainers

@description('Containers of the migration.')
output dataContainers array = dataContainers

@description('Queues of the migration.')
output queueNames array = queueNames

@description('Where messages are read.')
output queueUrl string = account.properties.primaryEndpoints.queue

@description('Where the package of the functions lies.')
output deploymentContainerUrl string = '${account.properties.primaryEndpoints.blob}${deploymentContainer}'
