// The network in which functions, helpers, storage and vault meet.
@description('Name of the network.')
param name string

@description('Region.')
param location string

@description('Resource id of the gateway for outgoing calls; empty where the platform chooses the address.')
param natGatewayId string

@description('Tags.')
param tags object

var gateway = empty(natGatewayId) ? null : { id: natGatewayId }

resource network 'Microsoft.Network/virtualNetworks@2024-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    addressSpace: {
      addressPrefixes: ['10.24.0.0/22']
    }
    subnets: [
      {
        // Flex Consumption asks for this delegation; the name may have no underscore.
        name: 'functions'
        properties: {
          addressPrefix: '10.24.0.0/24'
          natGateway: gateway
          delegations: [
            {
              name: 'functions'
              properties: {
                serviceName: 'Microsoft.App/environments'
              }
            }
          ]
        }
      }
      {
        name: 'endpoints'
        properties: {
          addressPrefix: '10.24.1.0/26'
          defaultOutboundAccess: false
          privateEndpointNetworkPolicies: 'Disabled'
        }
      }
      {
        name: 'workers'
        properties: {
          addressPrefix: '10.24.2.0/24'
          defaultOutboundAccess: false
          natGateway: gateway
        }
      }
    ]
  }
}

resource functionSubnet 'Microsoft.Network/virtualNetworks/subnets@2024-07-01' existing = {
  parent: network
  name: 'functions'
}

resource endpointSubnet 'Microsoft.Network/virtualNetworks/subnets@2024-07-01' existing = {
  parent: network
  name: 'endpoints'
}

resource workerSubnet 'Microsoft.Network/virtualNetworks/subnets@2024-07-01' existing = {
  parent: network
  name: 'workers'
}

@description('Resource id of the network.')
output id string = network.id

@description('Subnet of the functions.')
output functionSubnetId string = functionSubnet.id

@description('Subnet of the private endpoints.')
output endpointSubnetId string = endpointSubnet.id

@description('Subnet for machines that help.')
output workerSubnetId string = workerSubnet.id
