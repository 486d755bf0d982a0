// Everything a migration needs on Azure, in one resource group: storage, functions, key vault, monitoring, one identity.
// Nothing answers on a public address unless `allowedIpRanges` names who may call.
targetScope = 'resourceGroup'

@description('Begins the name of every resource. Lower-case letters and digits, begins with a letter.')
@minLength(3)
@maxLength(10)
param name string = 'b24migrate'

@description('Region of every resource; it must offer Flex Consumption.')
param location string = resourceGroup().location

@description('Public IPv4 addresses or CIDR ranges that may reach storage, vault and functions from outside the network. Empty: nobody. Storage takes no /31 or /32: write such an address without a suffix.')
param allowedIpRanges array = []

@description('Object id of the person or group that runs the migration (az ad signed-in-user show --query id). Gets the data roles and may write secrets. Empty: nobody.')
param operatorId string = ''

@description('What operatorId is.')
@allowed(['User', 'Group', 'ServicePrincipal'])
param operatorType string = 'User'

@description('Names of the vault secrets with the webhooks of further people of the source portal.')
param moreWebhookSecrets array = []

@description('Further settings of the program by variable, e.g. { B24MIGRATE_SOURCE__TIMEZONE: \'Europe/Moscow\' }. No secrets: they are shown to everybody who may read the app.')
param settings object = {}

@description('Version of Python.')
@allowed(['3.11', '3.12'])
param pythonVersion string = '3.12'

@description('Memory of one instance in MB. The program stays under 200 MB with four jobs under way; CPU comes in proportion.')
@allowed([2048, 4096])
param instanceMemoryMB int = 2048

@description('Upper bound of instances. More of them do not make a migration faster: all share the quota of one portal. Some regions take nothing below 40.')
@minValue(1)
@maxValue(1000)
param maximumInstanceCount int = 40

@description('Copies of the data: in one data centre, or in three zones.')
@allowed(['Standard_LRS', 'Standard_ZRS'])
param storageSku string = 'Standard_LRS'

@description('Sends what leaves the network through one fixed public address, for a box whose firewall lets only known addresses in.')
param fixedOutboundAddress bool = false

@description('Tags of every resource.')
param tags object = { application: 'b24migrate' }

var unique = uniqueString(resourceGroup().id, name)
var accountName = take(toLower('${name}${unique}'), 24)
var vaultName = take('${name}-${unique}', 24)
var appName = '${name}-${unique}'

module identity 'modules/identity.bicep' = {
  name: 'identity'
  params: {
    name: '${name}-identity'
    location: location
    tags: tags
  }
}

module outbound 'modules/outbound.bicep' = if (fixedOutboundAddress) {
  name: 'outbound'
  params: {
    name: '${name}-outbound'
    location: location
    tags: tags
  }
}

module network 'modules/network.bicep' = {
  name: 'network'
  params: {
    name: '${name}-network'
    location: location
    natGatewayId: fixedOutboundAddress ? outbound!.outputs.natGatewayId : ''
    tags: tags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  name: 'monitoring'
  params: {
    name: name
    location: location
    publisherId: identity.outputs.principalId
    tags: tags
  }
}

module storage 'modules/storage.bicep' = {
  name: 'storage'
  params: {
    name: accountName
    location: location
    sku: storageSku
    allowedIpRanges: allowedIpRanges
    tags: tags
  }
}

module storageRoles 'modules/storage-roles.bicep' = {
  name: 'storage-roles'
  params: {
    accountName: storage.outputs.name
    hostContainers: storage.outputs.hostContainers
    dataContainers: storage.outputs.dataContainers
    queueNames: storage.outputs.queueNames
    identityId: identity.outputs.principalId
    operatorId: operatorId
    operatorType: operatorType
  }
}

module vault 'modules/vault.bicep' = {
  name: 'vault'
  params: {
    name: vaultName
    location: location
    allowedIpRanges: allowedIpRanges
    identityId: identity.outputs.principalId
    operatorId: operatorId
    operatorType: operatorType
    workspaceId: monitoring.outputs.workspaceId
    tags: tags
  }
}

// One after another: two at a time in one subnet get into each other's way.
@batchSize(1)
module storageEndpoints 'modules/private-endpoint.bicep' = [
  for service in ['blob', 'queue', 'table']: {
    name: 'endpoint-${service}'
    params: {
      name: '${name}-${service}'
      location: location
      targetId: storage.outputs.id
      service: service
      zoneName: 'privatelink.${service}.${environment().suffixes.storage}'
      networkId: network.outputs.id
      subnetId: network.outputs.endpointSubnetId
      tags: tags
    }
  }
]

module vaultEndpoint 'modules/private-endpoint.bicep' = {
  name: 'endpoint-vault'
  params: {
    name: '${name}-vault'
    location: location
    targetId: vault.outputs.id
    service: 'vault'
    zoneName: 'privatelink.vaultcore.azure.net'
    networkId: network.outputs.id
    subnetId: network.outputs.endpointSubnetId
    tags: tags
  }
  dependsOn: [
    storageEndpoints
  ]
}

module functions 'modules/functions.bicep' = {
  name: 'functions'
  params: {
    name: appName
    location: location
    subnetId: network.outputs.functionSubnetId
    allowedIpRanges: allowedIpRanges
    identityId: identity.outputs.id
    identityClientId: identity.outputs.clientId
    accountName: storage.outputs.name
    queueUrl: storage.outputs.queueUrl
    deploymentContainerUrl: storage.outputs.deploymentContainerUrl
    vaultUri: vault.outputs.uri
    moreWebhookSecrets: moreWebhookSecrets
    insightsName: monitoring.outputs.insightsName
    settings: settings
    pythonVersion: pythonVersion
    instanceMemoryMB: instanceMemoryMB
    maximumInstanceCount: maximumInstanceCount
    tags: tags
  }
  // The app reads its package from storage as soon as it exists.
  dependsOn: [
    storageRoles
    vaultEndpoint
  ]
}

module appEndpoint 'modules/private-endpoint.bicep' = {
  name: 'endpoint-app'
  params: {
    name: '${name}-app'
    location: location
    targetId: functions.outputs.id
    service: 'sites'
    zoneName: 'privatelink.azurewebsites.net'
    networkId: network.outputs.id
    subnetId: network.outputs.endpointSubnetId
    tags: tags
  }
}

@description('Name of the function app.')
output appName string = functions.outputs.name

@description('Address of the functions.')
output appUrl string = functions.outputs.url

@description('Name of the key vault that takes the webhooks.')
output vaultName string = vault.outputs.name

@description('Address of the key vault, for B24MIGRATE_KEY_VAULT on other machines.')
output vaultUri string = vault.outputs.uri

@description('Address of the store, for store.url on other machines.')
output storeUrl string = functions.outputs.storeUrl

@description('Resource id of the identity, to be given to virtual machines and containers that help.')
output identityId string = identity.outputs.id

@description('Client id of the identity, for AZURE_CLIENT_ID on those machines.')
output identityClientId string = identity.outputs.clientId

@description('Subnet for virtual machines that help.')
output workerSubnetId string = network.outputs.workerSubnetId

@description('Public address that the portals see, if it is fixed.')
output outboundAddress string = fixedOutboundAddress ? outbound!.outputs.address : ''
